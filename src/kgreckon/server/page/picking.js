/** A range picked on a histogram: by dragging with mouse, pen or finger, or with two handles by keyboard. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { isCalendar, withUnit } from "./numerals.js";

const GRASP = 14; // pixels around a handle that move it
const CLICK = 4; // a shorter way is no drag
const STEP = 0.01; // of the axis, for an arrow key
const LEAP = 0.1;
const PAUSE = 250; // milliseconds after the last key before what was picked is told
const NAMES = ["From", "Up to"];

/** A number with the digits that a place on the axis has, two pixels being too many to tell apart. */
function rounded(value, resolution, unit) {
  if (isCalendar(unit)) return Math.round(value);
  const size = Math.abs(resolution);
  if (!(size > 0) || !Number.isFinite(size)) return value;
  const power = Math.floor(Math.log10(size));
  const step = 10 ** Math.abs(power);
  return power < 0 ? Math.round(value * step) / step : Math.round(value / step) * step;
}

/** A picked range in words: `100,000 to 2,000,000 persons`; null where nothing is picked. */
export function rangeWords({ low, high }, unit) {
  if (low !== null && high !== null) return `${withUnit(low, unit)} to ${withUnit(high, unit)}`;
  if (low !== null) return `at least ${withUnit(low, unit)}`;
  return high === null ? null : `at most ${withUnit(high, unit)}`;
}

/**
 * The handles over a histogram. `picked({low, high})` is called when a range was picked, and `moving` while it is, null
 * at an end where it has none; `keys` name the handles, to find them again. `placeOn(scale)` lays them over a drawing.
 */
export function rangePicker({ unit, label }, { range = { low: null, high: null }, picked, moving = () => {}, keys = [null, null] }) {
  const ends = [0, 1]; // where the handles are, as shares of the axis
  let scale = null;
  let timer = null;
  const shade = element("div", { class: "picked-range" });
  const handles = NAMES.map((name, side) =>
    element("div", {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-label": `${name}, ${typeof label === "string" ? label : label.textContent}`,
      "data-key": keys[side],
    }),
  );
  const layer = element("div", { class: "picker" }, shade, handles);

  const pixel = (side) => scale.left + ends[side] * (scale.right - scale.left);
  const valueOf = (side) => {
    const x = pixel(side);
    return rounded(scale.valueAt(x), (scale.valueAt(x + 1) - scale.valueAt(x - 1)) / 2 || scale.valueAt(x), unit);
  };
  const chosen = () => ({ low: ends[0] > 0 ? valueOf(0) : null, high: ends[1] < 1 ? valueOf(1) : null });

  function show() {
    if (!scale) return;
    const [left, right] = [pixel(0), pixel(1)];
    shade.style.left = `${left}px`;
    shade.style.width = `${right - left}px`;
    shade.hidden = ends[0] === 0 && ends[1] === 1;
    for (const [side, handle] of handles.entries()) {
      handle.style.left = `${pixel(side)}px`;
      const isOpen = ends[side] === side;
      handle.classList.toggle("at-end", isOpen);
      const value = valueOf(side);
      handle.setAttribute("aria-valuemin", scale.valueAt(side ? pixel(0) : scale.left));
      handle.setAttribute("aria-valuemax", scale.valueAt(side ? scale.right : pixel(1)));
      handle.setAttribute("aria-valuenow", value);
      handle.setAttribute("aria-valuetext", isOpen ? "no limit" : withUnit(value, unit));
    }
  }

  function move(side, to) {
    const [least, most] = side ? [ends[0], 1] : [0, ends[1]];
    ends[side] = Math.min(Math.max(to, least), most);
    show();
    moving(chosen());
  }

  const shareOf = (event) => {
    const x = event.clientX - layer.getBoundingClientRect().left;
    return Math.min(1, Math.max(0, (x - scale.left) / (scale.right - scale.left)));
  };

  layer.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale) return;
    event.preventDefault();
    const [start, begun] = [event.clientX, shareOf(event)];
    const near = [0, 1].map((side) => Math.abs(start - layer.getBoundingClientRect().left - pixel(side)));
    const nearest = near[0] < near[1] || (near[0] === near[1] && begun > ends[0]) ? 0 : 1;
    let side = near[nearest] <= GRASP ? nearest : null;
    const moved = (other) => {
      const to = shareOf(other);
      if (side !== null) return move(side, to);
      if (Math.abs(other.clientX - start) < CLICK) return undefined;
      [ends[0], ends[1]] = [Math.min(begun, to), Math.max(begun, to)]; // a new range, from where the drag began
      show();
      return moving(chosen());
    };
    const ended = (other) => {
      if (other.type === "pointerup" && side === null && Math.abs(other.clientX - start) < CLICK) move((side = nearest), begun);
      layer.removeEventListener("pointermove", moved);
      layer.removeEventListener("pointerup", ended);
      layer.removeEventListener("pointercancel", ended);
      handles[side ?? (shareOf(other) < begun ? 0 : 1)].focus({ preventScroll: true });
      picked(chosen());
    };
    layer.setPointerCapture(event.pointerId);
    layer.addEventListener("pointermove", moved);
    layer.addEventListener("pointerup", ended);
    layer.addEventListener("pointercancel", ended);
  });

  for (const [side, handle] of handles.entries()) {
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: STEP, ArrowUp: STEP, ArrowLeft: -STEP, ArrowDown: -STEP, PageUp: LEAP, PageDown: -LEAP };
      const to = { Home: 0, End: 1 }[event.key] ?? (event.key in steps ? ends[side] + steps[event.key] : null);
      if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(side, Math.abs(to - side) < STEP / 2 ? side : to); // the end of the axis is no limit
      clearTimeout(timer);
      timer = setTimeout(() => picked(chosen()), PAUSE);
    });
  }

  return {
    layer,
    placeOn(shown) {
      if (!scale) {
        const share = (value, none) => (value === null ? none : (shown.at(value) - shown.left) / (shown.right - shown.left));
        [ends[0], ends[1]] = [share(range.low, 0), share(range.high, 1)];
      }
      scale = shown;
      show();
    },
  };
}

/** The comparisons of a range, as the server's blocks; `any` says whether the model knows any comparison. */
export function comparisonsOf({ low, high }, unit, any) {
  const names = any ? ["x >= y", "x <= y"] : ["GreaterThan", "SmallerThan"];
  return [low, high].flatMap((value, side) =>
    value === null ? [] : [{ op: "compare", comparison: names[side], of: { op: "number", value, unit } }],
  );
}

/** The question for the things whose attribute is in a range, in all notations. */
export async function questionOf(attribute, range, unit) {
  const { model } = await api.info();
  const some = comparisonsOf(range, unit, model.any_comparison);
  return api.translate({ op: "having_value", attribute, of: some.length > 1 ? { op: "and", parts: some } : some[0] });
}
