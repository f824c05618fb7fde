/** The questions that were asked in this browser: kept in it alone, listed behind a button, and forgotten on demand. */

import { element } from "./elements.js";
import { counted } from "./numerals.js";
import { keep, kept } from "./storage.js";

const QUESTIONS = "kgreckon questions";
const MOST = 50;

/** The questions, the latest first: `{words, address}`; whatever else stands there is none. */
function questions() {
  try {
    const read = JSON.parse(kept("localStorage", QUESTIONS) ?? "[]");
    const isOne = (one) => typeof one?.words === "string" && /^\/ask\?/.test(one.address);
    return Array.isArray(read) ? read.filter(isOne) : [];
  } catch {
    return [];
  }
}

/** Keep a question that was asked; the same one only once. */
export function keepQuestion(words, address) {
  const others = questions().filter((one) => one.words !== words);
  keep("localStorage", QUESTIONS, JSON.stringify([{ words, address }, ...others].slice(0, MOST)));
}

/** Show the questions in a dialog; a link of it leads to the answers again. */
function show() {
  const some = questions();
  const close = () => dialog.close();
  const clear = () => {
    keep("localStorage", QUESTIONS, null);
    close();
  };
  const list = some.map(({ words, address }) =>
    element("li", {}, element("a", { href: address, onclick: () => setTimeout(close) }, words)),
  );
  const dialog = element(
    "dialog",
    { class: "past", "aria-labelledby": "past-heading" },
    element("h2", { id: "past-heading" }, "Your questions"),
    element(
      "p",
      { class: "quiet" },
      some.length
        ? `The latest ${counted(some.length, "question")} of this browser. They are kept nowhere else.`
        : "Questions that you ask are listed here. They are kept in this browser and nowhere else.",
    ),
    some.length > 0 && element("ol", { class: "past-questions", tabindex: 0, "aria-labelledby": "past-heading" }, list),
    element(
      "div",
      { class: "actions" },
      element("button", { type: "button", class: "primary", onclick: close }, "Close"),
      some.length > 0 && element("button", { type: "button", onclick: clear }, "Forget them"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Let a button show the questions. */
export function pastBehind(button) {
  button.addEventListener("click", show);
}
