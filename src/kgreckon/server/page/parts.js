/** Parts of the pages of things, kinds, relations and attributes: their head, sections, and lists that go on. */

import { Problem } from "./api.js";
import { element } from "./elements.js";
import { linkTo } from "./lists.js";
import { count } from "./numerals.js";
import { questionAddress } from "./router.js";

export const PAGE = 50; // of a list that goes on
let sections = 0;

/** The head of a page: what sort of thing it is about, its name, and a line about it. */
export function head(sort, title, ...line) {
  return element(
    "div",
    { class: "page-head" },
    element("p", { class: "sort" }, sort),
    element("h1", { tabindex: -1 }, title),
    line.flat().some(Boolean) ? element("p", { class: "about-it" }, ...line) : null,
  );
}

/** A section with its heading; null where it has no content. */
export function section(title, content, properties = {}) {
  const shown = [content].flat().filter(Boolean);
  if (!shown.length) return null;
  const id = `part-${++sections}`;
  return element("section", { "aria-labelledby": id, ...properties }, element("h2", { id }, ...[title].flat()), ...shown);
}

/** Sections in two columns, the second one narrower; one below the other where there is no room. */
export function columns(first, second) {
  return element(
    "div",
    { class: "columns" },
    element("div", {}, first.filter(Boolean)),
    element("div", {}, second.filter(Boolean)),
  );
}

/** A link that asks a question, given in the paper's notation. */
export function asks(query, words) {
  return element("a", { href: questionAddress(query) }, words);
}

/** A link to the quality report. */
export const reportLink = () => element("a", { href: "/quality" }, "The whole quality report");

/** A text that begins with a capital letter. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A share as a percentage: 100 % is all of them, and 0 % none. */
export function share(part, whole) {
  const percent = (100 * part) / whole;
  if (part === whole || part === 0) return `${percent} %`;
  if (percent < 0.1) return "< 0.1 %";
  return `${percent < 10 || percent > 99 ? Math.min(99.9, percent).toFixed(1) : percent.toFixed(0)} %`;
}

/** A list of links that goes on: `more(offset)` gives the next things. */
export function growing(things, total, more, item = (thing) => linkTo("thing", thing), properties = { class: "links" }) {
  const shown = (some) => some.map((one) => element("li", {}, item(one)));
  const list = element("ul", properties, shown(things));
  if (things.length >= total) return [list];
  const left = () => {
    const others = total - list.children.length;
    return others > PAGE ? `Show ${PAGE} more of ${count(others)}` : `Show ${others} more`;
  };
  const problem = element("span", { class: "problem", role: "alert" });
  const button = element("button", { type: "button", class: "plain more" }, left());
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.textContent = "";
    const at = list.children.length;
    try {
      list.append(...shown(await more(at)));
      button.textContent = left();
      button.hidden = list.children.length >= total;
      list.children[at]?.querySelector("a")?.focus();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
  return [list, button, problem];
}

/** A place that is filled when `content` comes; it says so while it waits, and what went wrong. */
export function later(content, waiting) {
  const area = element("div", { class: "later", "aria-busy": "true" }, element("p", { class: "quiet" }, waiting));
  content
    .then((nodes) => area.replaceChildren(...[nodes].flat().filter(Boolean)))
    .catch((error) => {
      area.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message));
      if (!(error instanceof Problem)) console.error(error);
    })
    .finally(() => area.removeAttribute("aria-busy"));
  return area;
}

/** Bars of shares: `{label, part, whole}`, each bar as long as its share of the whole, with the counts. */
export function coverage(rows) {
  return element(
    "ul",
    { class: "bars" },
    rows.map(({ label, part, whole }) => {
      const length = element("span", { class: "length" });
      length.style.width = `${(100 * part) / Math.max(whole, 1)}%`;
      return element(
        "li",
        {},
        element("span", {}, label),
        element("span", { class: "track", "aria-hidden": "true" }, length),
        element("span", { class: "amount" }, `${count(part)} of ${count(whole)} · ${share(part, whole)}`),
      );
    }),
  );
}
