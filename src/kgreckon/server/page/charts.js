/** Charts of answers that lead to their things: a scatter plot of two numbers, a timeline of dates, bars. */

import { drawAtWidth, drawn, element } from "./elements.js";
import { ticksOf } from "./histogram.js";
import { barList } from "./lists.js";
import { isCalendar, short, unitOf } from "./numerals.js";
import { markOf } from "./map.js";
import { placed } from "./viewport.js";

const LEFT = 58; // room for the numbers of the axes
const BELOW = 44;
const EDGE = 14;
const DOT = 4.5;
const SKEWED = 100; // largest by smallest value, from which on a logarithmic axis is clearer
const LETTERS = 24;
const NAMED = 60; // points up to which there is room for names

const cut = (text, most = LETTERS) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** From values to places between `from` and `to`, with ticks. */
function axisOf(values, unit, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const log = low > 0 && high / low > SKEWED && !isCalendar(unit);
  const bend = log ? Math.log10 : (value) => value / 2; // halves, since a difference may overflow
  const [first, last] = [bend(low), bend(high)];
  const at = (value) => (last > first ? from + ((bend(value) - first) / (last - first)) * (to - from) : (from + to) / 2);
  const room = to > from ? to - from : 2 * (from - to); // numbers stand closer above each other than side by side
  const ticks = ticksOf({ edges: [low, (low + high) / 2, high], unit, log }, room);
  return { at, log, ticks: ticks.filter((tick) => tick >= low && tick <= high) };
}

/** What is measured, and how: `population (persons, logarithmic)`. */
function titleOf({ label, unit }, { log }) {
  const about = [unitOf(unit).trim(), log && "logarithmic"].filter(Boolean).join(", ");
  return cut(about ? `${label} (${about})` : label, LETTERS * 2);
}

function horizontal(axis, measure, width, bottom) {
  return [
    drawn("path", { class: "axis", d: `M${LEFT} ${bottom}H${width - EDGE}` }),
    ...axis.ticks.map((tick) => drawn("text", { class: "tick", x: axis.at(tick), y: bottom + 17, "text-anchor": "middle" }, short(tick, measure.unit))),
    drawn("text", { class: "axis-title", x: width - EDGE, y: bottom + 36, "text-anchor": "end" }, titleOf(measure, axis)),
  ];
}

function vertical(axis, measure, width) {
  return [
    ...axis.ticks.map((tick) => drawn("path", { class: "grid", d: `M${LEFT} ${axis.at(tick)}H${width - EDGE}` })),
    ...axis.ticks.map((tick) => drawn("text", { class: "tick", x: LEFT - 8, y: axis.at(tick) + 4, "text-anchor": "end" }, short(tick, measure.unit))),
    drawn("text", { class: "axis-title", x: 2, y: 12 }, titleOf(measure, axis)),
  ];
}

/** Points as links with names, where these fit, and the name of the one under the pointer or in focus. */
function marks(points, width, height) {
  const tip = drawn("text", { class: "tip", "aria-hidden": "true" });
  const sides = points.length <= NAMED ? placed(points.map(({ x, y, label }) => ({ x, y, letters: cut(label).length })), width, height) : [];
  const links = points.map(({ x, y, label, said, href, observed }, place) => {
    const show = () => {
      const right = x > width / 2;
      tip.textContent = cut(label);
      for (const [name, value] of [["x", right ? x - 9 : x + 9], ["y", y - 9], ["text-anchor", right ? "end" : "start"]])
        tip.setAttribute(name, value);
    };
    const hide = () => (tip.textContent = "");
    return drawn(
      "a",
      { class: "place", href, "aria-label": said, transform: `translate(${x} ${y})`, onfocus: show, onblur: hide, onpointerenter: show, onpointerleave: hide },
      drawn("title", {}, said),
      drawn("circle", { class: "reach", r: 10 }),
      markOf({ observed }, DOT),
      sides[place] &&
        drawn("text", { class: "name-on-map", x: sides[place] === "before" ? -9 : 9, y: 4.5, "text-anchor": sides[place] === "before" ? "end" : "start" }, cut(label)),
    );
  });
  return [...links.reverse(), tip];
}

function chart(kind, title, about, draw) {
  const area = element("div", { class: "chart-area" });
  drawAtWidth(area, draw);
  return element("figure", { class: `chart ${kind}` }, element("figcaption", {}, element("strong", {}, title), about && element("span", {}, about)), area);
}

const canvas = (width, height, title, ...parts) =>
  drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title }, ...parts);

/** Points `{label, said, href, observed, x, y}` by two measures `{label, unit}`. */
export function scatter(points, x, y) {
  const title = `${y.label} by ${x.label}`;
  return chart("scatter", title, null, (width) => {
    const height = Math.round(Math.min(420, Math.max(260, width * 0.6)));
    const bottom = height - BELOW;
    const across = axisOf(points.map((point) => point.x), x.unit, LEFT + EDGE, width - 2 * EDGE);
    const up = axisOf(points.map((point) => point.y), y.unit, bottom - EDGE, 30);
    const places = points.map((point) => ({ ...point, x: across.at(point.x), y: up.at(point.y) }));
    return canvas(width, height, title, vertical(up, y, width), horizontal(across, x, width, bottom), marks(places, width, bottom));
  });
}

/** Points `{label, said, href, observed, x}` along a measure of dates: those of the same time stand on each other. */
export function timeline(points, measure) {
  return chart("timeline", measure.label, null, (width) => {
    const across = axisOf(points.map(({ x }) => x), measure.unit, LEFT, width - 2 * EDGE);
    const stacks = new Map();
    const places = points.map((point) => {
      const column = Math.round(across.at(point.x) / (2 * DOT + 1));
      const level = stacks.get(column) ?? 0;
      stacks.set(column, level + 1);
      return { ...point, x: column * (2 * DOT + 1), level };
    });
    const step = Math.min(18, 260 / Math.max(...stacks.values()));
    const bottom = 40 + step * Math.max(3, ...stacks.values());
    const stacked = places.map((point) => ({ ...point, y: bottom - 12 - point.level * step }));
    return canvas(width, bottom + BELOW, measure.label, horizontal(across, measure, width, bottom), marks(stacked, width, bottom));
  });
}

/** Bars `{label, amount, text}` below each other, the label a text or a node. */
export function bars(title, about, rows) {
  return element("figure", { class: "chart bar-chart" }, element("figcaption", {}, element("strong", {}, title), about && element("span", {}, about)), barList(rows));
}
