/** Reasons: why something is an answer, in a sentence, drawn, and step by step, opened in place when someone asks. */

import * as api from "./api.js";
import { element, spoken } from "./elements.js";
import { grounds } from "./grounds.js";
import { percent } from "./numerals.js";

let reasonsMade = 0;

/** A statement of a reason as text: what it says, how that is known, and how probable it is. */
function statementText({ text, how, probability }) {
  if (how === null) return text;
  return `${text} (${how}${probability === null ? "" : `, ${percent(probability)}`})`;
}

/** Statements as items; what stands below one is a list of its own. */
function items(statements) {
  return statements.map((statement) =>
    element(
      "li",
      {},
      statementText(statement),
      statement.below.length > 0 && element("ul", {}, items(statement.below)),
    ),
  );
}

function shownReason({ sentence, statements }, answer) {
  const steps = element("ul", { class: "steps" }, items(statements));
  if (!statements.length) return [element("p", {}, sentence || "The model gives no reason for this answer.")];
  const drawing = grounds(statements, answer.label);
  if (!sentence) return [drawing, steps].filter(Boolean);
  const isLong = statements.length > 1 || statements.some(({ below }) => below.length);
  return [
    element("p", { class: "why-sentence" }, sentence),
    drawing,
    isLong && element("details", {}, element("summary", {}, "Step by step"), steps),
  ].filter(Boolean);
}

/** A button that asks why `answer` (its name, label, and value and unit of a number) is one to `query`, and what it opens. */
export function reasonsOf(query, answer) {
  const area = element("div", { class: "reasons", id: `reasons-${++reasonsMade}`, hidden: true });
  const button = element(
    "button",
    {
      type: "button",
      class: "why",
      "aria-expanded": "false",
    },
    "Why?",
    spoken(` ${answer.label}`),
  );
  button.addEventListener("click", async () => {
    area.hidden = !area.hidden;
    button.setAttribute("aria-expanded", String(!area.hidden));
    button.setAttribute("aria-controls", area.id); // which is in the page from now on
    if (area.hidden || area.dataset.read) return;
    area.replaceChildren(element("p", { class: "quiet" }, "looking …"));
    try {
      const { reason } = await api.explain(query, answer);
      area.replaceChildren(...shownReason(reason, answer));
      area.dataset.read = "yes";
    } catch (problem) {
      area.replaceChildren(element("p", { class: "problem", role: "alert" }, problem.message));
    }
  });
  return [button, area];
}
