/** A line for a question in words: completions as one types, and a mistake shown at its place. */

import * as api from "./api.js";
import { combobox } from "./combobox.js";
import { element } from "./elements.js";
import { count } from "./numerals.js";

const TITLES = {
  class: "Kinds of things",
  entity: "Things",
  attribute: "Numbers",
  relation: "Relations",
  verb: "Relations",
  unit: "Units",
  keyword: "Words",
};
let lines = 0;

const known = ({ kind, count: many, detail }) => detail || (many === null || kind === "entity" ? "" : count(many));

/** What can come next where the caret stands, in groups. */
async function completionsOf(text, caret) {
  const before = text.slice(0, caret);
  const after = text.slice(caret);
  if (after && !/^\s/.test(after)) return []; // in the middle of a word
  const { proposals } = await api.propose(before);
  const groups = new Map();
  for (const proposal of proposals) {
    const title = TITLES[proposal.kind];
    const kept = [...before].slice(0, proposal.start).join(""); // the server counts characters, not UTF-16
    const completed = `${kept}${proposal.text}${after ? "" : " "}`;
    const choice = {
      label: completed + after,
      shown: proposal.text,
      detail: known(proposal),
      caret: completed.length,
    };
    groups.set(title, [...(groups.get(title) ?? []), choice]);
  }
  return [...groups].map(([title, choices]) => ({ title, choices }));
}

/** A mistake in a text: the text with the place marked, what is wrong, and what may be meant, each a button. */
function explained(text, mistake, replace) {
  const characters = [...text];
  const end = mistake.start + [...mistake.word].length;
  const before = characters.slice(0, mistake.start).join("");
  const wrong = characters.slice(mistake.start, end).join("");
  const after = characters.slice(end).join("");
  const marked = element("mark", { class: wrong ? "" : "gap" }, wrong || "…");
  const remedies = mistake.suggestions.map((name) =>
    element("button", { type: "button", onclick: () => replace(`${before}${name}${after}`) }, name),
  );
  return [
    element("p", {}, mistake.message.charAt(0).toUpperCase() + mistake.message.slice(1), "."),
    element("p", { class: "quoted" }, before, marked, after),
    remedies.length ? element("p", { class: "remedies" }, "Did you mean ", remedies, "?") : null,
  ].filter(Boolean);
}

/** Whether a mistake is only that the text ends, or that its last word is not finished. */
export function isUnfinished(text, mistake) {
  return mistake.start + [...mistake.word].length >= [...text.trimEnd()].length;
}

/**
 * Put a line for a question into `area`. `onAsk(text)` is called on Enter and by its button, `onEdit(text)` whenever it
 * is edited. Returns the line: its `value` can be read and written, `focus()` goes there, and `tell(problem)` shows
 * what is wrong with it, or nothing any more.
 */
export function questionLine(area, { onAsk, onEdit = () => {}, placeholder = "cities in Japan", label = "Your question in words" }) {
  const said = element("div", { class: "problem", id: `line-problem-${++lines}`, role: "alert" });
  const box = combobox({
    label,
    placeholder,
    className: "line",
    find: completionsOf,
    choose: () => edited(),
    entered: (text) => onAsk(text),
  });
  const input = box.querySelector("input");
  input.setAttribute("aria-describedby", said.id);

  function edited() {
    tell(null);
    onEdit(input.value);
  }

  function tell(problem) {
    input.setAttribute("aria-invalid", String(Boolean(problem)));
    const mistake = problem?.mistake;
    const replace = (text) => {
      input.value = text;
      input.focus();
      edited();
    };
    if (!problem) said.replaceChildren();
    else if (mistake) said.replaceChildren(...explained(input.value, mistake, replace));
    else said.replaceChildren(element("p", {}, problem.message));
  }

  input.addEventListener("input", edited);
  const button = element("button", { type: "button", class: "primary", onclick: () => onAsk(input.value) }, "Ask");
  area.replaceChildren(element("div", { class: "question-line" }, box, button), said);
  return {
    get value() {
      return input.value;
    },
    set value(text) {
      if (input.value !== text) input.value = text;
    },
    focus: () => input.focus(),
    tell,
    button,
  };
}
