/** The view of a question: the question on one side, its answers on the other. */

import { addAnswers, clearAnswers, filter, markStale, nextPart, showAnswers, showProblem } from "./answers.js";
import * as api from "./api.js";
import { Builder } from "./builder.js";
import { drawing } from "./drawing.js";
import { element } from "./elements.js";
import { keepQuestion } from "./past.js";
import { go, questionAddress, rename } from "./router.js";
import { Question } from "./question.js";
import { howSure } from "./sureness.js";
import { tabs } from "./tabs.js";
import { isUnfinished, questionLine } from "./words.js";

const FIRST = 20; // answers at first
/** How the answers are looked at: which of them, in which order, beside which further columns. */
const asFirst = () => ({ only: null, order: null, descending: false, above: undefined, columns: [] });
// Beyond the seven of the paper, where the model answers any comparison.
const MORE_COMPARISONS = [
  { name: "x >= y", label: "at least" },
  { name: "x <= y", label: "at most" },
];
const part = (id) => document.getElementById(id);
const questionInAddress = () => new URLSearchParams(location.search).get("q");

/** The address of a question with how its answers are looked at, as far as that is not as at first. */
function addressWith(text, { only, order, descending, above, columns }) {
  const chosen = { only, order, descending: descending ? "true" : null, above: above ?? null };
  return questionAddress(text, { ...chosen, columns: columns.length ? JSON.stringify(columns) : null });
}

/** How an address looks at the answers. */
function lookInAddress() {
  const given = new URLSearchParams(location.search);
  let columns = [];
  try {
    columns = JSON.parse(given.get("columns") ?? "[]").map(String);
  } catch {
    columns = []; // written by hand
  }
  const above = Number(given.get("above") ?? NaN);
  return {
    only: ["observed", "inferred"].find((only) => only === given.get("only")) ?? null,
    order: given.get("order"),
    descending: given.get("descending") === "true",
    above: above >= 0 && above <= 1 ? above : undefined, // inferred answers that are less probable than the server says are shown on demand
    columns,
  };
}

/**
 * Let the address follow the question. A question that was asked stays in the history; one that is being edited is
 * replaced by its next edit; `arriving` is a question that came from the address, which has its place there already.
 */
function remember(text, asked, arriving = false) {
  const address = addressWith(text, look);
  if (address === location.pathname + location.search) {
    if (asked && history.state?.asked !== true) history.replaceState({ ...history.state, asked }, "");
    return;
  }
  const same = text === questionInAddress();
  rename(address, { replace: arriving || same || history.state?.asked === false });
  history.replaceState({ ...history.state, asked }, "");
}

const question = new Question();
const chooseTab = tabs(part("tabs"), (chosen) => {
  part("other-views").hidden = !chosen;
});
const line = questionLine(part("line"), {
  onAsk: () => ask(),
  onEdit: (text) => {
    insisting = false;
    question.editText("words", text);
  },
});
let info = { comparisons: [], units: [], examples: [], has_map: false, limits: {}, unitsOf: new Map() };
let builder = null;
let answered = null; // the question, in words as the server writes them, whose answers are on show
let insisting = false; // whether a line that only ends too early is called wrong
let asking = 0;
let look = asFirst();
let arriving = null; // the turn of the question that came from a link, or back and forward

// ---------------------------------------------------------------------------------------------------- the question

function showQuestion() {
  const { source, texts, problems, lacking } = question;
  for (const name of ["paper", "sparql"]) {
    if (source !== name || part(name).value !== texts[name]) part(name).value = texts[name];
    part(name).setAttribute("aria-invalid", String(Boolean(problems[name])));
    const said = problems[name]?.message ?? "";
    if (part(`${name}-problem`).textContent !== said) part(`${name}-problem`).textContent = said;
    part(`tab-${name}`).classList.toggle("faulty", Boolean(problems[name]));
  }
  if (source !== "words" && question.inStep) line.value = question.canonical;
  if (source === "words") line.value = texts.words;
  line.tell(wordsProblem());
  if (source !== "builder" && builder.draft !== question.draft) builder.show(question.draft);
  const unfinished = source === "builder" && lacking.length > 0;
  const begun = question.draft.tree.op !== "and" || question.draft.tree.parts.length > 0;
  if (!question.pending) part("words").textContent = unfinished && begun ? "Not finished yet." : readAs();
  const lost = question.inStep ? question.onlyInWords : [];
  part("only-in-words").hidden = !lost.length;
  part("only-in-words").textContent = lost.length
    ? `Only in words: ${inList(lost)}. What stands here is the question without ${lost.length > 1 ? "them" : "it"}.`
    : "";
  part("question-problem").replaceChildren(...(problems.builder ? [element("p", {}, problems.builder.message)] : []));
  part("copied").textContent = "";
  if (begun && part("drawing").hidden) part("examples").open = false;
  part("drawing").hidden = !begun;
  if (begun) part("drawing-area").replaceChildren(drawing(question.draft, unfinished ? "" : (question.canonical ?? "")));
  markStale(!question.inStep || question.canonical !== answered);
  if (question.inStep) remember(question.address, question.canonical === answered, arriving === question.turn);
}

const inList = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]);

/** How the server reads what was typed in words, where that is worth saying. */
function readAs() {
  if (!question.inStep || question.source !== "words") return "";
  const plain = (text) => text.toLowerCase().replace(/[\s?.]+/g, " ").trim();
  return plain(question.texts.words) === plain(question.canonical) ? "" : `Read as: ${question.canonical}`;
}

/** What is wrong with the line; while one types, a question that only ends too early is not wrong yet. */
function wordsProblem() {
  const problem = question.problems.words;
  const early = problem?.mistake && isUnfinished(question.texts.words, problem.mistake);
  return early && !insisting ? null : problem;
}

function tellWhatLacks(lacking) {
  chooseTab("tab-builder");
  const lines = [...new Set(lacking.map(({ words }) => words))];
  part("words").textContent = "";
  part("question-problem").replaceChildren(element("p", {}, `Not finished yet: ${lines.join("; ")}.`));
  builder.markLacking(lacking);
}

/** What is wrong with the question stands beside it already: go there. */
function showWrong() {
  part("status").textContent = "";
  if (question.source === "words") {
    insisting = true;
    showQuestion();
    return line.focus();
  }
  chooseTab(`tab-${question.source}`);
  if (question.source !== "builder") part(question.source).focus();
}

// ----------------------------------------------------------------------------------------------------- the answers

/** Look at the answers in another way. */
function change(changes) {
  look = { ...look, ...changes };
  const focused = document.activeElement?.dataset.order;
  ask().then(() => focused && part("answers").querySelector(`[data-order="${CSS.escape(focused)}"]`)?.focus());
}

/** A new question is looked at as at first. */
function lookAfresh() {
  look = asFirst();
  document.querySelector("#only input").checked = true;
}

async function ask() {
  if (question.lacking.length) return tellWhatLacks(question.lacking);
  if (question.source !== "builder" && !question.texts[question.source].trim()) {
    question.problems[question.source] = new api.Problem("wrong", "Write a question first.");
    return showQuestion();
  }
  const turn = ++asking;
  part("results").setAttribute("aria-busy", "true");
  part("answers-problem").replaceChildren();
  part("status").textContent = "Asking …";
  try {
    await question.settled();
    if (turn !== asking) return;
    const problem = question.problems[question.source];
    if (problem?.kind === "wrong") return showWrong();
    insisting = false;
    if (problem) throw problem;
    const version = question.turn;
    if (answered !== null && question.canonical !== answered) lookAfresh();
    const { asked } = question;
    const found = await api.ask(asked, FIRST, look);
    if (turn !== asking) return;
    answered = found.words;
    document.title = `${found.words} · kgreckon`;
    if (version === question.turn) {
      question.canonical = found.words; // unless it was edited while the server thought
      remember(question.address, true);
      keepQuestion(found.words, questionAddress(question.address));
    }
    showAnswers(found, info, look, change);
    part("sureness").replaceChildren(...(found.answers.some(({ observed }) => !observed) ? [howSure(found.calibration)] : []));
    part("more").onclick = () => showMore(asked, found.answers.length);
    markStale(!question.inStep || question.canonical !== answered);
  } catch (problem) {
    if (turn !== asking) return;
    markStale(true);
    showProblem(
      problem instanceof api.Problem ? problem : new api.Problem("broken", `This page failed: ${problem.message}`),
      () => ask(),
    );
    if (!(problem instanceof api.Problem)) throw problem;
  } finally {
    if (turn === asking) part("results").removeAttribute("aria-busy");
  }
}

/** Ask for more answers, and go on at the first new one: the button may be gone. */
async function showMore(asked, offset) {
  const turn = asking;
  part("more").disabled = true;
  try {
    const found = await api.ask(asked, nextPart(), look, offset);
    if (turn !== asking) return;
    const first = addAnswers(found);
    part("more").onclick = () => showMore(asked, offset + found.answers.length);
    first?.querySelector("a, button")?.focus();
  } catch (problem) {
    if (!(problem instanceof api.Problem)) throw problem;
    if (turn === asking) showProblem(problem, () => showMore(asked, offset));
  } finally {
    part("more").disabled = false;
  }
}

/** Take over a question from a link or an example, and ask it where it was asked before. */
async function arrive(text, asked) {
  answered = null;
  look = text ? lookInAddress() : asFirst();
  document.querySelector(`#only input[value="${look.only ?? ""}"]`).checked = true;
  asking += 1; // whatever is still being answered is not waited for any more
  if (part("results").getAttribute("aria-busy")) part("status").textContent = "";
  part("results").removeAttribute("aria-busy");
  if (!text) {
    question.clear();
    builder.show(question.draft);
    part("examples").open = true;
    return clearAnswers();
  }
  part("examples").open = false;
  const reading = question.read(text);
  const { turn } = question;
  arriving = text === questionInAddress() ? turn : null;
  await reading;
  if (turn !== question.turn) return; // another one arrived, or this one is being edited
  if (question.source !== "words" && question.problems[question.source]) chooseTab(`tab-${question.source}`);
  insisting = true;
  if (asked) await ask();
  else showQuestion();
}

// ------------------------------------------------------------------------------------------------------- the start

function showExamples(examples) {
  if (!examples.length) return;
  const buttons = examples.map((words) =>
    element(
      "li",
      {},
      element(
        "button",
        {
          type: "button",
          onclick: () => {
            go(questionAddress(words));
            part("examples").querySelector("summary").focus(); // the button is folded away
          },
        },
        words,
      ),
    ),
  );
  part("examples").replaceChildren(element("summary", {}, "Example questions"), element("ul", {}, buttons));
  part("examples").hidden = false;
  part("examples").open = !questionInAddress();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    part("copied").textContent = "Link copied.";
  } catch {
    part("copied").textContent = "Copy the address of this page.";
  }
}

async function prepare() {
  try {
    info = { ...info, ...(await api.info()) };
    if (info.model.any_comparison) info.comparisons = [...info.comparisons, ...MORE_COMPARISONS];
    const { names } = await api.names("attribute", "", 100);
    info.unitsOf = new Map(names.map(({ name, units }) => [name, units]));
    showExamples(info.examples);
  } catch (problem) {
    showProblem(problem, () => location.reload());
  }
  builder = new Builder(part("builder"), info, (draft) => question.editDraft(draft));
  question.addEventListener("changed", showQuestion);
  for (const name of ["paper", "sparql"]) {
    part(name).addEventListener("input", () => question.editText(name, part(name).value));
    part(name).addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
    });
  }
  part("asking").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  part("only").addEventListener("change", ({ target }) => change({ only: target.value || null }));
  part("filter-text").addEventListener("input", filter);
  part("copy-link").addEventListener("click", copyLink);
  part("clear").addEventListener("click", () => {
    go("/ask");
    line.focus();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address belongs to the question
    part("answers-heading").focus();
  });
}

let prepared = null;

/** Show the question of an address. */
export async function show() {
  prepared ??= prepare();
  const { turn } = question;
  await prepared;
  if (turn !== question.turn) return showQuestion(); // someone began to write in the meantime
  const text = questionInAddress();
  const isAnswered = text && question.canonical && question.canonical === answered;
  if (isAnswered && addressWith(question.address, look) === location.pathname + location.search) return; // on show
  await arrive(text, text !== null && history.state?.asked !== false);
}
