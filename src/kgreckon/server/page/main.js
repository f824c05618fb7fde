/** The shell: it shows the view of the address, and leaves everything else to the views. */

import { Problem } from "./api.js";
import { element } from "./elements.js";
import { begin } from "./router.js";

/**
 * The views by the first part of their address. A view has `show({name, parameters})`, which gives its `title` and its
 * `content`, a list of nodes with a heading of the first level.
 */
const VIEWS = {
  thing: () => import("./thing.js"),
  kind: () => import("./kind.js"),
  relation: () => import("./relation.js"),
  attribute: () => import("./attribute.js"),
  quality: () => import("./quality.js"),
};
const area = document.getElementById("view");
const asking = document.getElementById("asking-view");
let turn = 0; // how often a view was asked for; one that comes late is not shown over a newer one

function failed(problem) {
  const words = problem instanceof Problem ? problem.message : `This page failed: ${problem.message}`;
  return {
    title: "Something went wrong",
    content: [
      element("h1", { tabindex: -1 }, "This cannot be shown"),
      element("p", { class: "problem", role: "alert" }, words),
      element("p", {}, element("a", { href: "/" }, "Go to the start")),
    ],
  };
}

const nowhere = () => ({
  title: "Not found",
  content: [element("h1", { tabindex: -1 }, "There is nothing at this address"), element("a", { href: "/" }, "Start")],
});

async function viewOf(place) {
  if (!VIEWS[place?.view]) return nowhere();
  try {
    return await (await VIEWS[place.view]()).show(place);
  } catch (problem) {
    if (!(problem instanceof Problem)) console.error(problem);
    return failed(problem);
  }
}

async function show(place, { back }) {
  const own = ++turn;
  const scroll = history.state?.scroll ?? 0;
  if (place?.view === "start" || place?.view === "ask") {
    area.hidden = true;
    asking.hidden = false;
    await (await import("./asking.js")).show();
  } else {
    area.setAttribute("aria-busy", "true");
    const view = await viewOf(place);
    if (own !== turn) return;
    area.removeAttribute("aria-busy");
    document.title = `${view.title} · kgreckon`;
    area.replaceChildren(...view.content);
    asking.hidden = true;
    area.hidden = false;
    if (!back) area.querySelector("h1")?.focus({ preventScroll: true });
  }
  if (own === turn) scrollTo(0, back ? scroll : 0);
}

begin(show);
