/** A map of the answers: every place the graph knows as a dot, so that coasts appear, and the answers as marks. */

import { drawn, element } from "./elements.js";

const NORTH = 84; // the map ends where places do
const SOUTH = -58;
const LEAST = 90; // degrees of longitude that are always shown

const x = (longitude) => longitude;
const y = (latitude) => -latitude;

/** The part of the world that holds all answers, with some room, as wide as twice its height. */
function closeView(answers) {
  const [west, east] = [Math.min(...answers.map((a) => a.longitude)), Math.max(...answers.map((a) => a.longitude))];
  const [south, north] = [Math.min(...answers.map((a) => a.latitude)), Math.max(...answers.map((a) => a.latitude))];
  const width = Math.max(LEAST, (east - west) * 1.3, (north - south) * 2.6);
  if (width > 220) return worldView();
  const [centre, middle] = [(west + east) / 2, (south + north) / 2];
  const left = Math.min(Math.max(centre - width / 2, -180), 180 - width);
  const top = Math.min(Math.max(-middle - width / 4, -90), 90 - width / 2);
  return { left, top, width, height: width / 2 };
}

const worldView = () => ({ left: -180, top: -NORTH, width: 360, height: NORTH - SOUTH });

function graticule() {
  const meridians = Array.from({ length: 13 }, (_, place) => `M${-180 + 30 * place} -90V90`);
  const parallels = Array.from({ length: 7 }, (_, place) => `M-180 ${-90 + 30 * place}H180`);
  return [
    drawn("path", { class: "graticule", d: [...meridians, ...parallels].join("") }),
    drawn("path", { class: "graticule equator", d: "M-180 0H180" }),
  ];
}

/** A mark: a disc where the graph proves the answer, a hollow diamond where it is inferred. */
function markOf(answer, size) {
  const [left, top, reach] = [x(answer.longitude), y(answer.latitude), size * 1.25];
  const shape = answer.observed
    ? drawn("circle", { cx: left, cy: top, r: size })
    : drawn("path", { d: `M${left} ${top - reach}l${reach} ${reach}l${-reach} ${reach}l${-reach} ${-reach}Z` });
  shape.setAttribute("class", answer.observed ? "mark observed" : "mark inferred");
  return shape;
}

/** Fill `figure` with the map; `open(answer)` is called when a mark is chosen. */
export function showMap(figure, answers, places, open) {
  const close = closeView(answers);
  let view = close;
  const name = element("output", { class: "place-name", "aria-hidden": "true" });
  const area = element("div", { class: "map-area" });
  let current = 0;

  function draw() {
    const size = view.width / 75;
    const svg = drawn("svg", {
      viewBox: `${view.left} ${view.top} ${view.width} ${view.height}`,
      role: "group",
      "aria-label": "Map of the answers. Arrow keys go from place to place.",
    });
    svg.append(
      ...graticule(),
      drawn("path", {
        class: view.width < 180 ? "places near" : "places",
        d: places.map(([longitude, latitude]) => `M${x(longitude)} ${y(latitude)}h0`).join(""),
      }),
    );
    const said = (answer) => `${answer.label}, ${answer.observed ? "observed" : "inferred"}`;
    const marks = answers.map((answer, place) =>
      drawn(
        "g",
        {
          tabindex: place === current ? 0 : -1,
          role: "button",
          "aria-label": said(answer),
          class: "place",
          onfocus: () => {
            current = place;
            name.textContent = said(answer);
          },
          onpointerenter: () => {
            name.textContent = said(answer);
          },
          onclick: () => open(answer),
          onkeydown: (event) => {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
            if (step) {
              event.preventDefault();
              marks[place].setAttribute("tabindex", "-1");
              const next = marks[(place + step + marks.length) % marks.length];
              next.setAttribute("tabindex", "0");
              next.focus();
            } else if (event.key === "Enter" || event.key === " ") {
              event.preventDefault();
              open(answer);
            }
          },
        },
        drawn("title", {}, said(answer)),
        drawn("circle", { class: "reach", cx: x(answer.longitude), cy: y(answer.latitude), r: size * 2 }),
        markOf(answer, size),
      ),
    );
    svg.append(...[...marks].reverse()); // the best answers on top
    area.replaceChildren(svg);
  }

  const toggle = element(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      onclick: () => {
        view = view === close ? worldView() : close;
        toggle.setAttribute("aria-pressed", String(view !== close));
        draw();
      },
    },
    "Whole world",
  );
  draw();
  const key = element(
    "p",
    { class: "map-key" },
    answers.some(({ observed }) => observed) && element("span", { class: "key observed-key" }, "observed"),
    answers.some(({ observed }) => !observed) && element("span", { class: "key inferred-key" }, "inferred"),
    name,
  );
  figure.replaceChildren(
    element("figcaption", {}, element("span", {}, "Where the listed answers are"), close.width < 360 ? toggle : null),
    area,
    key,
  );
  figure.hidden = false;
}
