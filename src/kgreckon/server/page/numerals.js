/** Numbers as people write them. */

const CALENDAR = new Set(["date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"]);
const DATATYPES = "integer decimal float double int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger unsignedInt unsignedLong unsignedShort unsignedByte".split(" ");
const UNSAID = new Set(["number", "", null, undefined, ...CALENDAR, ...DATATYPES]);
const full = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 15 });
const fine = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const counts = new Intl.NumberFormat("en");

/** Whether numbers of this unit are years. */
export const isCalendar = (unit) => CALENDAR.has(unit);

/** A count: 10,829. */
export const count = (value) => counts.format(value);

/** A count with its noun: `1 answer`, `9 answers`. */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** A measured number without its unit: 1,411,778,724; 43.06; 0.00312; a year as 1927. */
export function measured(value, unit) {
  if (isCalendar(unit)) return String(Math.floor(value));
  return Math.abs(value) < 1 && value !== 0 ? fine.format(value) : full.format(value);
}

/** A number to the digits that matter in a summary: 129,400; 1,618,000; 43.06; a year as 1927. */
export function rough(value, unit, digits = 4) {
  return isCalendar(unit) ? String(Math.floor(value)) : new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** A unit with the space before it, where it says something. */
export const unitOf = (unit) => (UNSAID.has(unit) ? "" : ` ${unit}`);

/** A measured number with its unit, where the unit says something. */
export function withUnit(value, unit) {
  return UNSAID.has(unit) ? measured(value, unit) : `${measured(value, unit)} ${unit}`;
}

/** A number as the graph states it, with its unit: all its digits, a date as `text` writes it. */
export function stated({ value, unit, text }) {
  const number = isCalendar(unit) ? text : exact.format(value);
  return UNSAID.has(unit) ? number : `${number} ${unit}`;
}

/** A number short enough for an axis: 1.4B, 250K, 43.1. */
export function short(value, unit) {
  if (isCalendar(unit)) return String(Math.floor(value));
  return Math.abs(value) >= 10000 ? compact.format(value) : fine.format(value);
}

/** A probability as a percentage that never claims certainty it does not have. */
export function percent(probability) {
  if (probability >= 0.9995) return probability >= 1 - 1e-9 ? "100 %" : "> 99.9 %";
  if (probability < 0.001) return "< 0.1 %";
  return `${(100 * probability).toFixed(probability < 0.1 || probability > 0.99 ? 1 : 0)} %`;
}

/** A number with three significant digits, as Python's `.3g` writes it: 0.25, 1.2e-05. */
export function significant(value) {
  if (value === 0) return "0";
  const [digits, power] = value.toExponential(2).split("e").map(Number);
  if (power >= -4 && power < 3) return String(Number(value.toPrecision(3)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** The number or date that someone typed: a number where it is one, else the trimmed text. */
export function typedNumber(text) {
  const plain = text.trim().replace(/^([-+]?\d{1,3}(?:,\d{3})+)(?=\.|$)/, (digits) => digits.replaceAll(",", ""));
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : plain;
}
