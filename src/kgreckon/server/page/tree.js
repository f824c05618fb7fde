/**
 * Questions as trees of plain objects, as the server writes them, and drafts of them.
 *
 * A draft is such a tree while it is being built: names and numbers may be missing, and a set of things is either one
 * entity or an `and` of conditions, however few. `finished` turns a draft back into the server's tree.
 */

export const noThing = () => ({ op: "entity", name: null, label: "" });
export const noNumber = (unit = null) => ({ op: "number", text: "", unit });
export const noConditions = () => ({ op: "and", parts: [] });

export const follow = ({ name, label, phrase, inverse }, of = noThing()) => ({
  op: "follow",
  relation: name,
  label,
  phrase,
  inverse: Boolean(inverse),
  of,
});
export const havingValue = ({ name, label, units }, of) => ({ op: "having_value", attribute: name, label, units, of });
export const valueOf = ({ name = null, label = "", units = [] } = {}, of = noThing()) => ({
  op: "value_of",
  attribute: name,
  label,
  units,
  of,
});
export const compare = ({ name, label }, of) => ({ op: "compare", comparison: name, label, of });

/** Whether a node of the server's tree denotes things or numbers. */
export function sortOf(node) {
  if (node.op === "and" || node.op === "or") return node.parts.length ? sortOf(node.parts[0]) : "entities";
  if (node.op === "not") return sortOf(node.of);
  return ["number", "value_of", "compare"].includes(node.op) ? "numbers" : "entities";
}

/** The draft of a whole question. */
export function draftOf(tree) {
  const sort = sortOf(tree);
  return { sort, tree: sort === "entities" ? thingsDraft(tree) : numbersDraft(tree) };
}

function thingsDraft(tree) {
  if (tree.op === "entity") return { ...tree };
  return { op: "and", parts: (tree.op === "and" ? tree.parts : [tree]).map(conditionDraft) };
}

function conditionDraft(tree) {
  if (tree.op === "follow" || tree.op === "not") return { ...tree, of: thingsDraft(tree.of) };
  if (tree.op === "having_value") return { ...tree, of: numbersDraft(tree.of) };
  if (tree.parts) return { ...tree, parts: tree.parts.map(conditionDraft) };
  return { ...tree };
}

function numbersDraft(tree) {
  if (tree.op === "number") return { ...tree, text: writtenNumber(tree) };
  if (tree.op === "value_of") return { ...tree, of: thingsDraft(tree.of) };
  if (tree.parts) return { ...tree, parts: tree.parts.map(numbersDraft) };
  return { ...tree, of: numbersDraft(tree.of) };
}

/** A number as it is typed, a date as a date; its unit stands beside it. */
function writtenNumber({ value, label, unit }) {
  if (!label) return String(value);
  return unit && label.endsWith(` ${unit}`) ? label.slice(0, -unit.length - 1) : label;
}

const SIZE = String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`;
const FORMULA = new RegExp(
  String.raw`^x\s*(<=|>=|!=|<|>|=)\s*((-?${SIZE}|-)\s*)?([*·]\s*)?y(\s*[-+]\s*${SIZE})?(\s+within\s+${SIZE})?$`,
);

/** What a draft still lacks, in order: `{node, part, words}`, `part` naming the control that would give it. */
export function lacks(node, sort = "entities") {
  const own = (part, words) => [{ node, part, words }];
  const typed = node.typed ? `“${node.typed}” is not chosen from the list` : null;
  switch (node.op) {
    case "entity":
      return node.name === null ? own("name", typed ?? "choose a thing") : [];
    case "number":
      return node.text.trim() === "" ? own("text", "write a number") : [];
    case "follow":
      return [...(node.relation === null ? own("relation", typed ?? "choose a relation") : []), ...lacks(node.of)];
    case "value_of":
    case "having_value": {
      const missing = node.attribute === null ? own("attribute", typed ?? "choose an attribute") : [];
      return [...missing, ...lacks(node.of, node.op === "value_of" ? "entities" : "numbers")];
    }
    case "compare": {
      const readable = !/[^A-Za-z]/.test(node.comparison)
        ? node.comparison !== ""
        : FORMULA.test(node.comparison.trim());
      const missing = readable ? [] : own("formula", `“${node.comparison}” is not a formula such as x > 2y + 3`);
      return [...missing, ...lacks(node.of, "numbers")];
    }
    case "not":
      return lacks(node.of, sort);
    default: {
      const missing =
        node.parts.length && !typed
          ? []
          : own("add", typed ?? (sort === "entities" ? "add a condition" : "add a number"));
      return [...missing, ...node.parts.flatMap((part) => lacks(part, sort))];
    }
  }
}

/** The draft as a tree, an `and` of one part being that part. */
export function simplified(node) {
  if (node.parts) {
    if (node.op === "and" && node.parts.length === 1) return simplified(node.parts[0]);
    return { ...node, parts: node.parts.map(simplified) };
  }
  return node.of ? { ...node, of: simplified(node.of) } : node;
}

const SAID = ["op", "name", "relation", "inverse", "attribute", "comparison", "value", "unit"];

/** The server's tree of a draft that lacks nothing. */
export function finished(draft, readNumber) {
  const strip = (node) => {
    const plain = Object.fromEntries(SAID.filter((key) => key in node).map((key) => [key, node[key]]));
    if (node.op === "number") plain.value = readNumber(node.text);
    if (node.of) plain.of = strip(node.of);
    if (node.parts) plain.parts = node.parts.map(strip);
    return plain;
  };
  return strip(simplified(draft));
}

/** How a relation reads as a condition: `is in`, `is what … speaks`, `has place of birth`, `is the place of birth of`. */
export function relationWords({ label, phrase, inverse }) {
  if (phrase) return inverse ? phrase : `is what … ${phrase}`;
  return inverse ? `has ${label}` : `is the ${label} of`;
}
