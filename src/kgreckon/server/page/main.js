/** The shell: it shows the view of the address, and leaves everything else to the views. */

import { Problem, info } from "./api.js";
import { element } from "./elements.js";
import { count } from "./numerals.js";
import { pastBehind } from "./past.js";
import { begin } from "./router.js";

/**
 * The views by the first part of their address. A view has `show({name, parameters})`, which gives its `title` and its
 * `content`, a list of nodes with a heading of the first level.
 */
const VIEWS = {
  start: () => import("./start.js"),
  thing: () => import("./thing.js"),
  kind: () => import("./kind.js"),
  relation: () => import("./relation.js"),
  attribute: () => import("./attribute.js"),
  quality: () => import("./quality.js"),
};
const area = document.getElementById("view");
const asking = document.getElementById("asking-view");
const about = document.getElementById("about");
const headLine = document.getElementById("header-line");
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

/** The head: a line to ask, and where the view has its own, how large the graph is. */
async function showHead(place) {
  const asks = place?.view === "start" || place?.view === "ask";
  headLine.hidden = asks;
  about.hidden = !asks;
  if (!asks && !headLine.firstChild) (await import("./searching.js")).searchLine(headLine);
  if (asks && !about.textContent) about.textContent = await sizes().catch(() => "");
}

async function sizes() {
  const { model, graph, version } = await info();
  const numbers = `${count(graph.entities)} things, ${count(graph.facts)} facts, ${count(graph.values)} numbers`;
  const answers = model.calibration === "certain" ? "exact answers only" : `answers by ${model.name}`;
  return `${numbers} · ${answers} · version ${version}`;
}

async function show(place, { back }) {
  const own = ++turn;
  const scroll = history.state?.scroll ?? 0;
  showHead(place);
  if (place?.view === "ask") {
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

pastBehind(document.getElementById("past"));
begin(show);
