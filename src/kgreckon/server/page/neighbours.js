/** The neighbours of a thing, drawn once each: what it points to on the right, what only points to it on the left. */

import { drawAtWidth, drawn, element } from "./elements.js";
import { addressOf } from "./router.js";

const MOST = 7; // on each side
const ROW = 46;
const BOX = 36; // the height of a neighbour: its name, and below what the line to it means
const TIP = 7; // the length of an arrow's tip

/**
 * The neighbours on both sides: `{thing, out, back}`, with the labels of the relations from the thing and to it. The
 * first things of each relation in turn, until there are enough, with those of a relation together.
 */
function chosen(groups) {
  const known = new Map();
  for (const [place, { things, inverse, label }] of groups.entries()) {
    for (const thing of things) {
      const one = known.get(thing.name) ?? { thing, place, out: [], back: [] };
      known.set(thing.name, one);
      one[inverse ? "back" : "out"].push(label);
    }
  }
  const sides = [[], []];
  const rounds = Math.max(0, ...groups.map(({ things }) => things.length));
  for (let round = 0; round < rounds; round += 1) {
    for (const { things } of groups) {
      const one = known.get(things[round]?.name);
      const side = sides[Number(one?.out.length > 0)];
      if (one && side.length < MOST && !side.includes(one)) side.push(one);
    }
  }
  return sides.map((side) => side.sort((one, other) => one.place - other.place));
}

const cut = (text, room) => (text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text);

/** An arrow's tip at a place, pointing to the right or to the left. */
function tip(x, y, direction) {
  const back = x - TIP * direction;
  return drawn("path", { class: "tip", d: `M${x} ${y}L${back} ${y - 3.6}L${back} ${y + 3.6}Z` });
}

function picture(label, sides, width) {
  const rows = Math.max(...sides.map((side) => side.length), 1);
  const height = rows * ROW + 16;
  const middle = height / 2;
  const box = Math.min(200, width * 0.36);
  const room = Math.floor((width - 2 * box - 60) / 8.2);
  const centre = 16 + 8 * cut(label, room).length;
  const svg = drawn("svg", {
    class: "neighbours",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "group",
    "aria-label": `${label} and its neighbours`,
  });
  for (const [place, side] of sides.entries()) {
    const direction = place ? 1 : -1;
    const [left, outer] = place ? [width - box, width - box] : [0, box];
    const inner = width / 2 + (direction * centre) / 2;
    const top = middle - (side.length * ROW) / 2;
    for (const [row, { thing, out, back }] of side.entries()) {
      const y = top + row * ROW + ROW / 2;
      const bend = (outer + inner) / 2;
      const [start, end] = [inner + direction * (back.length ? TIP : 0), outer - direction * (out.length ? TIP : 0)];
      const meaning = [...new Set([...out, ...back])].join(", ");
      svg.append(
        drawn("path", { class: "edge", d: `M${start} ${middle}C${bend} ${middle} ${bend} ${y} ${end} ${y}` }),
        ...(out.length ? [tip(outer, y, direction)] : []),
        drawn(
          "a",
          { href: addressOf("thing", thing.name) },
          drawn("title", {}, `${thing.label}, ${meaning}`), // its name for those who hear it
          drawn("rect", { x: left, y: y - BOX / 2, width: box, height: BOX, rx: 10 }),
          drawn("text", { x: left + box / 2, y: y - 2, "aria-hidden": "true" }, cut(thing.label, Math.floor(box / 8))),
          drawn("text", { class: "meaning", x: left + box / 2, y: y + 12, "aria-hidden": "true" }, cut(meaning, Math.floor(box / 6.2))),
        ),
      );
    }
    if (side.some(({ back }) => back.length)) svg.append(tip(inner, middle, -direction));
  }
  svg.append(
    drawn("rect", { class: "self", x: width / 2 - centre / 2, y: middle - 15, width: centre, height: 30, rx: 15 }),
    drawn("text", { class: "self", x: width / 2, y: middle + 5 }, cut(label, room)),
  );
  return svg;
}

/** The drawing of a thing with some of the facts around it; null where it has none. */
export function neighbours({ label, facts }) {
  const sides = chosen(facts);
  if (!sides.flat().length) return null;
  const area = element("div", { class: "neighbours-area" });
  drawAtWidth(area, (width) => picture(label, sides, width));
  return area;
}
