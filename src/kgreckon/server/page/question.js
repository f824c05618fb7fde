/** The question in its three forms, kept in step: whoever edits one, the server writes the other two. */

import * as api from "./api.js";
import { typedNumber } from "./numerals.js";
import * as trees from "./tree.js";

const PAUSE = 250; // milliseconds of silence before what is typed is read

/** Calls `changed` when a form, a problem or the words change. */
export class Question extends EventTarget {
  constructor() {
    super();
    this.clear();
  }

  /** No question at all. */
  clear() {
    this.draft = { sort: "entities", tree: trees.noConditions() };
    this.texts = { paper: "", sparql: "" };
    this.problems = { builder: null, paper: null, sparql: null };
    this.words = "";
    this.units = [];
    this.source = "builder"; // the form that was edited last
    this.turn = (this.turn ?? 0) + 1;
    this.canonical = null; // the question in the paper's notation, as the server writes it
    this.wait(false);
    this.tell();
  }

  tell() {
    this.dispatchEvent(new Event("changed"));
  }

  /** The menus changed the draft. */
  editDraft(draft) {
    this.draft = draft;
    this.begin("builder");
    this.wait(this.lacking.length === 0);
    this.tell();
  }

  /** Someone types in the paper's notation or in SPARQL. */
  editText(source, text) {
    this.texts[source] = text;
    this.begin(source);
    this.wait(text.trim() !== "");
    this.tell();
  }

  begin(source) {
    this.source = source;
    this.problems[source] = null;
    this.canonical = null;
    this.turn += 1;
  }

  /** Read what was edited after a pause, or not at all. */
  wait(readable) {
    clearTimeout(this.timer);
    this.pending = readable;
    if (readable) this.timer = setTimeout(() => this.translate(), PAUSE);
  }

  /** Take over a question from a text: an example, a link. */
  async read(text) {
    this.texts = { paper: text, sparql: "" };
    this.begin("paper");
    const { turn } = this;
    await this.translate();
    if (turn !== this.turn || !this.inStep) return;
    this.texts.paper = this.canonical;
    this.tell();
  }

  /** What to send to the server: the form that was edited last. */
  get asked() {
    return this.source === "builder" ? trees.finished(this.draft.tree, typedNumber) : this.texts[this.source];
  }

  /** What the menus still lack, where they were edited last. */
  get lacking() {
    return this.source === "builder" ? trees.lacks(this.draft.tree, this.draft.sort) : [];
  }

  /** Read now what was edited last, where it is not read yet or the server could not be reached. */
  async settled() {
    const problem = this.problems[this.source];
    if (this.pending || (problem && problem.kind !== "wrong")) await this.translate();
  }

  /** Let the server read the form that was edited last; the others follow, or stay where it cannot be read. */
  async translate() {
    clearTimeout(this.timer);
    if (this.lacking.length) return;
    const { turn, source } = this;
    try {
      const read = await api.translate(this.asked);
      if (turn === this.turn) this.take(read);
    } catch (problem) {
      if (turn === this.turn) this.problems[source] = problem;
    }
    if (turn !== this.turn) return;
    this.pending = false;
    this.tell();
  }

  take({ tree, paper, sparql, words, units }) {
    const own = this.source;
    this.texts = {
      paper: own === "paper" ? this.texts.paper : paper,
      sparql: own === "sparql" ? this.texts.sparql : (sparql ?? ""),
    };
    if (own !== "builder") this.draft = trees.draftOf(tree);
    this.problems = { builder: null, paper: null, sparql: null };
    this.canonical = paper;
    this.words = words;
    this.units = units ?? [];
  }

  /** Whether all three forms say the same. */
  get inStep() {
    return !this.pending && this.lacking.length === 0 && !this.problems[this.source] && Boolean(this.canonical);
  }
}
