/** What the graph says of one thing, in a dialog, with the numbers that the model predicts for it. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { measured, percent, stated, withUnit } from "./numerals.js";

const dialog = document.getElementById("entity");
const title = document.getElementById("entity-name");
const content = document.getElementById("entity-content");
let opened = 0; // how many times a thing was opened; an answer that comes late is not shown over a newer one
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

function described(found) {
  return [
    found.label === found.name ? null : element("p", { class: "quiet" }, found.name),
    table(
      "Values",
      ["attribute", "value"],
      found.values.map((each) => [each.label, stated(each)]),
    ),
    table(
      "Predicted values: the graph does not state them",
      ["attribute", "estimate", "90 % interval", "chance that there is one"],
      (found.predicted ?? []).map(({ label, estimate, low, high, unit, chance }) => [
        label,
        withUnit(estimate, unit),
        `${measured(low, unit)} – ${measured(high, unit)}`,
        percent(chance),
      ]),
    ),
    found.facts.length ? element("h3", {}, "Facts") : null,
    factList(found.label, found.facts),
    found.facts.length >= 100 ? element("p", { class: "quiet" }, "Only the first 100 facts are shown.") : null,
  ].filter(Boolean);
}

/** Show the thing of this name. What is open stays until it is there, and with it the focus; then its name has it. */
export async function showEntity(name) {
  const turn = ++opened;
  if (!dialog.open) {
    content.replaceChildren();
    dialog.showModal();
  }
  title.textContent = "…";
  dialog.setAttribute("aria-busy", "true");
  let shown;
  try {
    const found = await api.entity(name);
    shown = [found.label, described(found)];
  } catch (problem) {
    shown = [name, [element("p", { class: "problem", role: "alert" }, problem.message)]];
  }
  if (turn !== opened) return;
  dialog.removeAttribute("aria-busy");
  title.textContent = shown[0];
  content.replaceChildren(...shown[1]);
  dialog.scrollTop = 0;
  title.focus({ preventScroll: true });
}
