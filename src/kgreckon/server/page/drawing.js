/** The question drawn as a graph: what is known on the left, what is looked for on the right. */

import { drawn } from "./elements.js";
import { simplified } from "./tree.js";

const ROW = 46;
const SMALLEST = 0.72; // a wide drawing shrinks so far, then it scrolls
const BEND = 34; // where an edge turns towards the node it leads to
const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, font) {
  pen.font = font;
  return Math.ceil(pen.measureText(text).width);
}

const SMALL = "12.5px system-ui, sans-serif";
const PLAIN = "14px system-ui, sans-serif";
const clipped = (text) => (text.length > 34 ? `${text.slice(0, 32)}…` : text);

function anchorOf(node) {
  if (node.op === "entity")
    return { kind: "entity", text: node.label || node.name || node.typed || "?", open: node.name === null };
  const unit = node.unit && node.unit !== "number" ? ` ${node.unit}` : "";
  return {
    kind: "number",
    text: node.text || node.value !== undefined ? `${node.text ?? node.value}${unit}` : "?",
    open: node.text === "",
  };
}

/** The nodes and labelled edges of a tree: `{kind, text, edges: [{label, back, from}]}`. */
function graphOf(node) {
  switch (node.op) {
    case "entity":
    case "number":
      return { ...anchorOf(node), edges: [] };
    case "follow":
      return {
        kind: "entities",
        edges: [{ label: node.phrase || node.label || "?", back: node.inverse, from: graphOf(node.of) }],
      };
    case "value_of":
      return { kind: "numbers", edges: [{ label: node.label || "?", from: graphOf(node.of) }] };
    case "having_value":
      return { kind: "entities", edges: [{ label: node.label || "?", back: true, from: graphOf(node.of) }] };
    case "compare":
      return {
        kind: "numbers",
        edges: [{ label: node.label || node.comparison, comparison: true, from: graphOf(node.of) }],
      };
    case "not":
      return { kind: "logic", text: "not", edges: [edgeFrom(node.of)] };
    default: {
      const edges = node.parts.map(edgeFrom);
      return edges.length ? { kind: "logic", text: node.op, edges } : { kind: "entity", text: "?", open: true, edges };
    }
  }
}

/** The edge of one part of an intersection, union or negation: a step leads there at once, other sets by a plain edge. */
function edgeFrom(part) {
  const graph = graphOf(part);
  return graph.edges.length === 1 && graph.kind !== "logic" ? graph.edges[0] : { label: "", from: graph };
}

/** Give every node its depth and its row; returns the number of rows. */
function place(node, depth = 0, row = 0) {
  node.depth = depth;
  let next = row;
  for (const edge of node.edges) next = place(edge.from, depth + 1, next);
  if (!node.edges.length) next = row + 1;
  const rows = node.edges.map((edge) => edge.from.y);
  node.y = rows.length ? (rows[0] + rows.at(-1)) / 2 : row * ROW + ROW / 2 + 6;
  return next;
}

const all = (node) => [node, ...node.edges.flatMap((edge) => all(edge.from))];

/** Give every node its x, each column as wide as its longest label; returns the width of the drawing. */
function spread(root) {
  const nodes = all(root);
  const gaps = [];
  for (const node of nodes) {
    for (const edge of node.edges) {
      const label = edge.label ? widthOf(clipped(edge.label), SMALL) + 26 : 14;
      gaps[node.depth] = Math.max(gaps[node.depth] ?? 0, label + BEND + (edge.from.kind === "logic" ? 16 : 0));
    }
  }
  const from = (depth) => gaps.slice(0, depth).reduce((sum, gap) => sum + gap, 0);
  for (const node of nodes) {
    node.width = node.edges.length ? 0 : widthOf(clipped(node.text), PLAIN) + 22;
    node.x = -from(node.depth);
  }
  const left = Math.min(...nodes.map((node) => node.x - node.width));
  for (const node of nodes) node.x += 8 - left;
  return 8 - left + 26;
}

function edgeShapes(edge, to) {
  const { from } = edge;
  const [start, end] = [
    from.x + (from.kind === "logic" ? 17 : from.edges.length ? 6 : 0),
    to.x - (to.kind === "logic" ? 18 : 8),
  ];
  const bend = Math.max(start + 4, end - BEND);
  const path =
    from.y === to.y
      ? `M${start} ${from.y}H${end}`
      : `M${start} ${from.y}H${bend}C${bend + BEND * 0.6} ${from.y} ${end - BEND * 0.6} ${to.y} ${end} ${to.y}`;
  const tip = edge.back ? arrow(start, from.y, -1) : arrow(end, to.y, 1);
  const text =
    edge.label &&
    drawn(
      "text",
      {
        class: edge.comparison ? "label comparison" : "label",
        x: (start + bend) / 2 + 2,
        y: from.y - 7,
        "text-anchor": "middle",
      },
      clipped(edge.label),
    );
  return [drawn("path", { class: "edge", d: path }), tip, text];
}

function arrow(x, y, direction) {
  const back = x - 7 * direction;
  return drawn("path", { class: "tip", d: `M${x} ${y}L${back} ${y - 3.6}L${back} ${y + 3.6}Z` });
}

function nodeShapes(node, isTarget) {
  const { x, y } = node;
  if (node.kind === "logic") {
    return [
      drawn("rect", { class: "logic", x: x - 17, y: y - 11, width: 34, height: 22, rx: 11 }),
      drawn("text", { class: "label", x, y: y + 4, "text-anchor": "middle" }, node.text),
    ];
  }
  if (!node.edges.length && node.text) {
    const style = `anchor ${node.kind}${node.open ? " open" : ""}`;
    return [
      drawn("rect", {
        class: style,
        x: x - node.width,
        y: y - 14,
        width: node.width,
        height: 28,
        rx: node.kind === "number" ? 3 : 14,
      }),
      drawn(
        "text",
        { class: "anchor-text", x: x - node.width / 2, y: y + 5, "text-anchor": "middle" },
        clipped(node.text),
      ),
    ];
  }
  const style = isTarget ? "point target" : "point";
  const size = isTarget ? 8 : 5;
  const shape =
    node.kind === "numbers"
      ? drawn("rect", { class: style, x: x - size, y: y - size, width: 2 * size, height: 2 * size })
      : drawn("circle", { class: style, cx: x, cy: y, r: size });
  return isTarget
    ? [shape, drawn("text", { class: "target-text", x: x, y: y + 4, "text-anchor": "middle" }, "?")]
    : [shape];
}

/** An SVG of a draft; `words` says the same to those who cannot see it. */
export function drawing(draft, words) {
  let root = graphOf(simplified(draft.tree));
  if (root.kind === "logic" || !root.edges.length) root = { kind: draft.sort, edges: [{ label: "", from: root }] };
  const rows = place(root);
  const width = spread(root);
  const nodes = all(root);
  const height = rows * ROW + 8;
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    role: "img",
    "aria-label": words || "an unfinished question",
  });
  svg.style.minWidth = `${Math.round(width * SMALLEST)}px`;
  svg.append(...nodes.flatMap((node) => node.edges.flatMap((edge) => edgeShapes(edge, node))).filter(Boolean));
  svg.append(...nodes.flatMap((node) => nodeShapes(node, node === root)));
  return svg;
}
