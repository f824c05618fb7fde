/** The view of one thing: what the graph says of it, and the numbers that the model predicts for it. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { linkTo } from "./lists.js";
import { count, measured, percent, stated, withUnit } from "./numerals.js";

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

function factList(name, facts) {
  return element(
    "dl",
    {},
    facts.flatMap(({ label, phrase, inverse, things, count: total }) => [
      element("dt", {}, inverse ? `… ${phrase ?? label} ${name}` : (phrase ?? label)),
      element(
        "dd",
        {},
        things.map((other) => linkTo("thing", other)),
        total > things.length ? element("span", { class: "quiet" }, `and ${count(total - things.length)} more`) : null,
      ),
    ]),
  );
}

function described(found, missing) {
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
      missing.values.map(({ label, estimate, low, high, unit, chance }) => [
        label,
        withUnit(estimate, unit),
        `${measured(low, unit)} – ${measured(high, unit)}`,
        percent(chance),
      ]),
    ),
    found.facts.length ? element("h3", {}, "Facts") : null,
    factList(found.label, found.facts),
  ].filter(Boolean);
}

/** The view: its title and its content. */
export async function show({ name }) {
  const [found, missing] = await Promise.all([api.entity(name), api.missing(name)]);
  return { title: found.label, content: [element("h1", { tabindex: -1 }, found.label), ...described(found, missing)] };
}
