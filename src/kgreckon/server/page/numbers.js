/** The menus of a set of numbers: one number, the attribute of things, a comparison, or several of these together. */

import { element } from "./elements.js";
import * as trees from "./tree.js";

const FORMULA = "formula";
const KINDS = [
  ["number", "the number"],
  ["value_of", "the value of"],
  ["compare", "a number that is"],
  ["and", "all of these"],
  ["or", "any of these"],
  ["not", "any number except"],
];

const word = (text) => element("span", { class: "word" }, text);

/** What comes after `whose ATTRIBUTE is`: a comparison, or `exactly`, and a set of numbers. */
export function boundEditor(builder, node, replace, attribute) {
  const comparison = node.op === "compare" ? node : null;
  const [of, replaceOf] = comparison
    ? [
        node.of,
        (other) => {
          node.of = other;
        },
      ]
    : [node, replace];
  const chosen = comparisonControls(builder, comparison, of, replace);
  return [...chosen, ...numbersEditor(builder, of, replaceOf, builder.unitsOf(attribute), attribute)];
}

/** The controls of a set of numbers, measured in `units` where they are known and compared with an `attribute`. */
export function numbersEditor(builder, node, replace, units, attribute = null) {
  const kind = builder.select(
    "Which numbers",
    KINDS,
    node.op,
    (wanted) => {
      const other = turned(builder, node, wanted, units, attribute);
      builder.edit(() => replace(other), other, "kind");
    },
    builder.key(node, "kind"),
  );
  return [kind, ...content(builder, node, units)];
}

/** Another kind of set in the place of `node`: what was there before, or a new one around it, or a new one. */
function turned(builder, node, wanted, units, attribute) {
  const before = node.before ?? new Map();
  before.set(node.op, node);
  const other = before.get(wanted) ?? made(builder, wanted, node, units, attribute);
  other.before = before; // nothing is lost when the choice comes back
  return other;
}

function made(builder, kind, around, units, attribute) {
  if (kind === "number") return trees.noNumber(units[0] ?? null);
  if (kind === "value_of") return trees.valueOf(attribute ? { name: attribute.attribute, ...attribute } : {});
  if (kind === "compare") return trees.compare(builder.usualComparison, around);
  return kind === "not" ? { op: "not", of: around } : { op: kind, parts: around.parts ?? [around] };
}

function content(builder, node, units) {
  const inner = (of) => {
    node.of = of;
  };
  switch (node.op) {
    case "number":
      return [numberField(builder, node), unitField(builder, node, units)];
    case "value_of":
      return [builder.attribute(node, units), word("of"), ...builder.things(node.of, inner)];
    case "compare":
      return [...comparisonControls(builder, node, node.of), ...numbersEditor(builder, node.of, inner, units)];
    case "not":
      return numbersEditor(builder, node.of, inner, units);
    default:
      return [partsEditor(builder, node, units)];
  }
}

function partsEditor(builder, node, units) {
  const replacing = (place) => (other) => {
    node.parts[place] = other;
  };
  const add = element(
    "button",
    {
      type: "button",
      class: "plain",
      "data-key": builder.key(node, "add"),
      onclick: () => {
        const added = trees.compare(builder.usualComparison, trees.noNumber(units[0] ?? null));
        builder.edit(() => node.parts.push(added), added, "comparison");
      },
    },
    "+ number",
  );
  return builder.list(
    node,
    node.op === "or",
    "number",
    (part, place) => numbersEditor(builder, part, replacing(place), units),
    add,
  );
}

/** The comparison of `node`, or `exactly` where there is none; whatever is chosen keeps what it compares with. */
function comparisonControls(builder, node, of, replace = null) {
  const { comparisons } = builder.info;
  const named = comparisons.find(({ name }) => name === node?.comparison);
  const byFormula = node && (node.byFormula || !named);
  const options = [
    ...comparisons.map(({ name, label }) => [name, label]),
    ...(replace ? [["", "exactly"]] : []),
    [FORMULA, "by a formula …"],
  ];
  const select = builder.select(
    "Comparison",
    options,
    byFormula ? FORMULA : (node?.comparison ?? ""),
    (wanted) => {
      if (wanted === "") return builder.edit(() => replace(of), of, "comparison");
      const chosen = node ?? trees.compare(builder.usualComparison, of);
      if (wanted === FORMULA) Object.assign(chosen, { comparison: "x > 2y + 3", label: "x > 2y + 3", byFormula: true });
      else
        Object.assign(chosen, {
          comparison: wanted,
          label: comparisons.find(({ name }) => name === wanted).label,
          byFormula: false,
        });
      builder.edit(
        () => {
          if (!node) replace(chosen);
        },
        chosen,
        wanted === FORMULA ? "formula" : "comparison",
      );
    },
    builder.key(node ?? of, "comparison"),
  );
  return byFormula ? [select, formulaField(builder, node)] : [select];
}

function formulaField(builder, node) {
  return builder.field(
    "Formula: x is the number looked for, y what it is compared with",
    node.comparison,
    "formula",
    builder.key(node, "formula"),
    (text) => Object.assign(node, { comparison: text, label: text }),
  );
}

function numberField(builder, node) {
  const field = builder.field(
    "Number",
    node.text,
    node.text ? "number" : "number open",
    builder.key(node, "text"),
    (text) => {
      node.text = text;
      field.classList.toggle("open", text === "");
    },
  );
  field.placeholder = "number";
  field.inputMode = "decimal";
  return field;
}

function unitField(builder, node, units) {
  const all = units.length ? units : builder.info.units;
  if (units.length && !units.includes(node.unit)) [node.unit] = units; // another attribute was chosen
  node.unit ??= all[0] ?? null;
  if (units.length === 1) return element("span", { class: "unit" }, node.unit);
  const choose = (unit) =>
    builder.edit(
      () => {
        node.unit = unit;
      },
      node,
      "unit",
    );
  return builder.select(
    "Unit",
    all.map((unit) => [unit, unit]),
    node.unit,
    choose,
    builder.key(node, "unit"),
  );
}
