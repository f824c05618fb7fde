/** The page of a kind of things: how many there are, and of how many of them what is known. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { histogram } from "./histogram.js";
import { linkTo } from "./lists.js";
import { count, stated } from "./numerals.js";
import { PAGE, asks, columns, coverage, growing, head, section } from "./parts.js";

function spread({ attribute, label, distribution, smallest, largest }) {
  const end = (word, { entity, value }) =>
    element("span", {}, `${word} `, linkTo("thing", entity), ` ${stated(value)}`);
  return element(
    "li",
    { class: "card" },
    histogram({ ...distribution, label: linkTo("attribute", { name: attribute, label }) }),
    element("p", { class: "ends" }, end("smallest", smallest), end("largest", largest)),
  );
}

/** A relation as it is known of a thing: `speaks`; where it leads to the thing, `something is the capital of it`. */
function relationOf({ relation, label, phrase, inverse }) {
  const link = (words) => linkTo("relation", { name: relation, label: words });
  return inverse ? ["something ", link(phrase ?? label), " it"] : link(label);
}

const unique = (rows) => [...new Map(rows.map((row) => [row.key, row])).values()];

/** The view: its title and its content. */
export async function show({ name }) {
  const kind = await api.kind(name);
  const more = async (offset) =>
    (await api.facts({ name: kind.name, relation: kind.relation, inverse: true, offset, limit: PAGE })).things;
  const known = [
    ...kind.attributes.map(({ attribute, label, count: part }) => ({
      key: `attribute ${attribute}`,
      label: linkTo("attribute", { name: attribute, label }),
      part,
      whole: kind.count,
    })),
    ...kind.relations.map(({ relation, label, phrase, inverse, count: part }) => ({
      key: `relation ${relation} ${inverse}`,
      label: relationOf({ relation, label, phrase, inverse }),
      part,
      whole: kind.count,
    })),
  ].sort((one, other) => other.part - one.part);
  return {
    title: kind.label,
    content: [
      head("Kind of things", kind.label, asks(kind.query, `${count(kind.count)} ${kind.words}`)),
      columns(
        [
          section(
            "How its numbers are spread",
            kind.attributes.length
              ? element("ul", { class: "cards wide" }, kind.attributes.map(spread))
              : null,
          ),
        ],
        [
          section("The most connected", growing(kind.things, kind.count, more)),
          section("How much is known", [
            element("p", { class: "quiet" }, "Of how many of them the graph states it."),
            coverage(unique(known)),
          ]),
        ],
      ),
    ],
  };
}
