/** The answers: what the graph proves and what is likely, as a table, one number, or an estimate. */

import * as api from "./api.js";
import { combobox } from "./combobox.js";
import { element } from "./elements.js";
import { figures } from "./figures.js";
import { histogram } from "./histogram.js";
import { count, counted, measured, percent, rough, withUnit } from "./numerals.js";
import { questionAddress } from "./router.js";
import { AnswerTable } from "./table.js";

const part = (id) => document.getElementById(id);
let table = null;
let shown = null; // what the server found, with the answers of all parts that were asked for

const time = (seconds) => `(${Math.max(1, Math.round(1000 * seconds))} ms)`;

/** How many answers there are and how sure they are, in a sentence; nothing that rests on absence is called proved. */
function summary({ observed, count: all, rests_on_absence, seconds }, isExact, only) {
  const proves = rests_on_absence ? "By what is stated there" : "The graph proves";
  const are = rests_on_absence ? (observed === 1 ? " is" : " are") : "";
  const known = `${proves}${are} ${observed ? counted(observed, "answer") : "no answer"}`;
  if (all < observed && only !== "inferred") return `${known}; the first ${count(all)} are asked for ${time(seconds)}.`;
  const inferred = only === "inferred" ? all : all - observed;
  if (only === "observed" || isExact || (!inferred && observed)) return `${known} ${time(seconds)}.`;
  if (!inferred) return `${known}, and none is likely ${time(seconds)}.`;
  const others = `${observed ? "other" : "answer"}${inferred === 1 ? " is" : "s are"}`;
  return `${known}; ${count(inferred)} ${others} inferred ${time(seconds)}.`;
}

/** Where the numbers lie that the graph does not prove: one, if there is one, or several. */
function estimateCard({ value, low, high, unit, expected, coverage }) {
  const interval = `between ${measured(low, unit)} and ${measured(high, unit)}`;
  const one = expected <= 1;
  const heading = one ? `about ${withUnit(value, unit)}` : `some ${Math.round(expected)} more`;
  const chance = expected < 1 ? `if there is one that is not stated (${percent(expected)}); ` : "";
  const spread = `half of them below ${withUnit(value, unit)}, ${Math.round(100 * coverage)} % ${interval}`;
  return element(
    "p",
    { class: "estimate" },
    element("strong", {}, heading),
    element("span", { class: "badge" }, "inferred"),
    element(
      "span",
      { class: "quiet" },
      one ? `${chance}${interval} with a chance of ${Math.round(100 * coverage)} %` : spread,
    ),
  );
}

/** What a total is by what is stated, with what it was computed from. */
function statedTotal({ kind, attribute, value, unit, counted: of, without }, restsOnAbsence) {
  const basis = restsOnAbsence ? "by what is stated" : "proved by the graph";
  if (kind === "whether") return value ? ["Yes", basis] : ["No", "as far as is stated"];
  if (kind === "count") return [count(value), basis];
  if (value === null) return ["unknown", kind === "value" ? "not all of its numbers are stated" : "no value is stated"];
  const isMean = kind === "mean" || kind === "median";
  const left = without ? `; ${count(without)} without a stated ${attribute} left out` : "";
  const from = kind === "value" ? "by what is stated" : `of ${counted(of, "stated value")}${left}`;
  return [isMean ? withUnitOf(rough(value, unit, 6), unit) : withUnit(value, unit), from];
}

/** What to expect of a total with all that is inferred: a heading, and where it lies. */
function expectedTotal({ kind, value, unit, expected }) {
  if (!expected || (kind === "whether" && value)) return null;
  if (kind === "whether") return [`${percent(expected.value)} likely`, ""];
  const { low, high, coverage, chance } = expected;
  if (low === high && low === value) return ["The same", ""];
  const shown = (number) => (kind === "count" ? count(Math.round(number)) : rough(number, unit));
  const ends = `between ${shown(low)} and ${withUnitOf(shown(high), unit)} in ${percent(coverage)} of cases`;
  return [`about ${shown(expected.value)}`, chance < 1 ? `${ends}, if there is one (${percent(chance)})` : ends];
}

/** One number about all answers: of what is stated, and with what is inferred, with its interval. */
function totalCard({ words, paper, total, rests_on_absence }) {
  const [known, basis] = statedTotal(total, rests_on_absence);
  const expected = expectedTotal(total);
  const badge = (text) => element("span", { class: "badge" }, text);
  const isOfMany = !["value", "whether"].includes(total.kind);
  const them = total.kind === "count" ? "Show them" : "Show whose values they are";
  return element(
    "div",
    { class: "total" },
    element("p", { class: "sort" }, words),
    element("p", { class: "amount" }, element("strong", {}, known), " ", badge(basis)),
    expected &&
      element(
        "p",
        { class: "inferred" },
        element("strong", {}, expected[0]),
        " ",
        badge("with what is inferred"),
        element("span", { class: "quiet" }, ` ${expected[1]}`),
      ),
    isOfMany && element("p", {}, element("a", { href: questionAddress(paper) }, them)),
  );
}

const withUnitOf = (text, unit) => withUnit(0, unit).replace("0", text);

/** Put what was found in place of what was shown. `look` is how it is looked at; `change(changes)` asks for another. */
export function showAnswers(found, info, look, change) {
  const isExact = info.model.calibration === "certain";
  shown = found;
  markStale(false);
  part("answers-problem").replaceChildren();
  part("status").textContent = found.total ? "" : summary(found, isExact, look.only);
  part("tools").hidden = false;
  part("only").hidden = isExact || found.total !== null;
  part("estimate").replaceChildren(...(found.estimate ? [estimateCard(found.estimate)] : []));
  part("total").replaceChildren(...(found.total ? [totalCard(found)] : []));
  part("notes").replaceChildren(...notesOf(found, change));
  for (const id of ["filter", "column", "downloads"]) part(id).hidden = !found.answers.length && id !== "downloads";
  for (const link of part("downloads").querySelectorAll("a")) link.href = api.tableAddress(found.words, look, link.dataset.format);
  part("column").replaceChildren(...columnChooser(found, look, change));
  part("filter-text").value = "";
  table = found.answers.length ? new AnswerTable(found, info, look, change) : null;
  part("answers").replaceChildren(...(table ? [table.node] : []));
  showPart();
}

/** Add the next part of the answers; returns the row that comes first of them. */
export function addAnswers(found) {
  const places = { ...shown.places, ...found.places };
  shown = { ...shown, places, answers: [...shown.answers, ...found.answers] };
  const first = table.add(found.answers);
  showPart();
  return first;
}

function showPart() {
  const left = shown.count - shown.answers.length;
  part("more").hidden = left <= 0 || !shown.answers.length;
  part("more").textContent = left > nextPart() ? `Show ${nextPart()} more of ${count(left)}` : `Show ${left} more`;
  filter();
  const histograms = shown.distributions.map((one) => histogram(one, one.answers ? shown.estimate : null));
  part("distributions").replaceChildren(...histograms);
  figures(shown, part("charts"));
}

/** How many answers the next press of the button adds: the more, the more there are already. */
export const nextPart = () => Math.min(500, Math.max(100, shown.answers.length));

/** What should be known of the answers: what was left out, with a way to see it. */
function notesOf({ notes, unlikely }, change) {
  return notes.map((note) => {
    const isUnlikely = unlikely && note.includes("left out");
    const text = `${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
    const see = isUnlikely && element("button", { type: "button", onclick: () => change({ above: 0 }) }, "Show them");
    return element("p", {}, text, " ", see);
  });
}

/** A field for one more attribute beside the answers. */
function columnChooser({ sort, paper, columns }, look, change) {
  if (sort === "numbers") return [];
  const chosen = new Set(columns.map(({ name }) => name));
  const find = async (text) => {
    const { attributes } = await api.complete(paper);
    const fits = ({ name, label }) => !chosen.has(name) && label.toLowerCase().includes(text.toLowerCase());
    const choices = attributes.filter(fits).map((one) => ({ ...one, detail: count(one.count) }));
    return [{ title: "Numbers", choices }];
  };
  const choose = ({ name }) => change({ columns: [...look.columns, name] });
  return [combobox({ label: "Add a column", placeholder: "+ column", className: "adding", find, choose })];
}

/** Show only the rows that contain what is typed. */
export function filter() {
  const text = part("filter-text").value.trim().toLowerCase();
  const rows = table ? table.filter(text) : 0;
  const some = shown && shown.answers.length < shown.count ? " shown" : "";
  part("filtered").textContent = text && shown ? `${count(rows)} of ${counted(shown.answers.length, "row")}${some}` : "";
}

/** Take all answers away. */
export function clearAnswers() {
  table = shown = null;
  for (const id of ["answers", "answers-problem", "estimate", "total", "notes", "distributions", "charts"]) part(id).replaceChildren();
  part("status").textContent = "What the graph proves, and what is likely, will be here.";
  part("more").hidden = true;
  part("tools").hidden = true;
  markStale(false);
}

/** Say that the answers on show are those of an earlier question. */
export function markStale(stale) {
  const earlier = stale && shown !== null;
  part("results").classList.toggle("stale", earlier);
  part("stale").hidden = !earlier;
}

/** Say what went wrong, with a way to try again. */
export function showProblem(problem, retry) {
  part("status").textContent = "";
  const wait = problem.kind === "busy" && problem.seconds ? ` Try again in ${problem.seconds} s.` : "";
  const again = problem.kind === "wrong" ? null : element("button", { type: "button", onclick: retry }, "Try again");
  part("answers-problem").replaceChildren(...[element("p", {}, problem.message + wait), again].filter(Boolean));
}
