/** The part of the world that a map shows: it goes round the world, but not over a pole. */

import { xOf, yOf } from "./land.js";

export const SHAPE = 0.56; // height by width, which shows the world from Spitsbergen to Cape Horn
const TOP = yOf(80);
const BOTTOM = yOf(-60);
const CLOSEST = 3; // degrees of longitude in the width
const ALONE = 24; // degrees around what is alone

export const between = (value, low, high) => Math.min(Math.max(value, low), high);

/** The smallest arc of longitudes around some, as its western end and its width: the way round may be shorter. */
function arcOf(longitudes) {
  const sorted = [...longitudes].sort((one, other) => one - other);
  const gaps = sorted.map((one, place) => (sorted[place + 1] ?? sorted[0] + 360) - one);
  const widest = gaps.indexOf(Math.max(...gaps));
  return [sorted[(widest + 1) % sorted.length], 360 - gaps[widest]];
}

/** The part of the map that holds all marks, with room around: its centre, width and height. */
export function around(marks) {
  const world = { x: 0, y: (TOP + BOTTOM) / 2, width: 360, height: BOTTOM - TOP };
  if (!marks.length) return world;
  const [west, width] = arcOf(marks.map(({ longitude }) => longitude));
  const heights = marks.map(({ latitude }) => yOf(latitude));
  const [top, bottom] = [Math.min(...heights), Math.max(...heights)];
  const close = {
    x: west + width / 2,
    y: (top + bottom) / 2,
    width: Math.max(ALONE, width * 1.3),
    height: Math.max(ALONE * SHAPE, (bottom - top) * 1.3),
  };
  return close.width > 200 ? world : close;
}

/** Where names fit beside their marks, without covering a mark or another name: the first have the choice. */
export function placed(points, width, height) {
  const taken = points.map(({ x, y }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
  const free = (box) =>
    box.left > 2 && box.right < width - 2 && box.top > 2 && box.bottom < height - 2 &&
    taken.every((other) => box.right < other.left || box.left > other.right || box.bottom < other.top || box.top > other.bottom);
  return points.map(({ x, y, letters }) => {
    const long = letters * 7 + 4;
    for (const [side, left] of [["after", x + 7], ["before", x - 7 - long]]) {
      const box = { left, right: left + long, top: y - 8, bottom: y + 8 };
      if (!free(box)) continue;
      taken.push(box);
      return side;
    }
    return null;
  });
}

/** What is in the middle of a map, and how many pixels a degree has. */
export class View {
  constructor(start, width, height) {
    Object.assign(this, { width, height });
    this.least = width / 360;
    this.most = width / CLOSEST;
    this.show(start);
  }

  show({ x, y, width, height }) {
    this.set(x, y, Math.min(this.width / width, this.height / height));
  }

  set(x, y, scale) {
    this.scale = between(scale, this.least, this.most);
    const half = this.height / this.scale / 2;
    this.y = between(y, Math.min(yOf(85) + half, 0), Math.max(yOf(-85) - half, 0));
    this.x = x - 360 * Math.round(x / 360);
  }

  /** Zoom, and leave the place at these pixels where it is. */
  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const before = this.scale;
    const scale = between(before * factor, this.least, this.most);
    const [east, south] = [left - this.width / 2, top - this.height / 2];
    this.set(this.x + east / before - east / scale, this.y + south / before - south / scale, scale);
    return scale !== before;
  }

  move(left, top) {
    this.set(this.x - left / this.scale, this.y - top / this.scale, this.scale);
  }

  /** The pixels of a place, on that side of the world which is nearer to the middle. */
  pixels({ longitude, latitude }) {
    const east = xOf(longitude) - this.x;
    const nearer = east - 360 * Math.round(east / 360);
    return { x: this.width / 2 + nearer * this.scale, y: this.height / 2 + (yOf(latitude) - this.y) * this.scale };
  }

  get transform() {
    const [left, top] = [this.width / 2 - this.x * this.scale, this.height / 2 - this.y * this.scale];
    return `translate(${left} ${top}) scale(${this.scale})`;
  }
}
