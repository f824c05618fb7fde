/** The neighbours of a thing, drawn: what points to it on the left, what it points to on the right. */

import { drawAtWidth, drawn, element } from "./elements.js";
import { addressOf } from "./router.js";

const MOST = 7; // on each side
const ROW = 34;
const NARROW = 460; // below, there is no room for what the lines mean

/** The first things of each relation in turn, until there are enough, with those of a relation together. */
function chosen(groups) {
  const taken = groups.map(() => 0);
  for (let round = 0, total = 0, more = true; more && total < MOST; round += 1) {
    more = false;
    for (const [place, { things }] of groups.entries()) {
      if (total < MOST && things.length > round) {
        taken[place] += 1;
        total += 1;
        more = true;
      }
    }
  }
  return groups.flatMap((group, place) =>
    group.things.slice(0, taken[place]).map((thing, index) => ({
      thing,
      label: index === 0 ? group.label : "",
    })),
  );
}

const cut = (text, room) => (text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text);

function picture(label, sides, width) {
  const rows = Math.max(...sides.map((side) => side.length), 1);
  const height = rows * ROW + 16;
  const middle = height / 2;
  const narrow = width < NARROW;
  const box = Math.min(190, width * (narrow ? 0.3 : 0.27));
  const letters = Math.floor(box / 7.8);
  const svg = drawn("svg", {
    class: "neighbours",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "group",
    "aria-label": `${label} and its neighbours`,
  });
  const centre = Math.min(box, 12 + 8 * cut(label, letters).length);
  for (const [place, side] of sides.entries()) {
    const right = place === 1;
    const top = middle - (side.length * ROW) / 2;
    for (const [row, { thing, label: meaning }] of side.entries()) {
      const y = top + row * ROW + ROW / 2;
      const outer = right ? width - box : box;
      const inner = width / 2 + (right ? centre / 2 : -centre / 2);
      const bend = (outer + inner) / 2;
      const [from, to] = right ? [[inner, middle], [outer, y]] : [[outer, y], [inner, middle]];
      svg.append(
        drawn("path", { class: "edge", d: `M${from[0]} ${from[1]}C${bend} ${from[1]} ${bend} ${to[1]} ${to[0]} ${to[1]}` }),
        drawn(
          "a",
          { href: addressOf("thing", thing.name), "aria-label": thing.label },
          drawn("title", {}, thing.label),
          drawn("rect", { x: right ? width - box : 0, y: y - 12, width: box, height: 24, rx: 12 }),
          drawn("text", { x: right ? width - box / 2 : box / 2, y: y + 4.5 }, cut(thing.label, letters)),
        ),
      );
      if (meaning && !narrow) {
        const room = Math.floor((Math.abs(outer - inner) - 8) / 6);
        const at = right ? outer - 6 : outer + 6;
        svg.append(
          drawn("text", { class: `meaning ${right ? "left" : "right"}-of-it`, x: at, y: y - 5 }, cut(meaning, room)),
        );
      }
    }
  }
  svg.append(
    drawn("rect", { class: "self", x: width / 2 - centre / 2, y: middle - 15, width: centre, height: 30, rx: 15 }),
    drawn("text", { class: "self", x: width / 2, y: middle + 5 }, cut(label, letters)),
  );
  return svg;
}

/** The drawing of a thing with some of the facts around it; null where it has none. */
export function neighbours({ label, facts }) {
  const sides = [facts.filter(({ inverse }) => inverse), facts.filter(({ inverse }) => !inverse)].map(chosen);
  if (!sides.flat().length) return null;
  const area = element("div", { class: "neighbours-area" });
  drawAtWidth(area, (width) => picture(label, sides, width));
  return area;
}
