/** The question in its four forms, kept in step: whoever edits one, the server writes the others. */

import * as api from "./api.js";
import { typedNumber } from "./numerals.js";
import * as trees from "./tree.js";

const PAPER = /^\s*\(\s*[a-z]*\s*,\s*\(/;
const SPARQL = /^\s*(#.*\n\s*)*(SELECT|PREFIX|BASE|ASK)\b/i;
const PAUSE = 250; // milliseconds of silence before what is typed is read

const noProblems = () => ({ words: null, builder: null, paper: null, sparql: null });

/** The form in which a text is written: as the server tells them apart. */
const notationOf = (text) => (PAPER.test(text) ? "paper" : SPARQL.test(text) ? "sparql" : "words");

/** Calls `changed` when a form, a problem or the words change. */
export class Question extends EventTarget {
  constructor() {
    super();
    this.clear();
  }

  /** No question at all. */
  clear() {
    this.draft = { sort: "entities", tree: trees.noConditions() };
    this.texts = { words: "", paper: "", sparql: "" };
    this.problems = noProblems();
    this.onlyInWords = []; // what the other forms leave out
    this.units = [];
    this.source = "words"; // the form that was edited last
    this.turn = (this.turn ?? 0) + 1;
    this.canonical = null; // the question in words, as the server writes it
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

  /** Someone types in words, in the paper's notation or in SPARQL. */
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
    const source = notationOf(text);
    this.draft = { sort: "entities", tree: trees.noConditions() };
    this.texts = { words: "", paper: "", sparql: "", [source]: text };
    this.begin(source);
    const { turn } = this;
    await this.translate();
    if (turn !== this.turn || !this.inStep || source !== "paper") return;
    this.texts = this.written; // words say whatever the paper's notation does
    this.source = "words";
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

  take({ tree, paper, sparql, words, only_in_words, units }) {
    const typed = this.source === "builder" ? {} : { [this.source]: this.texts[this.source] };
    this.written = { words, paper, sparql: sparql ?? "" };
    this.texts = { ...this.written, ...typed };
    if (this.source !== "builder") this.draft = trees.draftOf(tree);
    this.problems = noProblems();
    this.canonical = words;
    this.onlyInWords = only_in_words;
    this.units = units ?? [];
  }

  /** The question for an address: in words, as they were typed where they were. */
  get address() {
    return this.source === "words" ? this.texts.words.trim() : this.canonical;
  }

  /** Whether all forms say the same, as far as they can. */
  get inStep() {
    return !this.pending && this.lacking.length === 0 && !this.problems[this.source] && Boolean(this.canonical);
  }
}
