/** The quality report of a learned run: what to expect of its answers, in words, as a drawing and in tables. */

import * as api from "./api.js";
import { drawAtWidth, drawn, element } from "./elements.js";
import { linkTo } from "./lists.js";
import { count, counted, isCalendar, percent, rough, unitOf } from "./numerals.js";
import { asks, columns, head, reportLink, section } from "./parts.js";

const HEIGHT = 236;
const LEFT = 44; // room for the numbers of the axes
const BELOW = 36;
const ROOM = 22;
const ROWS = 30; // of a table at first

/** The report in a few lines for a page about something else: null where nothing was measured. */
export function qualitySummary({ sentences, report }) {
  if (!report) return null;
  return element(
    "div",
    { class: "quality-summary" },
    sentences.slice(0, 2).map((line) => element("p", {}, line)),
    element("p", {}, reportLink()),
  );
}

/** A table with a caption for those who hear it; of many rows the first, and the others when someone wants them. */
function table(caption, titles, rows) {
  const cells = ([first, ...others]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, first),
      others.map((text) => element("td", {}, text)),
    );
  const body = element("tbody", {}, rows.slice(0, ROWS).map(cells));
  const whole = element(
    "table",
    { class: "report" },
    element("caption", { class: "spoken" }, caption),
    element("thead", {}, element("tr", {}, titles.map((title) => element("th", { scope: "col" }, title)))),
    body,
  );
  const more = element("button", { type: "button", class: "plain more" }, `Show all ${count(rows.length)}`);
  more.addEventListener("click", () => {
    body.append(...rows.slice(ROWS).map(cells));
    more.remove();
    body.children[ROWS].querySelector("a")?.focus();
  });
  const area = element("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption }, whole);
  return [area, rows.length > ROWS && more];
}

// --------------------------------------------------------------------------------------------------- probabilities

/** What was said against what was true: right probabilities lie on the line. */
function reliability(tenths, width) {
  const size = Math.min(width - LEFT - ROOM, 2 * HEIGHT);
  const [x, y] = [(share) => LEFT + share * size, (share) => HEIGHT - BELOW - share * (HEIGHT - BELOW - ROOM)];
  const svg = drawn("svg", {
    class: "reliability",
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    "aria-hidden": "true", // the table says the same
  });
  for (const share of [0, 0.5, 1]) {
    svg.append(
      drawn("path", { class: "grid", d: `M${x(0)} ${y(share)}H${x(1)}M${x(share)} ${y(0)}V${y(1)}` }),
      drawn("text", { class: "tick", x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`),
      drawn("text", { class: "tick", x: x(share), y: y(0) + 15, "text-anchor": "middle" }, `${100 * share} %`),
    );
  }
  const most = Math.max(...tenths.map(({ candidates }) => candidates));
  svg.append(
    drawn("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
    drawn("text", { class: "tick", x: x(0.5), y: HEIGHT - 3, "text-anchor": "middle" }, "said"),
    drawn("text", { class: "tick", x: x(0) + 6, y: y(1) + 12 }, "true"),
    drawn("path", {
      class: "measured",
      d: tenths.map(({ stated, true: right }, place) => `${place ? "L" : "M"}${x(stated)} ${y(right)}`).join(""),
    }),
    ...tenths.map(({ stated, true: right, candidates }) =>
      drawn("circle", { class: "measured", cx: x(stated), cy: y(right), r: 3 + 4 * Math.sqrt(candidates / most) }),
    ),
  );
  return svg;
}

/** How far probabilities of facts or of numbers come true. */
function calibration(title, what, tenths) {
  const some = tenths.filter(({ candidates }) => candidates);
  if (!some.length) return null;
  const area = element("div", { class: "picture" });
  drawAtWidth(area, (width) => reliability(some, width));
  const rows = some.map(({ low, high, candidates, stated, true: right }) => [
    `${Math.round(100 * low)} to ${Math.round(100 * high)} %`,
    count(candidates),
    percent(stated),
    percent(right),
  ]);
  return section(title, [
    element("p", { class: "quiet" }, `Of a hundred ${what} at 70 %, about seventy should be true: then the points lie on the line.`),
    element("figure", {}, area),
    element(
      "details",
      {},
      element("summary", {}, "The same as a table"),
      table(title, ["said", "about how many", "mean of what was said", "true"], rows),
    ),
  ]);
}

// ---------------------------------------------------------------------------------------------- relations, attributes

const expected = (number) => (number < 10 ? number.toFixed(1) : count(Math.round(number)));

function relations(rows) {
  if (!rows.length) return null;
  return section(
    "Relations",
    [
      element(
        "p",
        { class: "quiet" },
        "How often the right answer was among the ten best, and how many of the facts that were not stated should be true by their probabilities, and are.",
      ),
      table(
        "Relations",
        ["relation", "stated", "hidden", "among ten best", "should be true", "are true"],
        rows.map((row) => [
          linkTo("relation", row),
          count(row.facts),
          count(row.tested),
          row.tested ? percent(row.hits_at_10 / 100) : "–",
          expected(row.stated),
          count(row.true),
        ]),
      ),
    ],
    { class: "wide-part" },
  );
}

function attributes(rows, coverage) {
  if (!rows.length) return null;
  const error = (size, unit) => (isCalendar(unit) ? `${rough(size, "", 2)} years` : `${rough(size, unit, 3)}${unitOf(unit)}`);
  return section(
    "Attributes",
    [
      element("p", { class: "quiet" }, "How far predicted numbers are off, against guessing the median of those that are known."),
      table(
        "Attributes",
        ["attribute", "stated", "hidden", "off by", "the median", `in its interval of ${percent(coverage)}`],
        rows.map((row) => [
          linkTo("attribute", row),
          count(row.values),
          count(row.tested),
          error(row.mean_error, row.unit),
          error(row.mean_error_of_the_median, row.unit),
          row.tested ? percent(row.covered) : "–",
        ]),
      ),
    ],
    { class: "wide-part" },
  );
}

/** What to ask, and what the model says to it: a question leads to its answers, a prediction to its thing. */
function suggestions(some) {
  if (!some.length) return null;
  const link = ({ command, words }) =>
    command === "ask" ? asks(words[0], words[0]) : linkTo("thing", { name: words[0], label: words.join(": ") });
  return section(
    "To try",
    element(
      "ul",
      { class: "near" },
      some.map((one) =>
        element("li", {}, link(one), element("span", { class: "value" }, `${one.answer} · ${percent(one.probability)}`)),
      ),
    ),
  );
}

/** The view: its title and its content. */
export async function show() {
  const { sentences, report } = await api.quality();
  const title = "How well it infers";
  if (!report) {
    const none = "Nothing was measured here: a graph alone answers exactly, and only a run that kgreckon learn made has a report.";
    return { title, content: [head("Quality report", title), element("p", {}, none)] };
  }
  const line = `${percent(report.held_back)} of ${counted(report.facts, "fact")} and ${counted(report.values, "number")} were hidden, and looked for.`;
  return {
    title,
    content: [
      head("Quality report", title, line),
      columns(
        [
          section("In words", element("ul", { class: "sentences" }, sentences.map((one) => element("li", {}, one)))),
          relations(report.relations),
          attributes(report.attributes, report.coverage),
        ],
        [
          suggestions(report.suggestions),
          calibration("Probabilities of facts", "facts", report.tenths),
          calibration("Probabilities of numbers", "things with a number", report.value_tenths),
        ],
      ),
    ],
  };
}
