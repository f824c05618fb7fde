/** The start: a line to ask, what the graph is about, and questions to begin with. */

import * as api from "./api.js";
import { drawn, element } from "./elements.js";
import { barList, linkTo } from "./lists.js";
import { count, counted, short, unitOf } from "./numerals.js";
import { capital, later, section } from "./parts.js";
import { qualitySummary } from "./quality.js";
import { addressOf, questionAddress } from "./router.js";
import { searchLine } from "./searching.js";

const GREETED = 3; // kinds in the greeting
const CARDS = 8;
const SPARK = 40; // units of height
const NARROW = 600; // pixels, on which there is room for few places with names
const FEW = 50;

const inList = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join(""));

function greeting({ kinds, num_kinds: all }, { graph }) {
  if (!kinds.length) return `Ask about ${counted(graph.entities, "thing")}`;
  const named = kinds.slice(0, GREETED).map(({ words }) => words);
  return `Ask about ${inList(all > GREETED ? [...named, "more"] : named)}`;
}

function asking({ examples }) {
  const area = element("div", { class: "start-line" });
  searchLine(area, { placeholder: examples[0] ?? "a name, or a question" });
  return [
    area,
    examples.length > 0 &&
      element(
        "ul",
        { class: "examples", "aria-label": "Questions to begin with" },
        examples.map((words) => element("li", {}, element("a", { href: questionAddress(words) }, words))),
      ),
  ];
}

function kindCard({ kind, words, count: many, things }) {
  const named = things.flatMap((thing, place) => [place ? ", " : "", linkTo("thing", thing)]);
  return element(
    "li",
    { class: "card kind-card" },
    element("h3", {}, element("a", { class: "name", href: addressOf("kind", kind.name) }, capital(words))),
    element("p", { class: "amount" }, count(many)),
    element("p", { class: "such-as" }, "such as ", named),
  );
}

function kindCards({ kinds, num_kinds: all }) {
  if (!kinds.length) return null;
  const others = kinds.slice(CARDS).map(({ kind, words }) => linkTo("kind", { name: kind.name, label: words }));
  const unnamed = all - kinds.length;
  return [
    element("ul", { class: "cards" }, kinds.slice(0, CARDS).map(kindCard)),
    others.length > 0 &&
      element(
        "p",
        { class: "others" },
        "Also ",
        others.flatMap((link, place) => [place ? ", " : "", link]),
        unnamed > 0 && ` and ${counted(unnamed, "more kind")}`,
      ),
  ];
}

/** A histogram without axes, as wide as there is room. */
function spark({ counts }) {
  const most = Math.max(...counts, 1);
  const bars = counts.map((many, place) => {
    const height = many ? Math.max(1, (many / most) * SPARK) : 0;
    return drawn("rect", { class: "bar", x: place + 0.08, y: SPARK - height, width: 0.84, height });
  });
  const shape = { class: "spark", viewBox: `0 0 ${counts.length} ${SPARK}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return drawn("svg", shape, bars);
}

function attributeCard({ attribute, count: many, distribution }) {
  const { label, unit, edges, log } = distribution;
  const high = `${short(edges.at(-1), unit)}${unitOf(unit)}`;
  return element(
    "li",
    { class: "attribute-card" },
    element("p", {}, element("a", { class: "name", href: addressOf("attribute", attribute) }, label), element("span", {}, count(many))),
    spark(distribution),
    element("p", { class: "ends" }, element("span", {}, short(edges[0], unit)), element("span", {}, log ? `${high}, logarithmic` : high)),
  );
}

function relationBars(relations) {
  return barList(
    relations.map(({ relation, label, facts }) => ({
      label: linkTo("relation", { name: relation, label }),
      amount: facts,
      text: count(facts),
    })),
  );
}

async function mapOf({ places, num_places: all }) {
  const [{ worldMap }, { places: dots }] = await Promise.all([import("./map.js"), api.places()]);
  const marks = places.slice(0, innerWidth < NARROW ? FEW : places.length).map(({ entity, place: [latitude, longitude] }) => ({
    label: entity.label,
    href: addressOf("thing", entity.name),
    latitude,
    longitude,
  }));
  const label = `Where ${counted(all, "thing")} are`;
  return worldMap(marks, { label, dots: all > marks.length ? dots : [], named: true });
}

/** The view: its title and its content. */
export async function show() {
  const [info, overview] = await Promise.all([api.info(), api.overview()]);
  const { kinds, things, relations, attributes, num_places: placed } = overview;
  const quality = api.quality().then((report) => section("How far to trust what is inferred", qualitySummary(report), { class: "quality" }));
  return {
    title: "Start",
    content: [
      element("div", { class: "greeting" }, element("h1", { tabindex: -1 }, greeting(overview, info)), asking(info)),
      section("What is in it", kindCards(overview)),
      !kinds.length && things.length > 0 &&
        section("What most is known of", element("ul", { class: "links" }, things.map((one) => element("li", {}, linkTo("thing", one))))),
      placed > 0 && section("Where things are", later(mapOf(overview), "Drawing the map …"), { class: "start-map" }),
      section(
        "What is measured",
        attributes.length ? element("ul", { class: "attribute-cards" }, attributes.map(attributeCard)) : null,
      ),
      element(
        "div",
        { class: "start-pair" },
        section("How things are linked", relations.length ? relationBars(relations) : null),
        later(quality, ""),
      ),
    ].filter(Boolean),
  };
}
