/** A histogram of an attribute, with the range that a question allows, or the numbers it found. */

import { drawAtWidth, drawn, element } from "./elements.js";
import { counted, isCalendar, short, withUnit } from "./numerals.js";

const HEIGHT = 132;
const FLOOR = 104; // where the bars stand; the numbers of the axis are below
const MARGIN = 10;
const MOST_TICKS = 12;
const NARROW = 1e-9; // a bin that is a smaller share of its value is one value
const TINY = 1e-300; // as good as zero
const SINGLE = 8; // the width of the only bar, where it stands for one value

/** The ends of the axis: those of the bins, with room on both sides of a single value. */
function axisOf({ edges, unit }) {
  const [low, high] = [edges[0], edges.at(-1)];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high > low && (edges.length > 2 || high - low > Math.max(TINY, NARROW * size))) return [low, high];
  const room = isCalendar(unit) ? 5 : size > TINY ? size / 10 : 1;
  return [Math.max(low - room, -Number.MAX_VALUE), Math.min(high + room, Number.MAX_VALUE)];
}

/** The axis: from a value to a place on it, and back. */
function scaleOf(distribution, width) {
  const ends = axisOf(distribution);
  const log = distribution.log && ends[0] > 0;
  const bend = log ? Math.log10 : (value) => value / 2; // halves, since a difference may overflow
  const [low, high] = ends.map(bend);
  const span = high - low || 1;
  const [left, right] = [MARGIN, width - MARGIN];
  const at = (value) => {
    const bent = log && value <= 0 ? low : bend(value);
    return left + ((Math.min(Math.max(bent, low), high) - low) / span) * (right - left);
  };
  const valueAt = (x) => {
    const bent = low + (Math.min(Math.max(x - left, 0), right - left) / (right - left)) * span;
    return log ? 10 ** bent : 2 * bent;
  };
  return { at, valueAt, left, right };
}

/** Round values for the axis, few enough for the width, of which no two read the same. */
export function ticksOf(distribution, width) {
  const { unit, log } = distribution;
  const ends = axisOf(distribution);
  const wanted = Math.min(MOST_TICKS - 1, Math.max(2, Math.floor(width / 80)));
  const ticks = (log && ends[0] > 0 && powersOf(ends, wanted)) || roundsOf(ends, wanted, isCalendar(unit) ? 1 : 0);
  const some = ticks.length ? ticks : ends;
  return some.filter((tick, place) => place === 0 || short(tick, unit) !== short(some[place - 1], unit));
}

/** Powers of ten between two positive numbers; null where there is none. */
function powersOf([low, high], wanted) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const length = Math.floor((last - first) / step) + 1;
  return length > 0 ? Array.from({ length }, (_, place) => 10 ** (first + place * step)) : null;
}

/** Multiples of a round step of at least `least`; counted, since a step may be too small to change a large number. */
function roundsOf([low, high], wanted, least) {
  const rough = (high / 2 - low / 2) / (wanted / 2);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? 0);
  const first = Math.ceil(low / step);
  const length = Math.min(MOST_TICKS, Math.floor(high / step) - first + 1);
  if (!(step > 0 && length > 0)) return [];
  return Array.from({ length }, (_, place) => (first + place) * step);
}

function bars(distribution, at, masses, style) {
  const highest = Math.max(...masses, 1e-12);
  const least = masses.length === 1 ? SINGLE : 1;
  return masses
    .map((mass, place) => {
      if (mass === 0 || (style === "bar answer" && mass < highest / 500)) return null; // too small to be an answer
      const [left, right] = [at(distribution.edges[place]), at(distribution.edges[place + 1])];
      const height = Math.max(1.5, (mass / highest) * (FLOOR - 14));
      const width = Math.max(least, right - left - 1);
      return drawn("rect", {
        class: style,
        x: (left + right - width) / 2,
        y: FLOOR - height,
        width,
        height,
      });
    })
    .filter(Boolean);
}

const words = ({ low, high, unit }) => {
  if (low !== null && high !== null)
    return low === high ? withUnit(low, unit) : `${withUnit(low, unit)} to ${withUnit(high, unit)}`;
  if (low !== null) return `from ${withUnit(low, unit)} up`;
  return high !== null ? `up to ${withUnit(high, unit)}` : null;
};

function picture(distribution, estimate, width) {
  const { at } = scaleOf(distribution, width);
  const { counts, answers } = distribution;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, "aria-hidden": "true" });
  if (words(distribution)) {
    const [left, right] = [at(distribution.low ?? -Infinity), at(distribution.high ?? Infinity)];
    svg.append(drawn("rect", { class: "range", x: left, y: 4, width: Math.max(2, right - left), height: FLOOR - 4 }));
    for (const [bound, x] of [
      [distribution.low, left],
      [distribution.high, right],
    ]) {
      if (bound !== null) svg.append(drawn("path", { class: "bound", d: `M${x} 4V${FLOOR}` }));
    }
  }
  svg.append(...bars(distribution, at, counts, answers ? "bar faint" : "bar"));
  if (answers) svg.append(...bars(distribution, at, answers, "bar answer"));
  if (estimate && estimate.unit === distribution.unit) {
    const [low, middle, high] = [estimate.low, estimate.value, estimate.high].map(at);
    svg.append(
      drawn("path", { class: "interval", d: `M${low} 6V14M${low} 10H${high}M${high} 6V14` }),
      drawn("path", { class: "middle", d: `M${middle} 4l5 6l-5 6l-5 -6Z` }),
    );
  }
  svg.append(drawn("path", { class: "axis", d: `M${MARGIN} ${FLOOR}H${width - MARGIN}` }));
  for (const tick of ticksOf(distribution, width)) {
    const x = at(tick);
    const anchor = x < 30 ? "start" : x > width - 30 ? "end" : "middle";
    svg.append(
      drawn("path", { class: "axis", d: `M${x} ${FLOOR}v4` }),
      drawn(
        "text",
        {
          class: "tick",
          x: anchor === "start" ? Math.max(2, x - 6) : anchor === "end" ? Math.min(width - 2, x + 6) : x,
          y: FLOOR + 18,
          "text-anchor": anchor,
        },
        short(tick, distribution.unit),
      ),
    );
  }
  return svg;
}

/** One distribution as a figure. Its caption says in words what the picture shows; a `picker` lies over it. */
export function histogram(distribution, estimate = null, picker = null) {
  const total = distribution.counts.reduce((sum, number) => sum + number, 0);
  const allowed = words(distribution);
  const unit = distribution.unit && distribution.unit !== "number" ? distribution.unit : null;
  const about = [counted(total, "value"), unit && `in ${unit}`, distribution.log && "on a logarithmic scale"]
    .filter(Boolean)
    .join(", ");
  const area = element("div", { class: "picture" });
  drawAtWidth(area, (width) => {
    picker?.placeOn(scaleOf(distribution, width));
    return picture(distribution, estimate, width);
  });
  return element(
    "figure",
    { class: picker ? "histogram picking" : "histogram" },
    element(
      "figcaption",
      {},
      element("strong", {}, distribution.label),
      element("span", {}, about),
      allowed && element("span", { class: "key range-key" }, `${distribution.excluded ? "left out" : "asked for"}: ${allowed}`),
      distribution.answers && element("span", { class: "key answer-key" }, "where the answers are"),
    ),
    picker ? element("div", { class: "picture-frame" }, area, picker.layer) : area,
  );
}
