/** The page of a relation: what it leads from and to, how often, and how well its missing facts are found. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { barList, linkTo } from "./lists.js";
import { count, counted, percent } from "./numerals.js";
import { PAGE, columns, coverage, growing, head, reportLink, section } from "./parts.js";

const kinds = (rows) =>
  rows.length
    ? coverage(rows.map(({ entity, count: part, of }) => ({ label: linkTo("kind", entity), part, whole: of })))
    : null;

/** The ends that have the most facts, as bars, and the others on demand. */
function ends(relation, { inverse, count: total, ends: first }) {
  if (!first.length) return null;
  const even = first[0].count === 1; // then bars say nothing
  const more = async (offset) => (await api.ends({ relation, inverse, offset, limit: PAGE })).ends;
  if (even) return growing(first, total, more, ({ entity }) => linkTo("thing", entity));
  const bars = first.map(({ entity, count: amount }) => ({
    label: linkTo("thing", entity),
    amount,
    text: count(amount),
  }));
  const others = growing([], total - first.length, (offset) => more(first.length + offset), ({ entity, count: amount }) => [
    linkTo("thing", entity),
    element("span", { class: "quiet" }, ` ${count(amount)}`),
  ]);
  return [barList(bars), ...(total > first.length ? others : [])];
}

/** What the quality report of a run says of the relation, in words. */
function found({ tested, mrr, hits_at_10, candidates, stated, true: right }) {
  if (!tested) return element("p", {}, "No fact of it was hidden from the model: nothing is known of how well it infers.");
  return [
    element(
      "p",
      {},
      `${counted(tested, "fact")} ${tested === 1 ? "was" : "were"} hidden and looked for from both ends: the right answer was among the ten best in ${percent(hits_at_10 / 100)} of cases (mean reciprocal rank ${(mrr / 100).toFixed(2)}).`,
    ),
    candidates > 0 &&
      element(
        "p",
        {},
        `Of ${counted(candidates, "inferred fact")}, ${stated < 10 ? stated.toFixed(1) : count(Math.round(stated))} should be true by their probabilities, and ${count(right)} ${right === 1 ? "is" : "are"}.`,
      ),
    element("p", {}, tested < 10 && "That is too few to judge by. ", reportLink()),
  ];
}

/** The view: its title and its content. */
export async function show({ name }) {
  const relation = await api.relation(name);
  const { facts, heads, tails, label, phrase, quality } = relation;
  const words = phrase ?? label;
  return {
    title: label,
    content: [
      head(
        "Relation",
        label,
        `“x ${words} y”: ${counted(facts, "fact")}, from ${counted(heads.count, "thing")} to ${counted(tails.count, "thing")}.`,
      ),
      columns(
        [
          section("What it leads to most often", ends(relation.name, tails)),
          section(heads.ends[0]?.count > 1 ? "What it leads from most often" : "What it leads from", ends(relation.name, heads)),
        ],
        [
          quality && section("How well it is inferred", found(quality), { class: "quality" }),
          section("Kinds it leads from", kinds(relation.head_kinds)),
          section("Kinds it leads to", kinds(relation.tail_kinds)),
        ],
      ),
    ],
  };
}
