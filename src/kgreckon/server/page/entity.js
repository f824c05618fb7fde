/** What the graph says of one thing, in a dialog, with the numbers that the model predicts for it. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { measured, percent, withUnit } from "./numerals.js";

const dialog = document.getElementById("entity");
const title = document.getElementById("entity-name");
const content = document.getElementById("entity-content");
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

function table(caption, heads, rows) {
  if (!rows.length) return null;
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        heads.map((head) => element("th", { scope: "col" }, head)),
      ),
    ),
    element(
      "tbody",
      {},
      rows.map(([first, ...rest]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, first),
          rest.map((cell) => element("td", {}, cell)),
        ),
      ),
    ),
  );
}

/** Facts with the same relation and direction, together. */
function grouped(facts) {
  const groups = new Map();
  for (const fact of facts) {
    const key = JSON.stringify([fact.relation, fact.inverse]);
    if (!groups.has(key)) groups.set(key, { ...fact, entities: [] });
    groups.get(key).entities.push(fact.entity);
  }
  return [...groups.values()];
}

function factList(name, facts) {
  return element(
    "dl",
    {},
    grouped(facts).flatMap(({ label, phrase, inverse, entities }) => [
      element("dt", {}, inverse ? `… ${phrase ?? label} ${name}` : (phrase ?? label)),
      element(
        "dd",
        {},
        entities.map((other) =>
          element("button", { type: "button", class: "name", onclick: () => showEntity(other.name) }, other.label),
        ),
      ),
    ]),
  );
}

/** Show the thing of this name. */
export async function showEntity(name) {
  if (!dialog.open) dialog.showModal();
  title.textContent = "…";
  content.replaceChildren();
  try {
    const found = await api.entity(name);
    const predicted = found.predicted ?? [];
    title.textContent = found.label;
    dialog.scrollTop = 0;
    content.replaceChildren(
      ...[
        found.label === found.name ? null : element("p", { class: "quiet" }, found.name),
        table(
          "Values",
          ["attribute", "value"],
          found.values.map(({ label, value, unit }) => [label, withUnit(value, unit)]),
        ),
        table(
          "Predicted values: the graph does not state them",
          ["attribute", "estimate", "90 % interval", "chance that there is one"],
          predicted.map(({ label, estimate, low, high, unit, chance }) => [
            label,
            withUnit(estimate, unit),
            `${measured(low, unit)} – ${measured(high, unit)}`,
            percent(chance),
          ]),
        ),
        found.facts.length ? element("h3", {}, "Facts") : null,
        factList(found.label, found.facts),
        found.facts.length >= 100 ? element("p", { class: "quiet" }, "Only the first 100 facts are shown.") : null,
      ].filter(Boolean),
    );
  } catch (problem) {
    title.textContent = name;
    content.replaceChildren(element("p", { class: "problem", role: "alert" }, problem.message));
  }
}
