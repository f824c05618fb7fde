/** The view of one thing: what the graph says of it, and the numbers that the model predicts for it. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { linkTo } from "./lists.js";
import { measured, percent, stated, withUnit } from "./numerals.js";

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
          linkTo("thing", other),
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

/** The view: its title and its content. */
export async function show({ name }) {
  const found = await api.entity(name);
  return { title: found.label, content: [element("h1", { tabindex: -1 }, found.label), ...described(found)] };
}
