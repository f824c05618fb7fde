/** Lists that every view shares: links to what has a page of its own, and bars. */

import { element } from "./elements.js";
import { addressOf } from "./router.js";

/** A link to the page of a thing, kind, relation or attribute. */
export function linkTo(view, { name, label }) {
  return element("a", { class: "name", href: addressOf(view, name) }, label);
}

/** Links beside each other. */
export function linkList(view, named) {
  return element("ul", { class: "links" }, named.map((one) => element("li", {}, linkTo(view, one))));
}

/** Bars below each other: `{label, amount, text}`, the label a text or a node, the longest bar as wide as there is room. */
export function barList(bars) {
  const most = Math.max(...bars.map(({ amount }) => amount), 1e-300);
  return element(
    "ul",
    { class: "bars" },
    bars.map(({ label, amount, text }) => {
      const length = element("span", { class: "length" });
      length.style.width = `${(100 * amount) / most}%`;
      return element(
        "li",
        {},
        element("span", {}, label),
        element("span", { class: "track", "aria-hidden": "true" }, length),
        element("span", { class: "amount" }, text),
      );
    }),
  );
}
