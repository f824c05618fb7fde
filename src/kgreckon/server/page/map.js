/**
 * A map that zooms, with coasts and borders: by wheel, drag, pinch, buttons, and the keys + and −.
 *
 * Marks have names and lead somewhere: discs are what the graph proves, diamonds what is inferred.
 */

import { drawn, element } from "./elements.js";
import { coasts, xOf, yOf } from "./land.js";
import { SHAPE, View, around, between, placed } from "./viewport.js";

const LOWEST = 240;
const HIGHEST = 560; // pixels
const STEP = 1.6; // of one key or click
const NAMED = 60; // marks up to which there is room for names
const LETTERS = 26;
const SCROLLING = 400; // milliseconds after which a wheel that scrolled the page may zoom

const cut = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);
let scrolled = -Infinity; // when the page was scrolled last
addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });

/** A mark: a disc where something is proved, a hollow diamond where it is inferred. */
export function markOf({ observed = true }, size) {
  const reach = size * 1.25;
  return observed
    ? drawn("circle", { class: "mark observed", r: size })
    : drawn("path", { class: "mark inferred", d: `M0 ${-reach}l${reach} ${reach}l${-reach} ${reach}l${-reach} ${-reach}Z` });
}

/** The ground: land, borders and faint dots, three times beside each other, since one can go round. */
function groundOf(dots) {
  const land = drawn("path", { class: "land" });
  const borders = drawn("path", { class: "borders" });
  const places = drawn("path", {
    class: "places",
    d: dots.map(([latitude, longitude]) => `M${xOf(longitude)} ${yOf(latitude).toFixed(3)}h0`).join(""),
  });
  const once = drawn("g", { id: `ground-${++maps}` }, land, borders, dots.length ? places : null);
  const copies = [-360, 360].map((x) => drawn("use", { href: `#${once.id}`, x }));
  const ready = coasts().then((paths) => {
    land.setAttribute("d", paths.land);
    borders.setAttribute("d", paths.borders);
  });
  return [drawn("g", { class: "ground" }, copies, once), copies, ready];
}
let maps = 0;

/** Zoom and move by pointers and wheel; `changed` draws. */
function handle(svg, view, changed) {
  const pointers = new Map();
  let moved = 0;
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [one, other = one] = pointers.values();
    return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, far: Math.hypot(one.x - other.x, one.y - other.y) };
  };
  svg.addEventListener("wheel", (event) => {
    if (performance.now() - scrolled < SCROLLING && !event.ctrlKey) return; // the page is being scrolled
    const { x, y } = at(event);
    const lines = [1, 16, 100][event.deltaMode];
    if (!view().zoom(Math.exp(-between(event.deltaY * lines, -200, 200) / 250), x, y) && !event.ctrlKey) return;
    event.preventDefault();
    changed();
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, at(event));
    moved = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = spread();
    pointers.set(event.pointerId, at(event));
    const after = spread();
    moved += Math.abs(after.x - before.x) + Math.abs(after.y - before.y);
    if (moved > 4 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    view().move(after.x - before.x, after.y - before.y);
    if (before.far > 0 && after.far > 0) view().zoom(after.far / before.far, after.x, after.y);
    changed();
  });
  const end = (event) => pointers.delete(event.pointerId);
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("click", (event) => moved > 4 && (event.preventDefault(), event.stopPropagation()), true);
  svg.addEventListener("dragstart", (event) => event.preventDefault()); // links are not dragged away
}

/**
 * A map of marks `{label, href, latitude, longitude, observed}`, the most important first, over faint `dots`, pairs of
 * latitude and longitude.
 */
export function worldMap(marks, { label, dots = [], named = marks.length <= NAMED }) {
  const size = marks.length > 400 ? 3 : marks.length > NAMED ? 4 : 5.5;
  const start = around(marks);
  const area = element("div", { class: "map-area", tabindex: 0, role: "group", "aria-label": `${label}. Plus and minus zoom, arrow keys move.` });
  const [ground, copies, ready] = groundOf(dots);
  const tip = drawn("text", { class: "tip", "aria-hidden": "true" });
  let view = null;
  let current = 0;

  const said = (mark) => (mark.observed === false ? `${mark.label}, inferred` : mark.label);
  const show = (mark) => {
    const { x, y } = view.pixels(mark);
    const right = x > view.width / 2;
    tip.textContent = cut(said(mark));
    for (const [name, value] of [["x", right ? x - 9 : x + 9], ["y", y + 4.5], ["text-anchor", right ? "end" : "start"]])
      tip.setAttribute(name, value);
  };
  const hide = () => (tip.textContent = "");
  const links = marks.map((mark, place) =>
    drawn(
      mark.href ? "a" : "g",
      {
        class: "place",
        href: mark.href,
        tabindex: mark.href ? (place === 0 ? 0 : -1) : null,
        role: mark.href ? null : "img",
        "aria-label": said(mark),
        onfocus: () => {
          links[current].setAttribute("tabindex", "-1");
          links[place].setAttribute("tabindex", "0");
          current = place;
          const { x, y } = view.pixels(mark);
          if (x < 0 || y < 0 || x > view.width || y > view.height) {
            view.set(xOf(mark.longitude), yOf(mark.latitude), view.scale);
            draw();
          }
          show(mark);
        },
        onblur: hide,
        onpointerenter: () => show(mark),
        onpointerleave: hide,
      },
      drawn("circle", { class: "reach", r: 11 }),
      markOf(mark, size),
      named && drawn("text", { class: "name-on-map", y: 4.5 }, cut(mark.label)),
    ),
  );
  const svg = drawn("svg", {}, ground, [...links].reverse(), tip); // the first on top

  function draw() {
    hide();
    ground.setAttribute("transform", view.transform);
    const half = view.width / view.scale / 2;
    copies[0].setAttribute("visibility", view.x - half < -180 ? "visible" : "hidden"); // what is not seen costs nothing
    copies[1].setAttribute("visibility", view.x + half > 180 ? "visible" : "hidden");
    const points = marks.map((mark) => ({ ...view.pixels(mark), letters: Math.min(mark.label.length, LETTERS) }));
    links.forEach((link, place) => link.setAttribute("transform", `translate(${points[place].x} ${points[place].y})`));
    if (!named) return;
    placed(points, view.width, view.height).forEach((side, place) => {
      const text = links[place].lastChild;
      text.setAttribute("x", side === "before" ? -9 : 9);
      text.setAttribute("text-anchor", side === "before" ? "end" : "start");
      text.setAttribute("visibility", side ? "visible" : "hidden");
    });
  }
  let waiting = false;
  const changed = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const zoom = (factor) => {
    const focused = links.indexOf(document.activeElement);
    const { x, y } = focused < 0 ? { x: view.width / 2, y: view.height / 2 } : view.pixels(marks[focused]);
    view.zoom(factor, x, y);
    draw();
    if (focused >= 0) show(marks[focused]);
  };
  const button = (text, name, act) => element("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
  const buttons = element(
    "div",
    { class: "map-buttons" },
    button("+", "Zoom in", () => zoom(STEP)),
    button("−", "Zoom out", () => zoom(1 / STEP)),
    button("⌂", "Show all", () => {
      view.show(start);
      draw();
    }),
  );
  const whole = element("div", { class: "world-map", onkeydown: (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const factor = { "+": STEP, "=": STEP, "-": 1 / STEP, "−": 1 / STEP }[event.key];
    const arrow = { ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowUp: [0, -1] }[event.key];
    const focused = links.indexOf(document.activeElement);
    if (factor) zoom(factor);
    else if (arrow && focused >= 0) links[(focused + arrow[0] + arrow[1] + links.length) % links.length].focus();
    else if (arrow && event.target === area) {
      view.move(-60 * arrow[0], -60 * arrow[1]);
      draw();
    } else return;
    event.preventDefault();
  } }, area, buttons);

  area.append(svg);
  handle(svg, () => view, changed);
  const observer = new ResizeObserver(() => {
    const width = area.clientWidth;
    if (!width || width === view?.width) return;
    const height = Math.round(between(width * SHAPE, LOWEST, HIGHEST));
    for (const [name, value] of [["viewBox", `0 0 ${width} ${height}`], ["width", width], ["height", height]])
      svg.setAttribute(name, value);
    view = new View(start, width, height);
    draw();
  });
  observer.observe(area);
  ready.catch((problem) => whole.append(element("p", { class: "problem" }, `There is no ground on this map: ${problem.message}`)));
  return whole;
}

/** What the marks mean, where some are inferred. */
export function mapKey(marks) {
  const both = [true, false].filter((observed) => marks.some((mark) => mark.observed === observed));
  const key = (observed) => element("span", { class: `key ${observed ? "observed" : "inferred"}-key` }, observed ? "observed" : "inferred");
  return both.includes(false) ? element("p", { class: "map-key" }, both.map(key)) : null;
}
