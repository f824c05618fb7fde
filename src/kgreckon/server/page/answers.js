/** The answers: a ranked list with scores as bars, with observed and inferred ones marked, reasons on demand. */

import * as api from "./api.js";
import { element, spoken } from "./elements.js";
import { histogram } from "./histogram.js";
import { mapKey, worldMap } from "./map.js";
import { addressOf } from "./router.js";
import { counted, measured, percent, stated, withUnit } from "./numerals.js";
import { reasonsOf } from "./reasons.js";

const UNLIKELY = 0.001; // a probability that is not worth a line
const part = (id) => document.getElementById(id);

/** The answers worth showing: where scores are probabilities, the unlikely ones are not; shares only rank. */
function worthShowing(answers, areProbabilities) {
  const likely = answers.filter(({ observed, score }) => observed || score >= UNLIKELY);
  return areProbabilities && likely.length ? likely : answers;
}

function item(query, answer, isNumber, whole) {
  const state = answer.observed ? "observed" : "inferred";
  const title = isNumber
    ? element("span", { class: "name" }, stated(answer))
    : element("a", { class: "name", href: addressOf("thing", answer.name) }, answer.label);
  const filled = element("span", { class: "filled" });
  filled.style.width = `${Math.max(0.5, (100 * answer.score) / whole)}%`;
  const [button, reasons] = reasonsOf(query, answer);
  return element(
    "li",
    { class: state },
    element(
      "div",
      { class: "answer" },
      title,
      element("span", { class: "badge" }, state),
      element("span", { class: "score" }, spoken("score "), percent(answer.score)),
      element("span", { class: "score-bar", "aria-hidden": "true" }, filled),
      button,
    ),
    reasons,
  );
}

function summary(answers, { observed, seconds }, isExact, only, isCut, hasMore) {
  const time = `(${Math.max(1, Math.round(1000 * seconds))} ms)`;
  if (only === "inferred") {
    const shown = hasMore ? `the ${answers.length} likeliest others` : counted(answers.length, "other");
    const others = answers.length ? `${shown} inferred` : "no other is likely";
    return `The graph proves ${counted(observed, "answer")}; ${others} ${time}.`;
  }
  const known = answers.filter((answer) => answer.observed).length;
  const inferred = answers.length - known;
  if (!answers.length)
    return isExact ? "The graph proves no answer." : "The graph proves no answer, and none is likely.";
  const first = known < observed ? `; the first ${known} are shown` : "";
  const proved = observed ? `The graph proves ${counted(observed, "answer")}${first}` : "The graph proves no answer";
  const unlikely = isExact || only || first || isCut ? "" : ", and no other is likely";
  const others = `${inferred}${observed ? " more" : ""} ${inferred === 1 ? "is" : "are"} inferred`;
  const likeliest = `the ${inferred === 1 ? "likeliest other is" : `${inferred} likeliest others are`} shown`;
  const more = inferred ? `; ${hasMore ? likeliest : others}` : unlikely;
  return `${proved}${more} ${time}.`;
}

/** Where the numbers lie that the graph does not prove: one, if there is one, or several. */
function estimateCard({ value, low, high, unit, expected, coverage }) {
  const interval = `between ${measured(low, unit)} and ${measured(high, unit)}`;
  const one = expected <= 1;
  const heading = one ? `about ${withUnit(value, unit)}` : `some ${Math.round(expected)} more`;
  const chance = expected < 1 ? `if there is one that is not stated (${percent(expected)}); ` : "";
  const spread = `half of them below ${withUnit(value, unit)}, ${Math.round(100 * coverage)} % ${interval}`;
  return element(
    "p",
    { class: "estimate" },
    element("strong", {}, heading),
    element("span", { class: "badge" }, "inferred"),
    element(
      "span",
      { class: "quiet" },
      one ? `${chance}${interval} with a chance of ${Math.round(100 * coverage)} %` : spread,
    ),
  );
}

/**
 * Show the first `limit` of what the server found, which is all of it or only the observed or inferred part; returns
 * whether there are more.
 */
export function showAnswers(found, info, only, limit) {
  const isNumber = found.sort === "numbers";
  const isExact = info.model.calibration === "certain";
  const areProbabilities = isExact || info.model.calibration === "probability";
  const worthy = worthShowing(found.answers, areProbabilities);
  const answers = worthy.slice(0, limit);
  const hasMore = worthy.length > limit;
  const isCut = worthy.length >= found.limit; // by this page, or by the question's own limit
  const whole = areProbabilities ? 1 : Math.max(...answers.map(({ score }) => score), 1e-12);
  markStale(false);
  part("answers-problem").replaceChildren();
  part("status").textContent = summary(answers, found, isExact, only, isCut, hasMore);
  part("tools").hidden = false;
  part("only").hidden = isExact;
  part("answers").replaceChildren(...answers.map((answer) => item(found.paper, answer, isNumber, whole)));
  part("estimate").replaceChildren(...(found.estimate ? [estimateCard(found.estimate)] : []));
  const figures = found.distributions.map((one) => histogram(one, one.answers ? found.estimate : null));
  part("distributions").replaceChildren(...figures);
  showPlaces(answers, found.places);
  return hasMore;
}

function showPlaces(answers, placeOf) {
  const marks = answers
    .filter(({ name }) => Object.hasOwn(placeOf, name))
    .map(({ name, label, observed }) => {
      const [latitude, longitude] = placeOf[name];
      return { label, href: addressOf("thing", name), observed, latitude, longitude };
    });
  part("map").hidden = !marks.length;
  if (!marks.length) return part("map").replaceChildren();
  const figure = [
    element("figcaption", {}, "Where the listed answers are"),
    worldMap(marks, { label: "Map of the answers" }),
    mapKey(marks),
  ];
  part("map").replaceChildren(...figure.filter(Boolean));
}

/** Take all answers away. */
export function clearAnswers() {
  for (const id of ["answers", "answers-problem", "estimate", "distributions"]) part(id).replaceChildren();
  part("status").textContent = "What the graph proves, and what is likely, will be here.";
  part("map").hidden = true;
  part("more").hidden = true;
  part("tools").hidden = true;
  markStale(false);
}

/** Say that the answers on show are those of an earlier question. */
export function markStale(stale) {
  const earlier = stale && part("answers").children.length > 0;
  part("results").classList.toggle("stale", earlier);
  part("stale").hidden = !earlier;
}

/** Say what went wrong, with a way to try again. */
export function showProblem(problem, retry) {
  part("status").textContent = "";
  const wait = problem.kind === "busy" && problem.seconds ? ` Try again in ${problem.seconds} s.` : "";
  const again = problem.kind === "wrong" ? null : element("button", { type: "button", onclick: retry }, "Try again");
  part("answers-problem").replaceChildren(...[element("p", {}, problem.message + wait), again].filter(Boolean));
}
