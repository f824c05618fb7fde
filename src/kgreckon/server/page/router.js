/**
 * The addresses of the page: `/`, `/ask?q=…`, `/quality`, `/thing/NAME`, `/kind/NAME`, `/relation/NAME` and `/attribute/NAME`.
 *
 * Links are plain links; a click on one, back and forward change what is shown without loading the page anew.
 */

const NAMED = ["thing", "kind", "relation", "attribute"];
const VIEW = new RegExp(`^/(${NAMED.join("|")})/(.+)$`);
let arrived = () => {};

/** The address of a view of something by its name: `addressOf("thing", "Oslo")`. */
export const addressOf = (view, name) => `/${view}/${encodeURIComponent(name)}`;

/** The address of a question, with whatever else is chosen: an order, a limit. */
export function questionAddress(question, chosen = {}) {
  const given = Object.entries({ q: question, ...chosen }).filter(([, value]) => value !== null && value !== "");
  return `/ask?${new URLSearchParams(given)}`;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an address shows: `{view, name, parameters}`; null where it is none of the page's. */
export function placeOf(url) {
  const parameters = url.searchParams;
  if (url.pathname === "/") return { view: "start", name: null, parameters };
  if (url.pathname === "/quality") return { view: "quality", name: null, parameters };
  if (url.pathname === "/ask") return { view: "ask", name: null, parameters };
  const [, view, name] = VIEW.exec(url.pathname) ?? [];
  return view ? { view, name: decoded(name), parameters } : null;
}

/** Go to an address of the page; with `replace` it takes the place of the present one in the history. */
export function go(address, { replace = false } = {}) {
  keepScroll();
  history[replace ? "replaceState" : "pushState"]({}, "", address);
  arrived(placeOf(new URL(location.href)), { back: false });
}

/** Change the address of what is shown already: nothing is shown anew. */
export function rename(address, { replace = true } = {}) {
  if (replace) return history.replaceState(history.state, "", address);
  keepScroll();
  history.pushState({}, "", address);
}

function keepScroll() {
  history.replaceState({ ...history.state, scroll: scrollY }, "");
}

/** Call `show(place, {back})` for the present address, and for every other that someone goes to. */
export function begin(show) {
  arrived = show;
  history.scrollRestoration = "manual";
  addEventListener("pagehide", keepScroll);
  addEventListener("scrollend", keepScroll);
  addEventListener("popstate", () => show(placeOf(new URL(location.href)), { back: true }));
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.hasAttribute("download")) return;
    if (link.hasAttribute("target")) return;
    const url = new URL(link.getAttribute("href"), location.href); // links in drawings have other properties
    if (url.origin !== location.origin || url.hash || !placeOf(url)) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
  show(placeOf(new URL(location.href)), { back: history.state?.scroll !== undefined });
}
