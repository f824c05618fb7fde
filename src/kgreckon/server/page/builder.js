/** The question as menus: a set of things is a list of conditions, each of which may hold another such set. */

import { combobox } from "./combobox.js";
import { choicesOf, conditionsFor } from "./choices.js";
import { element } from "./elements.js";
import { numbersEditor } from "./numbers.js";
import * as trees from "./tree.js";

const keys = new WeakMap();
let numbered = 0;

/** The name of a control of a node, the same as long as the node lives. */
function keyOf(node, part) {
  if (!keys.has(node)) keys.set(node, ++numbered);
  return `${keys.get(node)}-${part}`;
}

/** The menus in `container`. `changed(draft)` is told of every edit. */
export class Builder {
  constructor(container, info, changed) {
    this.container = container;
    this.info = info;
    this.changed = changed;
    this.draft = { sort: "entities", tree: trees.noConditions() };
    this.render();
  }

  /** Show another draft. */
  show(draft) {
    this.draft = draft;
    this.render();
  }

  /** Draw all controls anew, with the focus on one of them. */
  render(focus = null) {
    this.container.replaceChildren(this.root());
    if (focus) this.container.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  /** After `change` to the draft, draw anew, focus a part of a node, and tell. */
  edit(change, node = null, part = null) {
    change?.();
    this.render(node && keyOf(node, part));
    this.changed(this.draft);
  }

  /** The draft was changed by a control that shows it already. */
  touched() {
    this.changed(this.draft);
  }

  /** Mark what is lacking and put the focus on the first of it. */
  markLacking(lacking) {
    for (const { node, part } of lacking) {
      this.container.querySelector(`[data-key="${keyOf(node, part)}"]`)?.setAttribute("aria-invalid", "true");
    }
    if (lacking.length) this.container.querySelector(`[data-key="${keyOf(lacking[0].node, lacking[0].part)}"]`)?.focus();
  }

  key(node, part) {
    return keyOf(node, part);
  }

  root() {
    const { sort, tree } = this.draft;
    const replace = (node) => { this.draft.tree = node; };
    const target = this.select("What you look for", [["entities", "things"], ["numbers", "numbers"]], sort,
      (wanted) => this.edit(() => this.turnTo(wanted), this.draft, "sort"), keyOf(this.draft, "sort"));
    const editor = sort === "entities" ? this.things(tree, replace, "that") : numbersEditor(this, tree, replace, []);
    return element("div", { class: "set root" }, element("span", { class: "word" }, "I look for"), target, editor);
  }

  /** Look for the numbers of these things, or for the things that numbers were asked of. */
  turnTo(sort) {
    const { tree } = this.draft;
    this.draft.sort = sort;
    if (sort === "numbers") this.draft.tree = this.put_aside ?? trees.valueOf({}, tree);
    else if (tree.op === "value_of") this.draft.tree = tree.of;
    else [this.draft.tree, this.put_aside] = [trees.noConditions(), tree];
    if (sort === "numbers") this.put_aside = null;
  }

  select(label, options, value, change, key = null) {
    const known = options.some(([name]) => name === value) ? options : [...options, [value, value]];
    const nodes = known.map(([name, words]) => element("option", { value: name }, words));
    const node = element("select", { "aria-label": label, "data-key": key, onchange: () => change(node.value) }, nodes);
    node.value = value;
    return node;
  }

  /** A set of things: one that is named, or all that meet conditions. */
  things(node, replace, word = null) {
    const named = node.op === "entity";
    const kind = this.select("Which things", [["named", "the thing"], ["described", word === "that" ? "that …" : "anything that …"]],
      named ? "named" : "described", (wanted) => {
        const other = node.other ?? (wanted === "named" ? trees.noThing() : trees.noConditions());
        other.other = node; // what was there comes back when the choice does
        this.edit(() => replace(other), other, wanted === "named" ? "name" : "add");
      }, keyOf(node, "kind"));
    return [kind, named ? this.thing(node) : this.conditions(node)];
  }

  /** One thing, by name. `context` narrows the choices to what a relation leads to. */
  thing(node, context = {}) {
    return combobox({
      label: "Name of the thing", placeholder: "name of a thing", key: keyOf(node, "name"),
      className: node.name === null ? "open" : "", value: node.label || node.typed || "",
      find: (text) => choicesOf("entity", text, this.contextOf(node) ?? context),
      choose: ({ name, label }) => this.edit(() => Object.assign(node, { name, label, typed: null }), node, "name"),
      typed: (text) => this.edit(() => Object.assign(node, { name: null, label: "", typed: text })),
    });
  }

  /** The relation that a named thing stands under, which tells what things make sense there. */
  contextOf(node) {
    const find = (parent) => {
      if (parent.op === "follow" && parent.of === node && parent.relation !== null) return parent;
      return [parent.of, ...(parent.parts ?? [])].filter(Boolean).map(find).find(Boolean);
    };
    const parent = find(this.draft.tree);
    return parent && { relation: parent.relation, inverse: parent.inverse };
  }

  /** A list of conditions that all hold (or any, for an `or`), and a field to add one. */
  conditions(node) {
    const any = node.op === "or";
    const items = node.parts.map((part, place) => {
      const replace = (other) => { node.parts[place] = other; };
      const remove = element("button", {
        type: "button", class: "remove", "aria-label": "Remove this condition", title: "Remove this condition",
        onclick: () => this.edit(() => node.parts.splice(place, 1), node, "add"),
      }, "✕");
      const word = place === 0 ? null : element("span", { class: "word joint" }, any ? "or" : "and");
      return element("li", {}, word, element("div", { class: "condition" }, this.condition(part, replace)), remove);
    });
    const add = element("li", { class: "add" }, combobox({
      label: items.length ? "Add another condition" : "Add a condition", key: keyOf(node, "add"), className: items.length ? "adding" : "adding open",
      placeholder: items.length ? "add a condition …" : "choose a condition …",
      find: (text) => conditionsFor(any ? null : node, text, any),
      choose: (choice) => this.add(node, choice),
      typed: () => this.render(),
    }));
    return element("ul", { class: "conditions", "aria-label": any ? "any of these conditions" : "all of these conditions" }, items, add);
  }

  /** Add the condition that was chosen from the menu, and go to what it needs next. */
  add(node, choice) {
    const added = choice.make(this.info);
    let [next, part] = [added, "add"];
    if (added.op === "entity") part = "name";
    if (added.op === "follow") [next, part] = [added.of, "name"];
    if (added.op === "having_value") [next, part] = [added.of, "comparison"];
    if (added.op === "not") next = added.of;
    this.edit(() => node.parts.push(added), next, part);
  }

  condition(node, replace) {
    const word = (text) => element("span", { class: "word" }, text);
    switch (node.op) {
      case "entity":
        return [word("is"), this.thing(node)];
      case "follow":
        return [this.relation(node), ...this.things(node.of, (of) => { node.of = of; })];
      case "having_value":
        return [word("whose"), this.attribute(node), word("is"),
          ...[numbersEditor(this, node.of, (of) => { node.of = of; }, node.units ?? [], node)].flat()];
      case "not":
        return [word("is not"), ...this.things(node.of, (of) => { node.of = of; })];
      default:
        return [word(node.op === "or" ? "any of these" : "all of these"), this.conditions(node, replace)];
    }
  }

  relation(node) {
    const words = node.relation === null ? node.typed ?? "" : trees.relationWords(node);
    return combobox({
      label: "Relation", placeholder: "relation", value: words, key: keyOf(node, "relation"),
      className: node.relation === null ? "open" : "",
      find: (text) => choicesOf("relation", text),
      choose: ({ name, shortLabel, phrase, inverse }) => this.edit(
        () => Object.assign(node, { relation: name, label: shortLabel, phrase, inverse, typed: null }), node, "relation"),
      typed: (text) => this.edit(() => Object.assign(node, { relation: null, typed: text })),
    });
  }

  attribute(node, measuredIn = null) {
    return combobox({
      label: "Attribute", placeholder: "attribute", value: node.attribute === null ? node.typed ?? "" : node.label,
      key: keyOf(node, "attribute"), className: node.attribute === null ? "open" : "",
      find: (text) => choicesOf("attribute", text, {}, measuredIn),
      choose: ({ name, label, units }) => this.edit(
        () => Object.assign(node, { attribute: name, label, units, typed: null }), node, "attribute"),
      typed: (text) => this.edit(() => Object.assign(node, { attribute: null, label: "", typed: text })),
    });
  }
}
