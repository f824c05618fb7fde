/** The page of one thing: what is stated of it, what is probably missing, and what is near it. */

import * as api from "./api.js";
import { Changing } from "./changing.js";
import { element } from "./elements.js";
import { linkTo } from "./lists.js";
import { worldMap } from "./map.js";
import { neighbours } from "./neighbours.js";
import { count, percent, stated, unitOf } from "./numerals.js";
import { PAGE, asks, capital, columns, growing, head, later, section } from "./parts.js";
import { reasonsOf } from "./reasons.js";
import { addressOf } from "./router.js";
import { howSure } from "./sureness.js";

const FIRST = 4; // likely facts that are shown, however unlikely
const kindLinks = (kinds, tools) =>
  kinds.flatMap((kind, place) => [place ? ", " : "", element("span", {}, linkTo("kind", kind), tools(kind))]);

/** `10th of 246 countries`, and where that is between the smallest and the largest. */
function rankOf({ larger, of, words }) {
  const dot = element("span", { class: "dot" });
  dot.style.left = `${of > 1 ? (100 * (of - 1 - larger)) / (of - 1) : 50}%`;
  return element(
    "span",
    { class: "rank" },
    element("span", { class: "scale", "aria-hidden": "true" }, dot),
    larger === 0 ? "largest" : larger === of - 1 ? "smallest" : `${count(larger + 1)}${ordinal(larger + 1)}`,
    ` of ${count(of)}`,
    words ? ` ${words}` : "",
  );
}

function ordinal(number) {
  const rule = new Intl.PluralRules("en", { type: "ordinal" }).select(number);
  return { one: "st", two: "nd", few: "rd" }[rule] ?? "th";
}

function numbers(values, changing) {
  return values.map((value) =>
    element(
      "div",
      { class: "row" },
      element("dt", {}, linkTo("attribute", { name: value.attribute, label: value.label })),
      element(
        "dd",
        {},
        element("span", { class: "value" }, stated(value), changing?.ofValue(value, stated(value))),
        value.rank ? rankOf(value.rank) : null,
      ),
    ),
  );
}

/** The facts of one relation: the question that they answer, and the things, as many as one wants. */
function group(name, facts, changing) {
  const { relation, inverse, label, count: total, things, words, query } = facts;
  const more = async (offset) => (await api.facts({ name, relation, inverse, offset, limit: PAGE })).things;
  const item = (thing) => [linkTo("thing", thing), changing?.ofFact(facts, thing)];
  return element(
    "div",
    { class: "row" },
    inverse
      ? element(
          "dt",
          {},
          asks(query, capital(words)),
          element("span", { class: "by" }, linkTo("relation", { name: relation, label }), total > 1 && ` · ${count(total)}`),
        )
      : element("dt", {}, linkTo("relation", { name: relation, label })),
    element("dd", {}, growing(things, total, more, item)),
  );
}

function factList(name, groups, changing) {
  return groups.length ? element("dl", { class: "facts" }, groups.map((one) => group(name, one, changing))) : null;
}

// ------------------------------------------------------------------------------------------------ what is missing

function likelyNumber({ attribute, label, text, low_text, high_text, unit, chance, coverage, formula, reasons }) {
  const said = unitOf(unit);
  const because = [formula, ...reasons].filter(Boolean);
  return element(
    "li",
    {},
    element("div", { class: "likely-head" }, linkTo("attribute", { name: attribute, label }), chanceOf(chance)),
    element(
      "div",
      {},
      element("span", { class: "value" }, `about ${text}${said}`),
      element("span", { class: "quiet" }, ` ${low_text} to ${high_text} in ${percent(coverage)} of cases`),
    ),
    because.length > 0 &&
      element("ul", { class: "moved" }, because.map((line) => element("li", {}, line))),
  );
}

function chanceOf(probability) {
  const filled = element("span", { class: "filled" });
  filled.style.width = `${100 * probability}%`;
  return element(
    "span",
    { class: "chance" },
    element("span", { class: "score-bar", "aria-hidden": "true" }, filled),
    percent(probability),
  );
}

function likelyFact(own, fact, changing) {
  const { relation, inverse, phrase, label, entity, probability } = fact;
  const query = { op: "follow", relation, inverse, of: { op: "entity", name: own.name } };
  const [button, reasons] = reasonsOf(query, { name: entity.name, label: entity.label, value: null });
  const words = ` ${phrase ?? label} `;
  const name = element("bdi", {}, own.label);
  return element(
    "li",
    {},
    element(
      "div",
      { class: "likely-head" },
      element("span", {}, inverse ? [linkTo("thing", entity), words, name] : [name, words, linkTo("thing", entity)]),
      element("span", { class: "how-likely" }, chanceOf(probability), button, changing?.stating(fact)),
    ),
    reasons,
  );
}

async function missing(own, changing) {
  const { facts, values, calibration } = await api.missing(own.name);
  if (calibration !== "probability") return null;
  if (!facts.length && !values.length)
    return section("Probably missing", element("p", { class: "quiet" }, "Nothing: all that is likely is stated."));
  const first = Math.max(FIRST, facts.filter(({ probability }) => probability >= 0.5).length);
  const shown = [...values.map(likelyNumber), ...facts.slice(0, first).map((fact) => likelyFact(own, fact, changing))];
  const others = facts.slice(first).map((fact) => likelyFact(own, fact, changing));
  return section(
    "Probably missing",
    [
      element("p", { class: "quiet" }, "The graph does not state this; the model infers it, and says how likely it is."),
      howSure(calibration),
      element("ul", { class: "likely" }, shown),
      others.length > 0 &&
        element(
          "details",
          {},
          element("summary", {}, `${count(others.length)} less likely`),
          element("ul", { class: "likely" }, others),
        ),
    ],
    { class: "missing" },
  );
}

// ---------------------------------------------------------------------------------------------------- what is near

async function nearest(name, attribute) {
  const { values } = await api.near(name, attribute);
  return element(
    "ol",
    { class: "near" },
    values.map(({ entity, value }) =>
      element(
        "li",
        { "aria-current": entity.name === name ? "true" : null },
        entity.name === name ? element("strong", {}, entity.label) : linkTo("thing", entity),
        element("span", { class: "value" }, stated(value)),
      ),
    ),
  );
}

function near(name, values) {
  const comparable = values.filter(({ rank }) => rank);
  if (!comparable.length) return null;
  const area = element("div", {});
  const choice = element(
    "select",
    { "aria-label": "Nearest by" },
    comparable.map(({ attribute, label }) => element("option", { value: attribute }, label)),
  );
  const show = () => area.replaceChildren(later(nearest(name, choice.value), "looking …"));
  choice.addEventListener("change", show);
  show();
  const { words } = comparable[0].rank;
  return section([`${capital(words ?? "things")} nearest by `, choice], area, { class: "nearest" });
}

// ----------------------------------------------------------------------------------------------------- where it is

function onMap({ label, place }) {
  const [latitude, longitude] = place;
  return element("figure", { class: "where" }, worldMap([{ label, latitude, longitude }], { label: `Where ${label} is` }));
}

/** All that is shown of a thing; where it can be changed, with what changes it. */
function content(found, changing) {
  const about = found.facts.filter(({ inverse, relation }) => !inverse && relation !== found.kind_relation);
  const pointing = found.facts.filter(({ inverse, relation }) => inverse && relation !== found.kind_relation);
  const isKind = found.facts.find(({ inverse, relation }) => !inverse && relation === found.kind_relation);
  const line = [
    found.label === found.name ? null : element("span", { class: "quiet" }, found.name),
    found.members > 0 &&
      element("a", { href: addressOf("kind", found.name) }, `${count(found.members)} things are of this kind`),
  ];
  const drawing = neighbours({ ...found, facts: [...pointing, ...about] });
  const kinds = found.kinds.length ? kindLinks(found.kinds, (kind) => changing?.ofFact(isKind, kind)) : ["Thing"];
  return [
    head([changing?.toggle, ...kinds].filter(Boolean), found.label, line),
    changing?.form(),
    columns(
      [
        section("Numbers", found.values.length ? element("dl", { class: "numbers" }, numbers(found.values, changing)) : null),
        later(missing(found, changing), "Looking for what is probably missing …"),
        section("What it is linked to", factList(found.name, about, changing)),
        section("What is linked to it", factList(found.name, pointing, changing)),
      ],
      [
        section("Around it", drawing),
        found.place ? section("Where it is", onMap(found)) : null,
        near(found.name, found.values),
      ],
    ),
  ].filter(Boolean);
}

/** The view: its title and its content. After a change it shows the thing anew, with what came of it at the head. */
export async function show({ name }) {
  const [found, { takes_changes: changes }] = await Promise.all([api.entity(name), api.info()]);
  const whole = element("div", {});
  const refresh = async (outcome) => {
    const now = await api.entity(found.name);
    const [first, ...others] = content(now, new Changing(now, whole, refresh));
    const said = outcome();
    whole.replaceChildren(first, said, ...others);
    said.querySelector("h2").focus();
  };
  whole.append(...content(found, changes ? new Changing(found, whole, refresh) : null));
  return { title: found.label, content: [whole] };
}
