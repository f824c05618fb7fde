/** Changes on the page of a thing: fields that add, correct and remove what is stated, and what came of it. */

import * as api from "./api.js";
import { combobox } from "./combobox.js";
import { element, spoken } from "./elements.js";
import { linkTo } from "./lists.js";
import { isCalendar, percent, unitOf } from "./numerals.js";
import { later } from "./parts.js";
import { keep, kept } from "./storage.js";

const TOKEN = "kgreckon change token"; // kept until the tab is closed
const NOTICED = 0.005; // a smaller difference between two probabilities is none
const MOST = 12; // predictions that are said to have changed
let made = 0;

// ------------------------------------------------------------------------------------------------------- the token

/** What someone gives as the token for changes; null where nobody does. */
function askForToken(problem) {
  return new Promise((resolve) => {
    const said = element("p", { class: "problem", id: "token-problem", role: "alert" }, problem);
    const field = element("input", {
      type: "password",
      id: "change-token",
      autocomplete: "off",
      "aria-describedby": said.id,
      "aria-invalid": problem ? "true" : null,
    });
    const form = element(
      "form",
      { method: "dialog" },
      element("h2", { id: "token-heading" }, "Changes ask for a token"),
      element("p", {}, "It is in the file that the server was started with. This tab keeps it until it is closed."),
      element("label", { for: field.id }, "Token for changes"),
      field,
      said,
      element(
        "div",
        { class: "actions" },
        element("button", { type: "submit", class: "primary" }, "Go on"),
        element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      ),
    );
    const dialog = element("dialog", { "aria-labelledby": "token-heading" }, form);
    form.addEventListener("submit", () => dialog.close(field.value.trim()));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Make a change with the token; null where nobody gives one. */
async function make(change) {
  for (let problem = ""; ; problem = "This is not the token for changes.") {
    const token = kept("sessionStorage", TOKEN) ?? (await askForToken(problem));
    if (token === null) return null;
    try {
      const counts = await api.change(change, token);
      keep("sessionStorage", TOKEN, token);
      return counts;
    } catch (error) {
      if (error.kind !== "token") throw error;
      keep("sessionStorage", TOKEN, null);
    }
  }
}

// ------------------------------------------------------------------------------------------------- what came of it

const likelyOf = (name) => api.missing(name).catch(() => null);
const isOf = ({ relation, inverse, entity }, own) => (statement) =>
  statement.predicate === relation &&
  statement.subject === (inverse ? entity.name : own) &&
  statement.object === (inverse ? own : entity.name);

/** What was predicted of a thing before a change and is after it, where that differs: `{words, before, after, size}`. */
function differences(own, before, after, { add, remove }) {
  const keyOf = ({ relation, inverse, entity, attribute }) => JSON.stringify([attribute, relation, inverse, entity?.name]);
  const sides = [before, after].map(({ facts, values }) => new Map([...values, ...facts].map((one) => [keyOf(one), one])));
  const told = (one) => {
    if (!one) return "–";
    return one.entity ? percent(one.probability) : `about ${one.text}${unitOf(one.unit)} (${percent(one.chance)})`;
  };
  const chanceOf = (one) => one?.probability ?? one?.chance ?? 0;
  return [...new Set(sides.flatMap((side) => [...side.keys()]))]
    .map((key) => {
      const [was, is] = sides.map((side) => side.get(key));
      const one = was ?? is;
      const stated = (some) => one.entity && some.some(isOf(one, own.name));
      const words = one.entity
        ? [one.inverse ? linkTo("thing", one.entity) : own.label, ` ${one.phrase ?? one.label} `, one.inverse ? own.label : linkTo("thing", one.entity)]
        : linkTo("attribute", { name: one.attribute, label: one.label });
      const size = was && is && was.text !== is.text ? 1 : Math.abs(chanceOf(is) - chanceOf(was));
      return {
        words,
        before: stated(remove) ? "stated" : told(was),
        after: stated(add) ? "stated" : told(is),
        size,
      };
    })
    .filter(({ size }) => size >= NOTICED)
    .sort((one, other) => other.size - one.size);
}

async function changedPredictions(own, before, change) {
  const after = await likelyOf(own.name);
  if (before?.calibration !== "probability" || !after) return null;
  const changed = differences(own, before, after, change);
  if (!changed.length) return element("p", {}, "No prediction about it changes.");
  const title = "Predictions about it that change";
  const rows = changed.slice(0, MOST).map(({ words, before: was, after: is }) =>
    element("tr", {}, element("th", { scope: "row" }, words), element("td", {}, was), element("td", {}, is)),
  );
  const heads = [title, "before", "now"].map((text) => element("th", { scope: "col" }, text));
  return [
    element(
      "table",
      { class: "report" },
      element("caption", { class: "spoken" }, title),
      element("thead", {}, element("tr", {}, heads)),
      element("tbody", {}, rows),
    ),
    changed.some(({ before: was, after: is }) => was === "–" || is === "–") &&
      element("p", { class: "quiet" }, "– : it is not among what is likely."),
  ];
}

// ------------------------------------------------------------------------------------------------------- the fields

/** A field with what is wrong with it below; `tell(message)` says so, and goes there. */
function faulty(field) {
  const input = field.matches("input") ? field : field.querySelector("input");
  const said = element("p", { class: "problem", id: `change-problem-${++made}`, role: "alert" });
  input.setAttribute("aria-describedby", said.id);
  const tell = (...nodes) => {
    said.replaceChildren(...nodes);
    input.setAttribute("aria-invalid", String(nodes.length > 0));
    if (nodes.length) input.focus();
  };
  input.addEventListener("input", () => tell());
  return { field, input, said, tell };
}

/** A field for the name of a thing: one of the graph, or whatever is typed. */
function thingField(label, value = "") {
  let name = null;
  const box = combobox({
    label,
    value,
    placeholder: label.toLowerCase(),
    find: async (text) => [{ choices: (await api.names("entity", text)).names }],
    choose: (choice) => {
      name = choice.name;
    },
    left: (text, choice) => {
      name = choice?.name ?? text.trim();
    },
  });
  const parts = faulty(box);
  return { ...parts, value: () => name ?? parts.input.value.trim(), said: parts.said };
}

/** A field for a number or a date. */
function numberField(label, value = "") {
  const parts = faulty(
    element("input", { type: "text", class: "number", "aria-label": label, autocomplete: "off", spellcheck: "false", value }),
  );
  return { ...parts, value: () => parts.input.value.trim() };
}

/** A field for a relation or an attribute; `chosen({kind, name, label, unit})` is called with what it is, or may be. */
function predicateField(chosen) {
  const find = async (text) => {
    const [relations, attributes] = await Promise.all([api.names("relation", text), api.names("attribute", text)]);
    const forward = relations.names.filter(({ inverse }) => !inverse).map((one) => ({ ...one, kind: "relation" }));
    const numbers = attributes.names.map((one) => ({ ...one, kind: "attribute", unit: one.units[0] }));
    return [
      { title: "Relations", choices: forward },
      { title: "Numbers", choices: numbers },
    ];
  };
  const label = "Relation or attribute";
  return faulty(
    combobox({
      label,
      placeholder: label.toLowerCase(),
      find,
      choose: chosen,
      left: (text, choice) => chosen(choice ?? (text.trim() ? { kind: null, name: text.trim(), label: text.trim() } : null)),
    }),
  );
}

/** Changes to one thing: `refresh(nodes)` shows it anew with `nodes` at its head. */
export class Changing {
  constructor(own, whole, refresh) {
    this.own = own;
    this.whole = whole;
    this.refresh = refresh;
    this.toggle = element(
      "button",
      { type: "button", class: "edit", "aria-pressed": String(whole.classList.contains("editing")) },
      "Edit",
    );
    this.toggle.addEventListener("click", () => {
      const on = whole.classList.toggle("editing");
      this.toggle.setAttribute("aria-pressed", String(on));
      if (on) whole.querySelector(".adding-facts input").focus();
    });
  }

  /** Make a change that `words` describe, and show what came of it; `undone` are the words for taking it back. */
  async perform({ add = [], remove = [], isNew = false }, words, undone = ["Undone: ", ...words]) {
    const before = await likelyOf(this.own.name);
    const counts = await make({ add, remove, new: isNew });
    if (!counts) return;
    api.forget();
    await this.refresh(() => this.outcome({ add, remove }, words, undone, before));
  }

  /** What was changed, what that changes of what is predicted, and the way back. */
  outcome(change, words, undone, before) {
    const problem = element("p", { class: "problem", role: "alert" });
    const undo = async () => {
      try {
        await this.perform({ add: change.remove, remove: change.add }, undone, words);
      } catch (error) {
        problem.textContent = error.message;
      }
    };
    return element(
      "section",
      { class: "changed", "aria-labelledby": "changed-heading" },
      element("h2", { id: "changed-heading", tabindex: -1 }, words),
      later(changedPredictions(this.own, before, change), "Looking at what that changes …"),
      element("div", { class: "actions" }, element("button", { type: "button", onclick: undo }, "Undo"), problem),
    );
  }

  /** Perform, with a mistake said beside the field that it is in, and a way to say that a name is new. */
  async attempt(change, words, fieldOf) {
    try {
      await this.perform(change, words);
    } catch (error) {
      if (!(error instanceof api.Problem)) throw error;
      const [said, isNew] = [error.message.replace(/;? ?if it is new, say so.*$/, ""), / if it is new, say so/.test(error.message)];
      const again = () => this.attempt({ ...change, isNew: true }, words, fieldOf);
      const button = element("button", { type: "button", onclick: again }, "Add it as new");
      fieldOf(error.message).tell(...[`${said} `, isNew && button].filter(Boolean));
    }
  }

  /** The form that adds a fact or a value. */
  form() {
    let [predicate, object] = [null, thingField("Thing or number")];
    const slot = element("span", { class: "slot" }, object.field);
    const told = element("div", {}, object.said);
    const first = predicateField((chosen) => {
      predicate = chosen;
      const isNumber = chosen?.kind === "attribute";
      object = isNumber ? numberField("Value") : thingField(chosen?.kind ? "Thing" : "Thing or number");
      const unit = isNumber && element("span", { class: "unit" }, isCalendar(chosen.unit) ? "as 1999-12-31" : unitOf(chosen.unit));
      slot.replaceChildren(...[object.field, unit].filter(Boolean));
      told.replaceChildren(object.said);
    });
    const submit = (event) => {
      event.preventDefault();
      first.tell();
      object.tell();
      const value = object.value();
      if (!predicate) return first.tell("Choose a relation or an attribute.");
      if (!value) return object.tell(predicate.kind === "attribute" ? "Write a number." : "Choose a thing.");
      const statement = { subject: this.own.name, predicate: predicate.name, object: value };
      const shown = object.input.value.trim();
      const words = ["Added: ", predicate.kind === "attribute" ? this.valueWords(predicate, shown) : this.factWords(predicate, shown)];
      const fieldOf = (message) => (/^unknown (relation|attribute)/.test(message) ? first : object);
      return this.attempt({ add: [statement] }, words, fieldOf);
    };
    return element(
      "form",
      { class: "adding-facts edit-only", novalidate: true, onsubmit: submit, "aria-label": "Add a fact or a value" },
      element(
        "div",
        { class: "condition" },
        element("span", { class: "word name" }, this.own.label),
        first.field,
        slot,
        element("button", { type: "submit" }, "Add"),
      ),
      first.said,
      told,
    );
  }

  factWords({ phrase, label }, other, inverse = false) {
    const ends = [this.own.label, other].map((text) => element("bdi", {}, text));
    return element("span", {}, ends[Number(inverse)], ` ${phrase ?? label} `, ends[1 - Number(inverse)]);
  }

  valueWords({ label }, text) {
    return element("span", {}, `${label} of `, element("bdi", {}, this.own.label), `: ${text}`);
  }

  /** The buttons beside a fact with one other thing. */
  ofFact(group, other) {
    const statement = (name) =>
      group.inverse
        ? { subject: name, predicate: group.relation, object: this.own.name }
        : { subject: this.own.name, predicate: group.relation, object: name };
    return this.tools({
      name: other.label,
      old: statement(other.name),
      now: statement,
      words: (label) => this.factWords(group, label, group.inverse),
      field: () => thingField("Thing", other.label),
    });
  }

  /** The buttons beside a value. */
  ofValue({ attribute, label, value, unit, text }, shown) {
    const old = { subject: this.own.name, predicate: attribute, object: value, unit };
    return this.tools({
      name: label,
      old,
      now: (written) => ({ subject: this.own.name, predicate: attribute, object: written }),
      words: (written) => this.valueWords({ label }, written),
      field: () => numberField(`New value of ${label}${unitOf(unit) && `, in ${unit}`}`, isCalendar(unit) ? text : String(value)),
      shown,
    });
  }

  /** The button that makes a fact of what is likely. */
  stating(fact) {
    const { relation, inverse, entity } = fact;
    const [subject, object] = inverse ? [entity.name, this.own.name] : [this.own.name, entity.name];
    const words = ["Added: ", this.factWords(fact, entity.label, inverse)];
    const button = element("button", { type: "button", class: "why edit-only" }, "It is so", spoken(`: ${entity.label}`));
    button.addEventListener("click", () =>
      this.attempt({ add: [{ subject, predicate: relation, object }] }, words, () => beside(button)),
    );
    return button;
  }

  tools({ name, old, now, words, field, shown = name }) {
    const button = (sign, deed) => element("button", { type: "button", class: "tool", title: deed, "aria-label": `${deed} ${name}` }, sign);
    const [correcting, removing] = [button("✎", "Correct"), button("✕", "Remove")];
    const area = element("span", { class: "tools edit-only" }, correcting, removing);
    removing.addEventListener("click", () =>
      this.attempt({ remove: [old] }, ["Removed: ", words(shown)], () => beside(area)),
    );
    correcting.addEventListener("click", () => this.correct(area.parentElement, { old, now, words, field, correcting }));
    return area;
  }

  /** A field in the place of what is to be corrected. */
  correct(place, { old, now, words, field, correcting }) {
    const before = [...place.childNodes];
    const own = field();
    const leave = () => {
      place.replaceChildren(...before);
      correcting.focus();
    };
    const save = (event) => {
      event.preventDefault();
      if (!own.value()) return own.tell("It cannot be empty: remove it instead.");
      const shown = own.input.value.trim();
      return this.attempt({ remove: [old], add: [now(own.value())] }, ["Corrected: ", words(shown)], () => own);
    };
    const form = element(
      "form",
      { class: "correcting", novalidate: true, onsubmit: save },
      own.field,
      element("button", { type: "submit" }, "Save"),
      element("button", { type: "button", class: "plain", onclick: leave }, "Cancel"),
      own.said,
    );
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) leave();
    });
    place.replaceChildren(form);
    own.input.focus();
    own.input.select();
  }
}

/** Where what is wrong is said after a button that has no field. */
function beside(node) {
  const said = element("span", { class: "problem", role: "alert" });
  return { tell: (...nodes) => { said.replaceChildren(...nodes); node.after(said); } };
}
