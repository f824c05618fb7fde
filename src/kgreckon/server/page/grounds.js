/** The facts of a reason, drawn: from the answer on the left, along what is stated or predicted, to what it rests on. */

import { drawn, element } from "./elements.js";

const MOST = 12; // facts; more are read better than seen
const ROW = 44;
const BOX = 30;
const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, font) {
  pen.font = font;
  return Math.ceil(pen.measureText(text).width);
}

const clipped = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);

/** The different facts of statements and of what stands below them. */
function factsOf(statements) {
  const found = new Map();
  const visit = ({ subject, predicate, object, how, below }) => {
    if (subject !== null && object !== null) {
      found.set(JSON.stringify([subject, predicate, object]), { subject, predicate, object, how });
    }
    below.forEach(visit);
  };
  statements.forEach(visit);
  return [...found.values()];
}

/** How many facts each thing is away from the start; whatever is not linked to it stands beside it. */
function depthsOf(facts, start) {
  const depths = new Map([[start, 0]]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { subject, object } of facts) {
      for (const [known, other] of [[subject, object], [object, subject]]) {
        if (!depths.has(known) || depths.has(other)) continue;
        depths.set(other, depths.get(known) + 1);
        changed = true;
      }
    }
  }
  for (const { subject, object } of facts) {
    if (!depths.has(subject)) depths.set(subject, 0);
    if (!depths.has(object)) depths.set(object, depths.get(subject) + 1);
  }
  return depths;
}

/** A drawing of the facts of some statements around `start`; null where there is nothing to see in it. */
export function grounds(statements, start) {
  const facts = factsOf(statements);
  if (!facts.length || facts.length > MOST) return null;
  const named = new Set(facts.flatMap(({ subject, object }) => [subject, object]));
  const depths = depthsOf(facts, named.has(start) ? start : facts[0].subject);
  if (!named.has(start)) depths.delete(start);
  const columns = [];
  for (const [name, depth] of depths) (columns[depth] ??= []).push(name);
  const rows = Math.max(...columns.map((column) => column.length));
  const nodes = new Map();
  let left = 4;
  columns.forEach((column, depth) => {
    const width = Math.max(...column.map((name) => widthOf(clipped(name), "14px system-ui, sans-serif"))) + 24;
    column.forEach((name, place) => {
      const y = ((place + 0.5) * rows * ROW) / column.length + 6;
      nodes.set(name, { x: left, y, width, depth });
    });
    const leaving = facts.filter(({ subject, object }) => Math.min(depths.get(subject), depths.get(object)) === depth);
    const labels = leaving.map(({ predicate }) => widthOf(clipped(predicate), "12.5px system-ui, sans-serif"));
    left += width + Math.max(70, ...labels.map((one) => one + 48));
  });
  const width = Math.max(...[...nodes.values()].map((node) => node.x + node.width)) + 6;
  const height = rows * ROW + 12;
  const words = facts.map(({ subject, predicate, object }) => `${subject}: ${predicate} ${object}`).join("; ");
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  svg.append(...facts.flatMap((fact) => factShapes(fact, nodes)));
  for (const [name, node] of nodes) svg.append(...boxOf(name, node, name === start));
  return element("div", { class: "grounds scroll", tabindex: 0, role: "group", "aria-label": "The facts of the reason, drawn" }, svg);
}

function factShapes({ subject, predicate, object, how }, nodes) {
  const [one, other] = [nodes.get(subject), nodes.get(object)];
  const forward = one.depth <= other.depth;
  const [from, to] = forward ? [one, other] : [other, one]; // from left to right
  const [start, end] = [from.x + from.width, to.depth === from.depth ? to.x + to.width : to.x];
  const bend = to.depth === from.depth ? 26 : -(end - start) / 2;
  const path =
    to.depth === from.depth
      ? `M${start} ${from.y}C${start + bend} ${from.y} ${end + bend} ${to.y} ${end} ${to.y}`
      : `M${start} ${from.y}C${start - bend} ${from.y} ${end + bend} ${to.y} ${end} ${to.y}`;
  const [tip, y, direction] = forward ? [end, to.y, to.depth === from.depth ? -1 : 1] : [start, from.y, -1];
  const back = tip - 7 * direction;
  return [
    drawn("path", { class: how === "observed" ? "edge" : "edge likely", d: path }),
    drawn("path", { class: "tip", d: `M${tip} ${y}L${back} ${y - 3.6}L${back} ${y + 3.6}Z` }),
    drawn(
      "text",
      { class: "label", x: end - 14, y: to.y + (to.y > from.y ? 17 : -7), "text-anchor": "end" },
      clipped(predicate),
    ),
  ];
}

function boxOf(name, { x, y, width }, isStart) {
  return [
    drawn("rect", { class: isStart ? "box start" : "box", x, y: y - BOX / 2, width, height: BOX, rx: 8 }),
    drawn("text", { class: isStart ? "target-text" : "", x: x + width / 2, y: y + 5, "text-anchor": "middle" }, clipped(name)),
  ];
}
