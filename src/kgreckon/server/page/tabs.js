/** Tabs: arrows, Home and End move between them, and each shows its panel. */

/** Make the tabs of `list` work; returns a function that chooses one by its id. */
export function tabs(list) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const choose = (tab, focus = false) => {
    for (const one of all) {
      const chosen = one === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
  };
  for (const [place, tab] of all.entries()) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: -1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(all.at(next % all.length), true);
    });
  }
  return (id) => choose(document.getElementById(id));
}
