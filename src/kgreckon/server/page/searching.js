/** The line that searches and asks, for the start and the head of every page: a name leads to its page, words are asked. */

import * as api from "./api.js";
import { addressOf, go, questionAddress } from "./router.js";
import { questionLine } from "./words.js";

const SORTS = { entity: "thing", attribute: "attribute", relation: "relation" };

/** Where a text leads: to the page of what is called so, if it is the only one, else to the answers to it. */
async function addressFor(text) {
  const wanted = text.trim().toLowerCase();
  const lists = await Promise.all(Object.keys(SORTS).map((kind) => api.names(kind, text.trim(), 5)));
  const called = Object.values(SORTS).flatMap((view, place) => {
    const names = lists[place].names.filter(({ label, name }) => [label, name].some((one) => one.toLowerCase() === wanted));
    return [...new Set(names.map(({ name }) => addressOf(view, name)))];
  });
  return called.length === 1 ? called[0] : questionAddress(text.trim());
}

/** Put the line into `area`. */
export function searchLine(area, options = {}) {
  const line = questionLine(area, {
    label: "Ask in words, or search a name",
    placeholder: "Ask in words, or search a name",
    ...options,
    onAsk: async (text) => {
      if (!text.trim()) return line.focus();
      const address = await addressFor(text).catch(() => questionAddress(text.trim())); // which says what is wrong
      line.value = "";
      go(address);
    },
  });
  return line;
}
