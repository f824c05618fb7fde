/** The figures of some answers: what is drawn is chosen by what the answers are. */

import * as api from "./api.js";
import { bars, scatter, timeline } from "./charts.js";
import { element } from "./elements.js";
import { histogram } from "./histogram.js";
import { linkTo } from "./lists.js";
import { mapKey, worldMap } from "./map.js";
import { count, counted, isCalendar, measured, unitOf, withUnit } from "./numerals.js";
import { addressOf } from "./router.js";

const ENOUGH = 3; // answers with a number, below which a chart says less than the table
const BARS = 20;
const BINS = 24;
const WHERE = /^(has)?[^a-z]*(lat|latitude|lon|long|lng|longitude|distance)\b/i; // which the map shows

/** Draw the answers of `/api/ask` that are on show into `area`, or nothing where there is nothing to draw. */
export async function figures(found, area) {
  const own = Symbol("turn");
  area.turn = own;
  const map = mapOf(found);
  const charts = found.sort === "numbers" ? [] : chartsOf(found, Boolean(map));
  area.replaceChildren(...[map, ...charts].filter(Boolean));
  if (found.sort === "numbers" || charts.length || found.total) return;
  const groups = await groupsOf(found).catch(() => null); // a figure more or less
  if (groups && area.turn === own) area.append(groups);
}

function mapOf({ answers, places }) {
  const marks = answers
    .filter(({ name }) => Object.hasOwn(places, name))
    .map(({ name, label, observed }) => {
      const [latitude, longitude] = places[name];
      return { label, href: addressOf("thing", name), observed, latitude, longitude };
    });
  if (!marks.length) return null;
  return element(
    "figure",
    { id: "map" },
    element("figcaption", {}, "Where the listed answers are"),
    worldMap(marks, { label: "Map of the answers" }),
    mapKey(marks),
  );
}

/** The columns of numbers beside the answers, with the values that are known. */
function measuresOf({ answers, columns }, onMap) {
  return columns
    .map((column, place) => ({ ...column, cells: answers.map(({ values }) => values[place]) }))
    .filter(({ unit, label, cells }) => {
      const known = cells.filter((cell) => Number.isFinite(cell?.value));
      return unit !== null && !(onMap && WHERE.test(label)) && known.length >= ENOUGH;
    });
}

/** A point for each answer that has a value in all of some columns. */
function pointsOf({ answers }, measures) {
  return answers.flatMap(({ name, label, observed }, place) => {
    const cells = measures.map((measure) => measure.cells[place]);
    if (!cells.every((cell) => Number.isFinite(cell?.value))) return [];
    const said = cells.map((cell, at) => `${measures[at].label} ${saidOf(cell, measures[at])}`);
    const [x, y] = cells.map(({ value }) => value);
    const sure = observed && cells.every((cell) => cell.observed);
    return [{ label, said: [label, ...said].join(", "), href: addressOf("thing", name), observed: sure, x, y }];
  });
}

const saidOf = ({ value, text, observed }, { unit }) =>
  `${observed ? "" : "about "}${isCalendar(unit) ? text : withUnit(value, unit)}`;

function chartsOf(found, onMap) {
  const measures = measuresOf(found, onMap);
  const dates = measures.filter(({ unit }) => isCalendar(unit));
  const numbers = measures.filter(({ unit }) => !isCalendar(unit));
  const [first, second] = numbers;
  if (first && (dates.length || second)) {
    const across = dates[0] ?? second;
    const points = pointsOf(found, [across, first]);
    if (points.length >= ENOUGH) return [scatter(points, across, first)];
  }
  if (dates.length) return [timeline(pointsOf(found, dates.slice(0, 1)), dates[0])];
  return first ? [oneNumber(found, first)].filter(Boolean) : [];
}

/** Bars of the answers where they stand in the order of a number, else how it is spread, if no histogram shows that. */
function oneNumber({ answers, distributions }, measure) {
  const known = answers.map((answer, place) => ({ answer, cell: measure.cells[place] })).filter(({ cell }) => Number.isFinite(cell?.value));
  const values = known.map(({ cell }) => cell.value);
  const steps = values.slice(1).map((value, place) => value - values[place]);
  const isSorted = steps.every((step) => step <= 0) || steps.every((step) => step >= 0);
  if (isSorted && Math.min(...values) >= 0) {
    const rows = known.slice(0, BARS).map(({ answer, cell }) => ({
      label: linkTo("thing", answer),
      amount: cell.value,
      text: `${cell.observed ? "" : "about "}${measured(cell.value, measure.unit)}`,
    }));
    const unit = unitOf(measure.unit).trim();
    return bars(measure.label, [unit, known.length > BARS && `the first ${BARS}`].filter(Boolean).join(", "), rows);
  }
  return distributions.length ? null : histogram(distributionOf(values, measure));
}

function distributionOf(values, { label, unit }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const bins = low < high ? Math.min(BINS, new Set(values).size) : 1;
  const edges = Array.from({ length: bins + 1 }, (_, place) => low * (1 - place / bins) + high * (place / bins));
  const counts = edges.slice(1).map(() => 0);
  for (const value of values) {
    const bin = edges.findLastIndex((edge) => edge <= value);
    counts[Math.min(Math.max(bin, 0), bins - 1)] += 1;
  }
  return { label, unit, edges, counts, log: false, low: null, high: null };
}

/** How many of the proved answers are linked to what. */
async function groupsOf({ paper, observed, words }) {
  if (observed < ENOUGH) return null;
  const { label, things, groups, num_groups: all } = await api.groups(words ?? paper);
  if (!groups.length) return null;
  const rows = groups.map(({ entity, count: amount }) => ({ label: linkTo("thing", entity), amount, text: count(amount) }));
  const about = `of ${counted(things, "proved answer")}${all > groups.length ? `, the first ${groups.length} of ${count(all)}` : ""}`;
  return bars(`How many by “${label}”`, about, rows);
}
