/** How sure an answer is: what the scores mean, and how far they came true when that was measured. */

import * as api from "./api.js";
import { element } from "./elements.js";
import { count, percent } from "./numerals.js";
import { reportLink } from "./parts.js";

const MEANING = {
  certain: "Every answer is proved by what the graph states.",
  probability:
    "What is observed, the graph proves. What is inferred has a probability: of a hundred answers at 70 %, about seventy should be true.",
  share:
    "What is observed, the graph proves. What is inferred has a share of a total over all candidates: it ranks them, and is no probability.",
};
const BANDS = [
  [0.8, 1],
  [0.4, 0.6],
];

/** How many of the facts that were found so likely were true. */
function measured({ tenths }) {
  return BANDS.flatMap(([low, high]) => {
    const some = tenths.filter((tenth) => tenth.low >= low - 1e-9 && tenth.high <= high + 1e-9);
    const all = some.reduce((sum, { candidates }) => sum + candidates, 0);
    if (!all) return [];
    const right = some.reduce((sum, { candidates, true: share }) => sum + candidates * share, 0) / all;
    return `Of about ${count(all)} facts at ${Math.round(100 * low)} to ${Math.round(100 * high)} %, ${percent(right)} were true.`;
  });
}

async function explained(calibration) {
  const lines = [MEANING[calibration]];
  const { report } = calibration === "probability" ? await api.quality() : { report: null };
  if (report) lines.push(`This was measured on facts that were hidden from the model. ${measured(report).join(" ")}`);
  else if (calibration === "probability") lines.push("How far that holds was not measured for this graph.");
  return [...lines.map((line) => element("p", {}, line)), report && element("p", {}, reportLink())].filter(Boolean);
}

/** Something to open that explains the scores of a model. */
export function howSure(calibration) {
  const area = element("div", {});
  const whole = element("details", { class: "how-sure" }, element("summary", {}, "How sure is that?"), area);
  whole.addEventListener("toggle", async () => {
    if (!whole.open || area.hasChildNodes()) return;
    const said = await explained(calibration).catch((problem) => [element("p", { class: "problem" }, problem.message)]);
    area.replaceChildren(...said);
  });
  return whole;
}
