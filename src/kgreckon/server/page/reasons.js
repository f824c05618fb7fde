/** Reasons: why something is an answer, opened in place when someone asks. */

import * as api from "./api.js";
import { element, spoken } from "./elements.js";
import { significant } from "./numerals.js";

let reasonsMade = 0;

/** A statement of a reason as text: what it says, how that is known, and how probable it is. */
function statementText({ text, how, probability }) {
  if (how === null) return text;
  return `${text} (${how}${probability === null ? "" : `, ${significant(probability)}`})`;
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

/** A button that asks why `answer` (its name, label, and value and unit of a number) is one to `query`, and the list it opens. */
export function reasonsOf(query, answer) {
  const list = element("ul", { class: "reasons", id: `reasons-${++reasonsMade}`, hidden: true });
  const button = element(
    "button",
    {
      type: "button",
      class: "why",
      "aria-expanded": "false",
      "aria-controls": list.id,
    },
    "Why?",
    spoken(` ${answer.label}`),
  );
  button.addEventListener("click", async () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden || list.dataset.read) return;
    list.replaceChildren(element("li", { class: "quiet" }, "looking …"));
    try {
      const { reason } = await api.explain(query, answer);
      const none = element("li", {}, "The model gives no reason for this answer.");
      list.replaceChildren(...(reason.statements.length ? items(reason.statements) : [none]));
      list.dataset.read = "yes";
    } catch (problem) {
      list.replaceChildren(element("li", { class: "problem", role: "alert" }, problem.message));
    }
  });
  return [button, list];
}
