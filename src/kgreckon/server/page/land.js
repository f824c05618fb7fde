/** Coasts and borders of the world, from Natural Earth (scripts/make_map.py), as paths on the map. */

const UNITS = 100; // in a degree
const FURTHEST = 85; // degrees of latitude: the projection has no poles
let drawing = null;

/** The place on the map of a longitude: degrees. */
export const xOf = (longitude) => longitude;

/** The place on the map of a latitude, as Mercator has it: what is near each other keeps its shape at any zoom. */
export function yOf(latitude) {
  const angle = (Math.min(Math.max(latitude, -FURTHEST), FURTHEST) * Math.PI) / 180;
  return (-180 / Math.PI) * Math.log(Math.tan(Math.PI / 4 + angle / 2));
}

/** The differences between points, written as Google's "encoded polylines" are. */
function* numbersIn(text) {
  let number = 0;
  let shift = 1;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place) - 63;
    number += (code % 32) * shift;
    shift *= 32;
    if (code < 32) {
      yield number % 2 ? -(number + 1) / 2 : number / 2;
      number = 0;
      shift = 1;
    }
  }
}

function pathOf(text) {
  const numbers = numbersIn(text);
  const points = [];
  let [longitude, latitude] = [0, 0];
  for (const step of numbers) {
    longitude += step;
    latitude += numbers.next().value;
    points.push(`${xOf(longitude / UNITS)} ${yOf(latitude / UNITS).toFixed(3)}`);
  }
  return `M${points.join("L")}`;
}

async function load() {
  const response = await fetch("/page/vendored/world.json");
  if (!response.ok) throw new Error(`the coasts did not come (status ${response.status})`);
  const { land, borders } = await response.json();
  return { land: `${land.map(pathOf).join("Z")}Z`, borders: borders.map(pathOf).join("") };
}

/** The paths of `land` and `borders`, fetched once, when the first map is drawn. */
export function coasts() {
  drawing ??= load().catch((problem) => {
    drawing = null;
    throw problem;
  });
  return drawing;
}
