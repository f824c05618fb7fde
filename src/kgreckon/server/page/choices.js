/** What the menus offer: names from the server, and conditions that fit what is asked so far. */

import * as api from "./api.js";
import { count, typedNumber } from "./numerals.js";
import * as trees from "./tree.js";

const known = (choice) => choice.detail ?? (choice.count === undefined ? "" : count(choice.count));

function relationChoice(relation) {
  const words = trees.relationWords(relation);
  return {
    ...relation,
    label: words,
    shortLabel: relation.label,
    shown: words.includes("…") ? words : `${words} …`,
    detail: known(relation),
  };
}

function attributeChoice(attribute) {
  return { ...attribute, detail: attribute.detail ?? `${attribute.units.join(", ")} · ${known(attribute)}` };
}

/** Names of a kind that begin with or contain `text`. Attributes only of a unit in `measuredIn`, where it is given. */
export async function choicesOf(kind, text, measuredIn = null) {
  const { names } = await api.names(kind, text);
  if (kind === "relation") return [{ choices: names.map(relationChoice) }];
  if (kind === "entity") return [{ choices: names }];
  const fitting = names.filter(
    ({ units }) => !measuredIn?.length || !units?.length || units.some((unit) => measuredIn.includes(unit)),
  );
  return [{ choices: fitting.map(attributeChoice) }];
}

function logic(text, any) {
  const all = [
    { label: "any of …", detail: "one of several conditions", make: () => ({ op: "or", parts: [] }) },
    { label: "not …", detail: "exclude things", make: () => ({ op: "not", of: trees.noConditions() }) },
    { label: "is the thing …", detail: "one by its name", make: () => trees.noThing() },
  ];
  if (any)
    all.splice(0, 1, { label: "all of …", detail: "several conditions at once", make: () => trees.noConditions() });
  return all.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}

const makeFollow = (relation) => ({ ...relationChoice(relation), make: () => trees.follow(relation) });

function makeHavingValue(attribute) {
  const make = (comparison) =>
    trees.havingValue(attribute, trees.compare(comparison, trees.noNumber(attribute.units?.[0] ?? null)));
  return { ...attributeChoice(attribute), shown: `${attribute.label} is …`, make };
}

/** The part of a list of conditions that lacks nothing, as the server reads it. */
function answerable(list) {
  const whole = list ? list.parts.filter((part) => trees.lacks(part).length === 0) : [];
  return whole.length ? trees.finished({ op: "and", parts: whole }, typedNumber) : null;
}

const contains =
  (text) =>
  ({ label, phrase, name }) =>
    [label, phrase, name].some((words) => words?.toLowerCase().includes(text.toLowerCase()));
const identity = ({ name, inverse }) => `${inverse}${name}`;
const merged = (one, other) =>
  [...new Map([...other, ...one].map((item) => [identity(item), item])).values()].sort(
    (a, b) => (b.count ?? 0) - (a.count ?? 0),
  );

/** The conditions to add to `list`: what the things asked for so far are known by, then whatever matches the text. */
export async function conditionsFor(list, text, any) {
  const fitting = await api.complete(answerable(list)).catch(() => api.complete(null));
  let { attributes = [] } = fitting;
  // The server says where relations lead from the entities; a condition leads back to them.
  let relations = (fitting.relations ?? []).map((relation) => ({ ...relation, inverse: !relation.inverse }));
  if (text) {
    const [byRelation, byAttribute] = await Promise.all([api.names("relation", text), api.names("attribute", text)]);
    relations = merged(relations.filter(contains(text)), byRelation.names);
    attributes = merged(attributes.filter(contains(text)), byAttribute.names);
  }
  return [
    { title: "Relations", choices: relations.map(makeFollow) },
    { title: "Numbers", choices: attributes.map(makeHavingValue) },
    { title: "Logic", choices: logic(text, any) },
  ];
}
