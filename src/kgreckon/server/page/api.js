/** The server's JSON interface. Every failure becomes a Problem with words for the user. */

/** What went wrong, in words. `kind` is wrong (the question), token (it is lacking), busy, gone or broken (the server). */
export class Problem extends Error {
  constructor(kind, message, { seconds = null, mistake = null } = {}) {
    super(message);
    this.kind = kind;
    this.seconds = seconds;
    this.mistake = mistake; // of a question in words: where it is, and what may be meant
  }
}

async function request(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "application/json" }, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("gone", "The server does not answer. Is it still running? Your question is kept here.");
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new Problem(
      "broken",
      `The server answered with something this page cannot read (status ${response.status}).`,
    );
  }
  if (response.ok) return body;
  const words = body?.error ?? `status ${response.status}`;
  if (response.status === 503) {
    const seconds = Number(response.headers.get("Retry-After")) || null;
    throw new Problem("busy", `The server is busy: ${words}`, { seconds });
  }
  if (response.status >= 500) throw new Problem("broken", `The server failed: ${words}`);
  throw new Problem(response.status === 401 ? "token" : "wrong", words, { mistake: body?.mistake ?? null });
}

function get(path, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return request(text ? `${path}?${text}` : path, { signal });
}

function post(path, body, more = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json", ...more };
  return request(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const remembered = [];

/** Remember what a function gave for the same arguments until the graph changes; failures are not remembered. */
function remembering(ask) {
  const known = new Map();
  remembered.push(known);
  return (...values) => {
    const key = JSON.stringify(values);
    if (!known.has(key)) {
      if (known.size > 200) known.clear();
      known.set(
        key,
        ask(...values).catch((error) => {
          known.delete(key);
          throw error;
        }),
      );
    }
    return known.get(key);
  };
}

/** Ask for everything anew: the graph has changed. */
export const forget = () => remembered.forEach((known) => known.clear());

export const info = remembering(() => get("/api/info"));
export const overview = remembering(() => get("/api/overview"));
export const places = remembering(() => get("/api/places"));
export const entity = remembering((name) => get("/api/entity", { name }));
export const missing = remembering((name) => get("/api/missing", { name }));
export const facts = remembering((wanted) => get("/api/facts", wanted));
export const near = remembering((name, attribute) => get("/api/near", { name, attribute }));
export const kind = remembering((name) => get("/api/kind", { name }));
export const relation = remembering((name) => get("/api/relation", { name }));
export const ends = remembering((wanted) => get("/api/ends", wanted));
export const attribute = remembering((name) => get("/api/attribute", { name }));
export const quality = remembering(() => get("/api/quality"));
export const values = remembering((wanted) => get("/api/values", wanted));
export const names = remembering((kind, text, limit = 20) => get("/api/names", { kind, text, limit }));
export const propose = remembering((text) => get("/api/propose", { text }));
export const complete = remembering((query) => post("/api/complete", { query }));
export const groups = remembering((query) => post("/api/groups", { query }));
export const translate = (query) => post("/api/translate", { query });
/** Some answers: `look` says which of them, in which order, beside which columns. */
export const ask = (query, limit, look, offset = 0) => post("/api/ask", { query, limit, offset, ...look });
/** The address of all answers as a file. */
export function tableAddress(query, { only, order, descending, above, columns }, format) {
  const quoted = columns.map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(",");
  const given = { query, format, only, order, descending: descending || null, above: above ?? null, columns: quoted || null };
  return `/api/table?${new URLSearchParams(Object.entries(given).filter(([, value]) => value !== null))}`;
}
/** Change the graph, with the token for changes. */
export const change = (body, token) => post("/api/change", body, { Authorization: `Bearer ${token}` });
/** Why something is an answer: an entity by its name, a number by its value and unit. */
export const explain = (query, { name, value, unit }) =>
  post("/api/explain", value === null ? { query, answer: name } : { query, answer: value, unit });
