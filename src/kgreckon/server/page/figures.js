/** The figures of some answers: what to draw is chosen by what the answers are. */

import { element } from "./elements.js";
import { mapKey, worldMap } from "./map.js";
import { addressOf } from "./router.js";

/** Draw the answers of `/api/ask` that are on show into `area`, or nothing where there is nothing to draw. */
export function figures({ answers, places }, area) {
  area.replaceChildren(...[mapOf(answers, places)].filter(Boolean));
}

function mapOf(answers, places) {
  const marks = answers
    .filter(({ name }) => Object.hasOwn(places, name))
    .map(({ name, label, observed }) => {
      const [latitude, longitude] = places[name];
      return { label, href: addressOf("thing", name), observed, latitude, longitude };
    });
  if (!marks.length) return null;
  return element(
    "figure",
    { id: "map" },
    element("figcaption", {}, "Where the listed answers are"),
    worldMap(marks, { label: "Map of the answers" }),
    mapKey(marks),
  );
}
