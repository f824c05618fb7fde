/** A text field with a list of completions: the combobox pattern of WAI-ARIA, with arrows, Enter and Escape. */

import { element } from "./elements.js";

let made = 0;

/**
 * `find(text)` gives groups of choices, now or later: `[{title, choices: [{label, detail, ...}]}]`.
 * `choose(choice)` is called when one is picked (or its own `instead`, where it has one), and `left(text, choice)` when
 * the field is left with another text than before, with the choice of just that name, if there is one.
 *
 * With `entered` the field holds any text, and choices complete it: `find(text, caret)` gets it as it stands, and Enter
 * gives it to `entered` unless a choice is marked.
 */
export function combobox({
  label,
  value = "",
  placeholder = "",
  key = null,
  className = "",
  find,
  choose,
  left = () => {},
  entered = null,
}) {
  const number = ++made;
  const list = element("div", {
    role: "listbox",
    id: `choices-${number}`,
    class: "choices",
    "aria-label": label,
    hidden: true,
  });
  const input = element("input", {
    type: "text",
    role: "combobox",
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": list.id,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: entered ? "search" : "done",
    placeholder,
    value,
    "data-key": key,
    size: entered ? null : Math.max(8, (value || placeholder).length),
  });
  const whole = element("div", { class: `combobox ${className}` }, input, list);
  let options = []; // the elements of the choices on show
  let active = -1;
  let asked = 0; // the latest search; answers to earlier ones are dropped
  let searched = null; // the text whose choices are on show
  let settled = value;

  function close() {
    asked += 1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  }

  function activate(place) {
    options[active]?.node.setAttribute("aria-selected", "false");
    active = place;
    const option = options[active];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.node.setAttribute("aria-selected", "true");
    option.node.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.node.id);
  }

  function pick(choice) {
    settled = choice.label;
    input.value = choice.label;
    close();
    if (entered) input.setSelectionRange(choice.caret, choice.caret);
    (choice.instead ?? choose)(choice);
    if (entered) search(input.value);
  }

  function show(groups, nothing = "nothing of this name") {
    options = [];
    const shown = groups
      .filter((group) => group.choices.length)
      .map(({ title, choices }) => {
        const nodes = choices.map((choice) => {
          const node = element(
            "div",
            {
              role: "option",
              id: `choice-${number}-${options.length}`,
              class: "choice",
              "aria-selected": "false",
              onclick: () => pick(choice),
            },
            element("span", {}, choice.shown ?? choice.label),
            choice.detail && element("small", {}, choice.detail),
          );
          options.push({ node, choice });
          return node;
        });
        if (!title) return nodes;
        return element(
          "div",
          { role: "group", "aria-label": title },
          element("div", { class: "group-title", "aria-hidden": "true" }, title),
          nodes,
        );
      })
      .flat();
    list.replaceChildren(...(shown.length ? shown : [element("div", { class: "nothing" }, nothing)]));
    list.hidden = false;
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", "true");
    list.style.left = "0";
    const over = list.getBoundingClientRect().right - document.documentElement.clientWidth + 8;
    if (over > 0) list.style.left = `${-over}px`; // a list at the right edge must not widen the page
  }

  async function search(text, first = false) {
    const turn = ++asked;
    const [groups, problem] = await find(text, input.selectionStart).then(
      (found) => [found, undefined],
      (error) => [[], error.message],
    );
    if (turn !== asked || document.activeElement !== input) return;
    searched = text;
    if (entered && !groups.some(({ choices }) => choices.length)) return close();
    const marked = entered ? options[active]?.choice.label : undefined;
    show(groups, problem);
    const kept = options.findIndex(({ choice }) => choice.label === marked); // a list that comes late keeps the mark
    activate(first && options.length ? 0 : kept);
  }

  /** Take the choice that is marked; where the list lags behind the typing, the one that has just this name. */
  async function enter() {
    clearTimeout(timer);
    if (entered) {
      if (!list.hidden && options[active]) return pick(options[active].choice);
      close();
      return entered(input.value);
    }
    const text = input.value === settled ? "" : input.value.trim();
    if (!list.hidden && searched === text && options[active]) return pick(options[active].choice);
    await search(text, true);
    const isNamed = options[0]?.choice.label.toLowerCase() === text.toLowerCase();
    if (text && searched === text && isNamed) pick(options[0].choice);
  }

  let timer = null;
  input.addEventListener("input", () => {
    input.removeAttribute("aria-invalid");
    clearTimeout(timer);
    if (entered) activate(-1); // what is typed counts again
    if (entered) timer = setTimeout(() => search(input.value), 120);
    else timer = setTimeout(() => search(input.value.trim(), input.value.trim() !== ""), 120);
  });
  const wanted = () => (entered ? input.value : input.value === settled ? "" : input.value.trim());
  input.addEventListener("click", () => {
    if (list.hidden) search(wanted());
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  if (!entered) input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", () => {
    clearTimeout(timer);
    close();
    if (entered || input.value === settled) return;
    settled = input.value;
    const text = settled.trim();
    const named = options.find(({ choice }) => !choice.instead && choice.label.toLowerCase() === text.toLowerCase());
    whole.classList.toggle("open", !named);
    left(text, named?.choice ?? null);
  });
  input.addEventListener("keydown", async (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (list.hidden) await search(wanted(), true);
      else if (options.length) activate((active + step + options.length) % options.length);
    } else if (event.key === "Enter") {
      event.preventDefault(); // Enter picks; it never submits a half-typed name
      await enter();
    } else if (event.key === "Escape") {
      if (list.hidden && (entered || input.value === settled)) return;
      event.preventDefault();
      if (list.hidden) input.value = settled;
      close();
    }
  });
  return whole;
}
