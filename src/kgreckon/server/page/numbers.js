/** The menus of a set of numbers: one number, the attribute of things, a comparison, or several of these together. */

import { element } from "./elements.js";
import * as trees from "./tree.js";

const FORMULA = "a formula";
const KINDS = [
  ["number", "the number"], ["value_of", "the value of"], ["compare", "a number that is"],
  ["and", "all of these"], ["or", "any of these"], ["not", "any number except"],
];

const word = (text) => element("span", { class: "word" }, text);

function made(kind, units, info) {
  const usual = info.comparisons.find(({ name }) => name === "GreaterThan") ?? info.comparisons[0];
  if (kind === "number") return trees.noNumber(units[0] ?? null);
  if (kind === "value_of") return trees.valueOf();
  if (kind === "compare") return trees.compare(usual, trees.noNumber(units[0] ?? null));
  return kind === "not" ? { op: "not", of: trees.noNumber(units[0] ?? null) } : { op: kind, parts: [trees.noNumber(units[0] ?? null)] };
}

/** The controls of a set of numbers, measured in `units` where that is known. `owner` is the having_value it belongs to. */
export function numbersEditor(builder, node, replace, units, owner = null) {
  const bound = owner !== null;
  if (bound && node.op === "compare") return comparisonEditor(builder, node, replace, units, owner);
  const kind = builder.select("Which numbers", KINDS.filter(([name]) => !(bound && name === "compare")), node.op, (wanted) => {
    const other = made(wanted, units, builder.info);
    if (other.parts && node.parts) other.parts = node.parts;
    else if (other.parts) other.parts = [node];
    else if (wanted === "not" || wanted === "compare") other.of = node;
    if (wanted === "value_of" && owner?.attribute) Object.assign(other, { attribute: owner.attribute, label: owner.label, units: owner.units });
    builder.edit(() => replace(other), other, "kind");
  }, builder.key(node, "kind"));
  const exactly = bound ? comparisonSelect(builder, null, node, replace, units) : null;
  return [exactly, kind, ...content(builder, node, units, owner)];
}

function content(builder, node, units, owner) {
  const inner = (of) => { node.of = of; };
  switch (node.op) {
    case "number":
      return [numberField(builder, node), unitField(builder, node, units)];
    case "value_of":
      return [builder.attribute(node, units), word("of"), ...builder.things(node.of, inner)];
    case "compare":
      return [comparisonSelect(builder, node, node.of, null, units), ...[numbersEditor(builder, node.of, inner, units)].flat()];
    case "not":
      return [numbersEditor(builder, node.of, inner, units)].flat();
    default:
      return [partsEditor(builder, node, units, owner)];
  }
}

function partsEditor(builder, node, units) {
  const items = node.parts.map((part, place) => {
    const replace = (other) => { node.parts[place] = other; };
    const remove = element("button", {
      type: "button", class: "remove", "aria-label": "Remove this number", title: "Remove this number",
      onclick: () => builder.edit(() => node.parts.splice(place, 1), node, "add"),
    }, "✕");
    const joint = place === 0 ? null : element("span", { class: "word joint" }, node.op);
    return element("li", {}, joint, element("div", { class: "condition" }, [numbersEditor(builder, part, replace, units)].flat()), remove);
  });
  const add = element("button", {
    type: "button", "data-key": builder.key(node, "add"),
    onclick: () => {
      const added = made("compare", units, builder.info);
      builder.edit(() => node.parts.push(added), added, "kind");
    },
  }, "add a number …");
  return element("ul", { class: "conditions", "aria-label": KINDS.find(([name]) => name === node.op)[1] }, items, element("li", { class: "add" }, add));
}

/** `is [greater than] [a number]`: the comparison, then what is compared with. */
function comparisonEditor(builder, node, replace, units, owner) {
  const kind = builder.select("Compared with", KINDS.filter(([name]) => name !== "compare"), node.of.op, (wanted) => {
    const other = made(wanted, units, builder.info);
    if (other.parts) other.parts = node.of.parts ?? [node.of];
    else if (wanted === "not") other.of = node.of;
    if (wanted === "value_of" && owner?.attribute) Object.assign(other, { attribute: owner.attribute, label: owner.label, units: owner.units });
    builder.edit(() => { node.of = other; }, other, wanted === "value_of" && !owner?.attribute ? "attribute" : "kind");
  }, builder.key(node.of, "kind"));
  if (node.of.op === "compare") { // a comparison of compared numbers: shown as it is, block in block
    return [comparisonSelect(builder, node, node.of, replace, units), ...[numbersEditor(builder, node.of, (of) => { node.of = of; }, units)].flat()];
  }
  return [comparisonSelect(builder, node, node.of, replace, units), kind, ...content(builder, node.of, units, owner)];
}

/** The comparison of `node`, or `exactly` where there is none; changing it keeps what is compared with. */
function comparisonSelect(builder, node, of, replace, units) {
  const { comparisons } = builder.info;
  const known = node && comparisons.some(({ name }) => name === node.comparison) && !node.formula;
  const options = comparisons.map(({ name, label }) => [name, label]);
  if (replace) options.push(["", "exactly"]);
  options.push([FORMULA, "by a formula …"]);
  const holder = node ?? of;
  const select = builder.select("Comparison", options, node ? (known ? node.comparison : FORMULA) : "", (wanted) => {
    if (wanted === "") return builder.edit(() => replace(of), of, "comparison");
    const label = comparisons.find(({ name }) => name === wanted)?.label ?? "x > 2y + 3";
    const chosen = node ?? trees.compare({ name: wanted, label }, of);
    Object.assign(chosen, { comparison: wanted === FORMULA ? node?.comparison?.includes("y") ? node.comparison : "x > 2y" : wanted, label, formula: wanted === FORMULA });
    if (wanted === FORMULA) chosen.label = chosen.comparison;
    builder.edit(() => { if (!node) replace(chosen); }, chosen, wanted === FORMULA ? "formula" : "comparison");
  }, builder.key(holder, "comparison"));
  if (!node || known) return select;
  const field = element("input", {
    type: "text", class: "formula", "aria-label": "Formula: x is the number looked for, y what it is compared with",
    value: node.comparison, spellcheck: "false", autocomplete: "off", size: 12, "data-key": builder.key(node, "formula"),
    oninput: () => { Object.assign(node, { comparison: field.value, label: field.value }); builder.touched(); },
  });
  return element("span", { class: "pair" }, select, field);
}

function numberField(builder, node) {
  const field = element("input", {
    type: "text", inputmode: "decimal", class: node.text ? "number" : "number open", "aria-label": "Number", value: node.text, placeholder: "number",
    autocomplete: "off", size: Math.max(8, node.text.length), "data-key": builder.key(node, "text"),
    oninput: () => {
      node.text = field.value;
      field.classList.toggle("open", field.value === "");
      field.removeAttribute("aria-invalid");
      builder.touched();
    },
  });
  return field;
}

function unitField(builder, node, units) {
  const all = units.length ? units : builder.info.units;
  if (node.unit === null && all.length) [node.unit] = all;
  if (all.length === 1 && all[0] === node.unit) return element("span", { class: "unit" }, node.unit);
  return builder.select("Unit", all.map((unit) => [unit, unit]), node.unit, (unit) => builder.edit(() => { node.unit = unit; }, node, "unit"),
    builder.key(node, "unit"));
}
