/** The table of answers: names, the values that are asked about, how sure what is inferred is, and reasons. */

import { element, spoken } from "./elements.js";
import { count, isCalendar, measured, percent, rough, stated, unitOf } from "./numerals.js";
import { reasonsOf } from "./reasons.js";
import { addressOf } from "./router.js";

/** What stands in a column for an answer: what is stated with all its digits, what is inferred with its interval. */
function cellOf(cell, { unit }) {
  if (!cell) return element("td", { class: "number" }, element("span", { class: "quiet" }, "–"), spoken(" not known"));
  if (cell.value === null) return element("td", {}, element("span", { class: "words" }, cell.text));
  const several = cell.text.includes(", ") || isCalendar(unit);
  if (cell.observed) return element("td", { class: "number" }, several ? cell.text : measured(cell.value, unit));
  return element(
    "td",
    { class: "number likely" },
    `about ${rough(cell.value, unit, 3)}`,
    element("small", {}, `${rough(cell.low, unit, 3)} to ${rough(cell.high, unit, 3)}`),
  );
}

/** One table; `change({order, descending})` asks for another order, `change({columns})` for fewer columns. */
export class AnswerTable {
  constructor(found, info, look, change) {
    this.found = found;
    this.look = look;
    this.change = change;
    this.isNumbers = found.sort === "numbers";
    this.areProbabilities = info.model.calibration === "probability";
    const infers = found.count > found.observed || found.answers.some(({ observed }) => !observed);
    this.withScores = infers && info.model.calibration !== "certain"; // what is proved has no probability
    this.whole = this.areProbabilities ? 1 : Math.max(...found.answers.map(({ score }) => score), 1e-12);
    this.rows = []; // {row, words, reasons}
    this.body = element("tbody");
    this.node = element(
      "table",
      { class: "answers" },
      element("caption", { class: "spoken" }, `Answers: ${found.words}`),
      element("thead", {}, element("tr", {}, this.headers())),
      this.body,
    );
    this.add(found.answers);
  }

  headers() {
    const { columns } = this.found;
    const first = this.isNumbers
      ? this.header("value", "value", null, "number", true)
      : this.header("name", "name", null, "", false);
    const others = columns.map((column) => {
      const { name, label, unit } = column;
      if (unit === null) return element("th", { scope: "col" }, label);
      const added = this.look.columns.includes(name);
      return this.header(name, label, unitOf(unit).trim(), "number", true, added);
    });
    const score = this.areProbabilities ? "probability" : "share";
    return [
      element("th", { class: "nth", scope: "col" }, spoken("Place")),
      first,
      ...others,
      this.withScores ? this.header("probability", score, null, "known", true) : null,
      element("th", { scope: "col" }, spoken("Reasons")),
    ].filter(Boolean);
  }

  /** The head of a column: pressed, it sorts by it; pressed again, the other way round; then as at first. */
  header(order, name, unit, className, largestFirst, added = false) {
    const { look, change } = this;
    const own = look.order === order;
    const sorted = own ? (look.descending ? "descending" : "ascending") : "none";
    const next = !own
      ? { order, descending: largestFirst }
      : look.descending === largestFirst
        ? { order, descending: !largestFirst }
        : { order: null, descending: false };
    const button = element(
      "button",
      { type: "button", class: "plain", "data-order": order, onclick: () => change(next) },
      name,
      element("span", { class: "arrow", "aria-hidden": "true" }, { descending: "▾", ascending: "▴", none: "" }[sorted]),
      unit && element("small", {}, unit),
    );
    const fewer = look.columns.filter((column) => column !== order);
    const remove =
      added &&
      element(
        "button",
        { type: "button", class: "remove", "aria-label": `Remove the column ${name}`, onclick: () => change({ columns: fewer }) },
        "✕",
      );
    return element("th", { scope: "col", class: className, "aria-sort": sorted }, button, remove);
  }

  /** Add rows; returns the first of them. */
  add(answers) {
    const added = answers.map((answer) => this.row(answer));
    this.body.append(...added);
    return added[0];
  }

  row(answer) {
    const { columns, paper } = this.found;
    const state = answer.observed ? "observed" : "inferred";
    const title = this.isNumbers
      ? element("span", { class: "name" }, stated(answer))
      : element("a", { class: "name", href: addressOf("thing", answer.name) }, answer.label);
    const cells = answer.values.map((cell, place) => cellOf(cell, columns[place]));
    const place = this.rows.length + 1;
    const [button, reasons] = reasonsOf(paper, answer);
    const row = element(
      "tr",
      { class: state },
      element("td", { class: "nth" }, count(place)),
      element("th", { scope: "row", class: this.isNumbers ? "number" : null }, title),
      cells,
      this.withScores ? this.known(answer, state) : null,
      element("td", { class: "reason-button" }, button),
    );
    this.rows.push({ row, reasons, words: row.textContent.toLowerCase() });
    button.addEventListener("click", () => this.open(row, reasons));
    return row;
  }

  known({ observed, score }, state) {
    const badge = element("span", { class: "badge" }, state);
    if (observed) return element("td", { class: "known" }, badge);
    const filled = element("span", { class: "filled" });
    filled.style.width = `${Math.max(2, (100 * score) / this.whole)}%`;
    return element(
      "td",
      { class: "known" },
      badge,
      element("span", { class: "score" }, percent(score)),
      element("span", { class: "score-bar", "aria-hidden": "true" }, filled),
    );
  }

  /** The reasons of an answer stand in a row below it. */
  open(row, reasons) {
    if (reasons.parentElement) return reasons.closest("tr").toggleAttribute("hidden", reasons.hidden);
    const width = row.children.length;
    row.after(element("tr", { class: "reason" }, element("td", { class: "nth" }), element("td", { colspan: width - 1 }, reasons)));
  }

  /** Hide the rows that do not contain a text; returns how many do. */
  filter(text) {
    let left = 0;
    for (const { row, reasons, words } of this.rows) {
      const fits = words.includes(text);
      row.hidden = !fits;
      if (reasons.parentElement) reasons.closest("tr").hidden = !fits || reasons.hidden;
      left += fits;
    }
    return left;
  }
}
