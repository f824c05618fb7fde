/** The question as menus: a set of things is a list of conditions, each of which may hold another such set. */

import * as api from "./api.js";
import { combobox } from "./combobox.js";
import { choicesOf, conditionsFor } from "./choices.js";
import { element } from "./elements.js";
import { histogram } from "./histogram.js";
import { boundEditor, numbersEditor } from "./numbers.js";
import { later } from "./parts.js";
import { comparisonsOf, rangePicker } from "./picking.js";
import * as trees from "./tree.js";

const TYPING = 500; // milliseconds between two keys of a word
const keys = new WeakMap();
let numbered = 0;

/** The name of a control of a node, the same as long as the node lives. */
function keyOf(node, part) {
  if (!keys.has(node)) keys.set(node, ++numbered);
  return `${keys.get(node)}-${part}`;
}

/** The menus in `container`. `changed(draft)` is called after every edit. */
export class Builder {
  constructor(container, info, changed) {
    this.container = container;
    this.info = info;
    this.changed = changed;
    this.draft = { sort: "entities", tree: trees.noConditions() };
    this.pickers = new WeakMap(); // the histograms of conditions that are open
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

  /** After `change` to the draft, redraw, focus a part of a node, and notify. */
  edit(change, node = null, part = null) {
    change();
    this.render(node && keyOf(node, part));
    this.changed(this.draft);
  }

  /** Mark what is lacking and put the focus on the first of it. */
  markLacking(lacking) {
    for (const { node, part } of lacking) {
      this.container.querySelector(`[data-key="${keyOf(node, part)}"]`)?.setAttribute("aria-invalid", "true");
    }
    if (lacking.length)
      this.container.querySelector(`[data-key="${keyOf(lacking[0].node, lacking[0].part)}"]`)?.focus();
  }

  /** The comparison to begin with. */
  get usualComparison() {
    const { comparisons } = this.info;
    return (
      comparisons.find(({ name }) => name === "GreaterThan") ??
      comparisons[0] ?? { name: "GreaterThan", label: "greater than" }
    );
  }

  /** The name of a control, to find it again after all are drawn anew. */
  key(node, part) {
    return keyOf(node, part);
  }

  root() {
    const { sort, tree } = this.draft;
    const replace = (node) => {
      this.draft.tree = node;
    };
    const target = this.select(
      "What you look for",
      [
        ["entities", "things"],
        ["numbers", "numbers"],
      ],
      sort,
      (wanted) => this.edit(() => this.turnTo(wanted), this.draft, "sort"),
      keyOf(this.draft, "sort"),
    );
    const editor = sort === "entities" ? this.things(tree, replace, true) : numbersEditor(this, tree, replace, []);
    return element("div", { class: "set root" }, element("span", { class: "word" }, "I look for"), target, editor);
  }

  /** Look for the numbers of these things, or for the things that numbers were asked of. */
  turnTo(sort) {
    const { tree } = this.draft;
    if (sort === this.draft.sort) return;
    this.draft.sort = sort;
    if (sort === "numbers") this.draft.tree = this.putAside ?? trees.valueOf({}, tree);
    else if (tree.op === "value_of") this.draft.tree = tree.of;
    else [this.draft.tree, this.putAside] = [trees.noConditions(), tree];
    if (sort === "numbers") this.putAside = null;
  }

  /** A menu of `[value, words]`. What is chosen by typing takes effect after a pause: a redraw would end the typing. */
  select(label, options, value, change, key = null) {
    const known = options.some(([name]) => name === value) ? options : [...options, [value, value]];
    const nodes = known.map(([name, words]) => element("option", { value: name }, words));
    const node = element("select", { "aria-label": label, "data-key": key }, nodes);
    node.value = value;
    let typing = 0; // when a key was last pressed
    let timer = null;
    const settle = () => {
      clearTimeout(timer);
      if (timer !== null) change(node.value);
      timer = null;
    };
    node.addEventListener("keydown", (event) => {
      typing = event.timeStamp;
      if (event.key === "Tab" || event.key === "Enter") settle();
    });
    node.addEventListener("change", (event) => {
      clearTimeout(timer);
      timer = setTimeout(settle, event.timeStamp - typing < 1000 ? TYPING : 0);
    });
    return node;
  }

  /** A text field whose every change is written into the draft by `write`. */
  field(label, value, className, key, write) {
    const node = element("input", {
      type: "text",
      class: className,
      "aria-label": label,
      value,
      autocomplete: "off",
      spellcheck: "false",
      size: Math.max(8, value.length),
      "data-key": key,
      oninput: () => {
        node.removeAttribute("aria-invalid");
        write(node.value);
        this.changed(this.draft);
      },
    });
    return node;
  }

  /** A set of things: one that is named, or all that meet conditions; the list of names offers to describe them. */
  things(node, replace, root = false) {
    const turn = (wanted) => {
      const other = node.other ?? (wanted === "named" ? trees.noThing() : trees.noConditions());
      other.other = node; // what was there comes back when the choice does
      this.edit(() => replace(other), other, wanted === "named" ? "name" : "add");
    };
    if (node.op === "entity") return [this.thing(node, () => turn("described"))];
    const words = [
      ["described", root ? "that …" : "anything that …"],
      ["named", "a thing by its name"],
    ];
    return [this.select("Which things", words, "described", turn, keyOf(node, "kind")), this.conditions(node)];
  }

  /** One thing, by name; `describe` turns it into all that meet conditions. */
  thing(node, describe = null) {
    const instead = describe && { choices: [{ label: "anything that …", detail: "describe it", instead: describe }] };
    return combobox({
      label: "Name of the thing",
      placeholder: "name of a thing",
      key: keyOf(node, "name"),
      className: node.name === null ? "open" : "",
      value: node.label || node.typed || "",
      find: async (text) => {
        const found = await choicesOf("entity", text);
        return text ? [...found, instead].filter(Boolean) : [instead, ...found].filter(Boolean);
      },
      ...this.naming(node, "name", ({ name, label }) => ({ name, label })),
    });
  }

  /** What happens when the name of a node is chosen, or typed and left; then nothing is redrawn: the focus moves on. */
  naming(node, part, fields) {
    return {
      choose: (choice) => this.edit(() => Object.assign(node, fields(choice), { typed: null }), node, part),
      left: (text, choice) => {
        Object.assign(node, choice ? { ...fields(choice), typed: null } : { [part]: null, label: "", typed: text });
        this.changed(this.draft);
      },
    };
  }

  /** A list of conditions that all hold (or any, for an `or`), and a field to add one. */
  conditions(node) {
    const any = node.op === "or";
    const some = node.parts.length > 0;
    const add = combobox({
      label: some ? "Add another condition" : "Add a condition",
      key: keyOf(node, "add"),
      className: some ? "adding" : "adding open",
      placeholder: some ? "+ condition" : "choose a condition …",
      find: (text) => conditionsFor(any ? null : node, text, any),
      value: node.typed ?? "",
      choose: (choice) => this.add(node, choice),
      left: (text) => {
        node.typed = text;
        this.changed(this.draft);
      },
    });
    return this.list(node, any, "condition", (part) => this.condition(part), add);
  }

  /** The parts of an `and` or `or`, each with a button that removes it, and a control that adds one. */
  list(node, any, noun, editor, add) {
    const items = node.parts.map((part, place) => {
      const joint =
        node.parts.length > 1 && element("span", { class: "word joint" }, place === 0 ? "" : any ? "or" : "and");
      const remove = element(
        "button",
        {
          type: "button",
          class: "remove",
          "aria-label": `Remove this ${noun}`,
          title: `Remove this ${noun}`,
          onclick: () => this.edit(() => node.parts.splice(place, 1), node, "add"),
        },
        "✕",
      );
      return element("li", {}, joint, element("div", { class: "condition" }, editor(part, place)), remove);
    });
    const label = `${any ? "any" : "all"} of these ${noun}s`;
    return element("ul", { class: "conditions", "aria-label": label }, items, element("li", { class: "add" }, add));
  }

  /** Add the condition that was chosen from the menu, and go to what it needs next. */
  add(node, choice) {
    const added = choice.make(this.usualComparison);
    let [next, part] = [added, "add"];
    if (added.op === "entity") part = "name";
    if (added.op === "follow") [next, part] = [added.of, "name"];
    if (added.op === "having_value") [next, part] = [added.of, "comparison"];
    if (added.op === "not") next = added.of;
    node.typed = null;
    this.edit(() => node.parts.push(added), next, part);
  }

  condition(node) {
    const word = (text) => element("span", { class: "word" }, text);
    switch (node.op) {
      case "entity":
        return [word("is"), this.thing(node)];
      case "follow":
        return [
          this.relation(node),
          ...this.things(node.of, (of) => {
            node.of = of;
          }),
        ];
      case "having_value":
        return [
          word("whose"),
          this.attribute(node),
          word("is"),
          ...boundEditor(
            this,
            node.of,
            (of) => {
              node.of = of;
            },
            node,
          ),
          ...this.picking(node),
        ];
      case "not":
        return [
          word("is not"),
          ...this.things(node.of, (of) => {
            node.of = of;
          }),
        ];
      default:
        return [word(node.op === "or" ? "any of these" : "all of these"), this.conditions(node)];
    }
  }

  /** A button that opens the attribute's histogram, on which the comparison can be picked, where it is with a number. */
  picking(node) {
    const compared = node.of.op === "compare" ? node.of.of : (node.of.parts?.[0]?.of ?? node.of);
    if (node.attribute === null || compared.op !== "number") return [];
    const open = this.pickers.get(node);
    const isOpen = open?.attribute === node.attribute;
    const toggle = () => {
      if (isOpen) this.pickers.delete(node);
      else this.pickers.set(node, { attribute: node.attribute, area: later(this.pickable(node), "drawing …") });
      this.render(keyOf(node, "pick"));
    };
    const button = element(
      "button",
      { type: "button", class: "plain", "aria-expanded": String(isOpen), "data-key": keyOf(node, "pick"), onclick: toggle },
      isOpen ? "close the histogram" : "pick on a histogram",
    );
    return [button, isOpen && element("div", { class: "pick-area" }, open.area)];
  }

  /** The histogram of a condition's attribute; a range that is picked on it is written into the draft. */
  async pickable(node) {
    const { unit, label, distribution } = await api.attribute(node.attribute);
    const keys = ["low", "high"].map((side) => keyOf(node, side));
    const picked = (range) => {
      const some = comparisonsOf(range, unit, this.info.model.any_comparison).map(({ comparison, of }) => {
        const named = this.info.comparisons.find(({ name }) => name === comparison) ?? { name: comparison, label: comparison };
        return trees.compare(named, { ...trees.noNumber(unit), text: String(of.value) });
      });
      const none = () => trees.compare(this.usualComparison, trees.noNumber(unit));
      const side = document.activeElement?.dataset.key === keys[0] ? "low" : "high";
      this.edit(
        () => {
          node.of = some.length > 1 ? { op: "and", parts: some } : (some[0] ?? none());
        },
        node,
        side,
      );
    };
    return histogram(distribution, null, rangePicker({ unit, label }, { picked, keys }));
  }

  /** The units that an attribute is measured in, where they are known. */
  unitsOf(node) {
    return node.units ?? this.info.unitsOf.get(node.attribute) ?? [];
  }

  relation(node) {
    const words = node.relation === null ? (node.typed ?? "") : trees.relationWords(node);
    return combobox({
      label: "Relation",
      placeholder: "relation",
      value: words,
      key: keyOf(node, "relation"),
      className: node.relation === null ? "open" : "",
      find: (text) => choicesOf("relation", text),
      ...this.naming(node, "relation", ({ name, shortLabel, phrase, inverse }) => ({
        relation: name,
        label: shortLabel,
        phrase,
        inverse,
      })),
    });
  }

  attribute(node, measuredIn = null) {
    return combobox({
      label: "Attribute",
      placeholder: "attribute",
      value: node.attribute === null ? (node.typed ?? "") : node.label,
      key: keyOf(node, "attribute"),
      className: node.attribute === null ? "open" : "",
      find: (text) => choicesOf("attribute", text, measuredIn),
      ...this.naming(node, "attribute", ({ name, label, units }) => ({ attribute: name, label, units })),
    });
  }
}
