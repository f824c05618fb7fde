/** Tabs: arrows, Home and End move between them, and each shows its panel; the chosen one closes its panel again. */

/**
 * Make the tabs of `list` work, with none chosen at first; returns a function that chooses one by its id, or none.
 * `changed(id)` is called with what is chosen.
 */
export function tabs(list, changed = () => {}) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const isChosen = (tab) => tab.getAttribute("aria-selected") === "true";
  const choose = (tab, focus = false) => {
    for (const [place, one] of all.entries()) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen || (!tab && place === 0) ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    changed(tab?.id ?? null);
  };
  for (const [place, tab] of all.entries()) {
    tab.addEventListener("click", () => choose(isChosen(tab) ? null : tab));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: -1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(all.at(next % all.length), true);
    });
  }
  return (id) => choose(id && document.getElementById(id));
}
