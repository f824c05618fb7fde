/** The page of an attribute: how its values are spread, its extremes, of what it is known, and how well it is predicted. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { histogram } from "./histogram.js";
import { linkTo } from "./lists.js";
import { counted, isCalendar, measured, percent, rough, stated, unitOf } from "./numerals.js";
import { questionOf, rangePicker, rangeWords } from "./picking.js";
import { questionAddress } from "./router.js";
import { PAGE, columns, coverage, growing, head, reportLink, section } from "./parts.js";

function extremes(attribute, order, values, total) {
  const more = async (offset) => (await api.values({ attribute, order, offset, limit: PAGE })).values;
  const item = ({ entity, value }) => [linkTo("thing", entity), element("span", { class: "value" }, stated(value))];
  return growing(values, total, more, item, { class: "near" });
}

/** The distribution, on which a range can be picked that leads to a question. */
function pickable({ name, label, unit, distribution }) {
  const said = element("p", { class: "picked", role: "status" }, "Drag over the bars to ask for the things in a range.");
  let turn = 0;
  const moving = (range) => {
    said.textContent = rangeWords(range, unit) ?? "";
  };
  const picked = async (range) => {
    const own = ++turn;
    const inWords = rangeWords(range, unit);
    if (!inWords) return said.replaceChildren("Every value is in the range.");
    said.textContent = inWords;
    try {
      const { words, paper } = await questionOf(name, range, unit);
      if (own === turn) said.replaceChildren(element("a", { class: "ask", href: questionAddress(paper) }, `Ask for ${words}`));
    } catch (problem) {
      if (own === turn) said.replaceChildren(element("span", { class: "problem" }, problem.message));
    }
    return undefined;
  };
  return [histogram(distribution, null, rangePicker({ unit, label }, { picked, moving })), said];
}

function summary({ values, mean, quartiles, smallest, largest, unit }) {
  const [low, middle, high] = quartiles.map((number) => rough(number, unit));
  const figures = [
    ["smallest", measured(smallest[0].value.value, unit)],
    ["a quarter is below", low],
    ["median", middle],
    ["mean", rough(mean, unit)],
    ["a quarter is above", high],
    ["largest", measured(largest[0].value.value, unit)],
  ];
  return values < 2
    ? null
    : element(
        "dl",
        { class: "figures" },
        figures.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))),
      );
}

/** What the quality report of a run says of the attribute, in words. */
function predicted({ unit, tested, mean_error, mean_error_of_the_median, covered }) {
  const error = (size) => (isCalendar(unit) ? `${rough(size, "", 2)} years` : `${rough(size, unit, 3)}${unitOf(unit)}`);
  const times = mean_error_of_the_median / mean_error;
  const nearer =
    times > 1.05
      ? `${times.toFixed(1)} times nearer than the median would be, which is off by`
      : "no nearer than the median would be, which is off by";
  return [
    element(
      "p",
      {},
      `${counted(tested, "value")} ${tested === 1 ? "was" : "were"} hidden: predictions are off by ${error(mean_error)} on average, ${nearer} ${error(mean_error_of_the_median)}.`,
    ),
    element("p", {}, `${percent(covered)} of them lie in their interval of 90 %. `, reportLink()),
  ];
}

/** The view: its title and its content. */
export async function show({ name }) {
  const attribute = await api.attribute(name);
  const { label, unit, values, things, quality } = attribute;
  return {
    title: label,
    content: [
      head("Attribute", label, `${counted(values, "value")} of ${counted(things, "thing")}${unitOf(unit) && !isCalendar(unit) ? `, in ${unit}` : ""}`),
      columns(
        [
          section("How its values are spread", [...pickable(attribute), summary(attribute)], { class: "spread" }),
          section("Largest", extremes(attribute.name, "largest", attribute.largest, values)),
        ],
        [
          quality && section("How well it is predicted", predicted(quality), { class: "quality" }),
          section(
            "Of what it is known",
            attribute.kinds.length
              ? coverage(attribute.kinds.map(({ entity, count: part, of }) => ({ label: linkTo("kind", entity), part, whole: of })))
              : null,
          ),
          section("Smallest", extremes(attribute.name, "smallest", attribute.smallest, values)),
        ],
      ),
    ],
  };
}
