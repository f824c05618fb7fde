"""Writing a question in words, such that reading gives it back.

What reads well is written first and read back; where a name or a nesting would be misread, names are put in quotes and
parts in brackets, which is always read as it is meant.
"""

from __future__ import annotations

from itertools import product

from kgreckon.errors import UserError
from kgreckon.query.algebra import (
    And,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    ValueOf,
    nodes,
    plain_number,
)
from kgreckon.query.datatypes import CALENDAR
from kgreckon.query.question import Aggregate, Near, Question, Sorting
from kgreckon.query.terms import Calculated, Term, of_thing
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.within import hole
from kgreckon.query.words.calculating import comparison_words, term_words
from kgreckon.query.words.cursor import Cursor, is_numbers
from kgreckon.query.words.grammar import read_question
from kgreckon.query.words.inflection import base_form, of_class, ordinal, plural
from kgreckon.query.words.lexicon import lexicon_of, tightest
from kgreckon.query.words.measures import OPPOSITE, is_anything
from kgreckon.query.words.numerals import NumberWriter, is_open
from kgreckon.query.words.strict import StrictWriter, comparing, quoted

_TOTALS = {
    Aggregate.SUM: "total", Aggregate.MEAN: "average", Aggregate.MEDIAN: "median", Aggregate.MINIMUM: "minimum",
    Aggregate.MAXIMUM: "maximum",
}  # fmt: skip


def sentence(question: Query | Question, vocabulary: Vocabulary) -> str:
    """The question in words that a person would use and that read back as the same."""
    whole = question if isinstance(question, Question) else Question(question)
    if whole.said is not None:
        whole = whole.said.question
    if whole.is_plain:
        whole = Question(whole.query)  # how many answers are shown is not a part of what is asked
    lexicon = lexicon_of(vocabulary)
    for always_quoted, form in product((False, True), _NEAR if whole.near or whole.where else _NEAR[:1]):
        text = _asked(whole, _Writer(lexicon, always_quoted, whole.inner), form)
        if _reads_back(text, whole, vocabulary):
            return text
    return _asked(whole, StrictWriter(vocabulary, whole.inner))


def inner_words(question: Question, vocabulary: Vocabulary) -> list[str]:
    """What the inner questions of a question ask for: `the country with the smallest area`."""
    writer = _Writer(lexicon_of(vocabulary), False, question.inner)
    return [writer.entity(hole(number).entity).strip("()") for number in range(len(question.inner))]


def _reads_back(text: str, question: Question, vocabulary: Vocabulary) -> bool:
    try:
        return read_question(text, vocabulary) == question
    except UserError:
        return False


_NEAR = ("{} {}", "{}, {}", "({}) {}")  # how a distance may stand after what it is asked of: the last is always read


def _asked(question: Question, writer: _Writer | StrictWriter, form: str = _NEAR[-1]) -> str:
    things = writer.things(question.query)
    if question.skip and isinstance(writer, _Writer):
        things = writer.singular(question.query) or things
    if question.where:
        terms = (comparison_words(each, writer, writer.vocabulary.write_number) for each in question.where)
        things = form.format(things, " and ".join(f"with {each}" for each in terms))
    if question.near is not None:
        ends = question.query, question.near.of
        if all(isinstance(end, Entity) for end in ends) and question == Question(ends[0], near=Near(ends[1])):
            return f"the distance between {things} and {writer.things(question.near.of)}"
        things = form.format(things, _distance(question, question.near, writer))
    match question.aggregate:
        case None if question.columns:
            names = [writer.attribute(one) for one in question.columns]
            things = f"the {', '.join(names[:-1])} and {names[-1]} of {things}"
            return _sorted(things, question.sorting, question.limit, writer)
        case None if question.skip:
            bare = question.near is None and not question.where and things == writer.things(question.query)
            return _at_a_place(question, f"({things})" if bare else things, writer)
        case None:
            plain = question.near is None and not question.where  # which stand in brackets already
            bracketed = plain and question.sorting is not None and isinstance(writer, StrictWriter)
            return _sorted(f"({things})" if bracketed else things, question.sorting, question.limit, writer)
        case Aggregate.COUNT:
            return f"how many {_in_plural(things)}"
        case Aggregate.WHETHER:
            if question.near is not None and isinstance(question.query, Entity) and not question.where:
                return f"whether {writer.things(question.query)} is {_distance(question, question.near, writer)}"
            said = writer.whether(question.query) if isinstance(writer, _Writer) else None
            return f"are there {things}" if said is None or question.where or question.near else said
    assert question.of is not None
    if question.aggregate is Aggregate.VALUE:
        return term_words(_of_one(question), writer, writer.vocabulary.write_number)
    return f"{_TOTALS[question.aggregate]} {_measure(question.of, writer)} of {things}"


def _in_plural(things: str) -> str:
    return "things" if things == "anything" else things


def _of_one(question: Question) -> Term:
    """The term of a value, with its one thing named."""
    assert isinstance(question.of, Calculated) and isinstance(question.query, Entity)
    return of_thing(question.of, question.query.entity)


def inner_question(question: Question, writer: _Writer | StrictWriter) -> str:
    """A question within another: `the country with the smallest area`, or `(top 3 cities in Japan by population)`."""
    sorting, near = question.sorting, question.near
    one = writer.singular(question.query) if isinstance(writer, _Writer) and question.limit == 1 else None
    if one is not None and not question.where and not question.columns:
        if near is not None and sorting is None and near.within is None and not question.skip:
            return f"(the {one} {_distance(question, near, writer)})"
        if near is None and sorting is not None and sorting.nearest is None and isinstance(sorting.attribute, int):
            word = _superlative(sorting, writer)
            word = f"{ordinal(question.skip + 1)} {word}" if question.skip else word
            return f"(the {one} with the {word} {writer.attribute(sorting.attribute)})"
    return f"({_asked(question, writer)})"


def _distance(question: Question, near: Near, writer: _Writer | StrictWriter) -> str:
    """`within 300 km of Rome`; a limit without another order is that of the nearest ones."""
    of = writer.things(near.of)
    if not isinstance(near.of, Entity) and isinstance(writer, StrictWriter):
        of = f"({of})"
    if near.within is None:
        return f"nearest to {of}"
    kilometres = plain_number(float(f"{near.within / 1000:.15g}"))
    whole = near.within >= 1000 and "e" not in kilometres and round(float(kilometres) * 1000, 6) == near.within
    return f"within {f'{kilometres} km' if whole else f'{plain_number(near.within)} m'} of {of}"


def _measure(of: int | Calculated, writer: _Writer | StrictWriter) -> str:
    return writer.attribute(of) if isinstance(of, int) else term_words(of, writer, writer.vocabulary.write_number)


def _superlative(sorting: Sorting, writer: _Writer | StrictWriter) -> str:
    by = sorting.attribute
    is_date = isinstance(by, int) and writer.vocabulary.attribute_unit(by) in CALENDAR
    most, least = ("latest", "earliest") if is_date else ("largest", "smallest")
    return most if sorting.descending else least


def _at_a_place(question: Question, things: str, writer: _Writer | StrictWriter) -> str:
    """One answer in the middle of an order: `the 2nd largest country by area`."""
    place, sorting = ordinal(question.skip + 1), question.sorting
    if sorting is None or sorting.nearest is not None:
        return f"the {place} {_sorted(things, sorting, None, writer)}"
    return f"the {place} {_superlative(sorting, writer)} {things} by {_measure(sorting.attribute, writer)}"


def _sorted(things: str, sorting: Sorting | None, limit: int | None, writer: _Writer | StrictWriter) -> str:
    things = _in_plural(things)
    if sorting is None:
        return things if limit is None else f"top {limit} {things}"
    by = f"{things} by {_measure(sorting.attribute, writer)}"
    if sorting.nearest is not None:
        by += f" nearest to {writer.value(sorting.nearest).removeprefix('= ')}"
        return by if limit is None else f"top {limit} {by}"
    if limit is None:
        return f"{by} {'descending' if sorting.descending else 'ascending'}"
    return f"{'top' if sorting.descending else 'bottom'} {limit} {by}"


_INEQUALITIES = (Order.LESS, Order.GREATER, Order.AT_MOST, Order.AT_LEAST)
ANYTHING_AT_ALL = Or((Entity(0), Not(Entity(0))))


class _Writer(NumberWriter):
    """Writes sets as noun phrases, and what is true of their members as what follows a noun."""

    # ------------------------------------------------------------------------------------------------------- names

    def entity(self, entity: int) -> str:
        """The label of an entity where it is read as this one, else its name, in quotes where they are needed."""
        if entity < 0:
            return inner_question(self.inner[-1 - entity], self)
        if not self.always_quoted:
            for text in (self.vocabulary.entity_label(entity), self.vocabulary.entity_name(entity)):
                if self._is_plain(text, entity):
                    return text
        name, label = self.vocabulary.entity_name(entity), self.vocabulary.entity_label(entity)
        return quoted(label if tuple(self.vocabulary.entities_called(label)) == (entity,) else name)

    def _is_plain(self, text: str, entity: int) -> bool:
        cursor = Cursor(text, self.lexicon)
        count = len(cursor.tokens)
        if not count or cursor.entity_at(0) != ([entity], count) or text.startswith(('"', "#", "(")):
            return False
        return cursor.class_at(0)[1] < count and cursor.span(0, count) == text and not text[-1:].isspace()

    def _noun(self, relation: int) -> str | None:
        """The noun that leads along a relation."""
        words = self.lexicon.relations[relation >> 1]
        if words.noun is None or words.backwards != bool(relation & 1):
            return None
        meanings = self.lexicon.nouns.get(words.noun.casefold(), [])
        if len(meanings) == 1:
            return words.noun
        return f"relation {quoted(self.vocabulary.relation_name(relation & ~1))}" if not relation & 1 else None

    def _kind(self, query: Query) -> str | None:
        """The plural noun of a class."""
        if not (isinstance(query, Follow) and query.relation == self.lexicon.is_a and isinstance(query.of, Entity)):
            return None
        label = self.vocabulary.entity_label(query.of.entity)
        for some in (of_class(label), plural(label)):
            cursor = Cursor(some, self.lexicon)
            if cursor.class_at(0) == (query.of.entity, len(cursor.tokens)):
                return some
        return None

    def singular(self, query: Query) -> str | None:
        """The words of a set with its class in the singular: `country in Africa`."""
        kind, *further = query.parts if isinstance(query, And) else (query,)
        if self._kind(kind) is None or not isinstance(kind, Follow) or not isinstance(kind.of, Entity):
            return None
        label = self.vocabulary.entity_label(kind.of.entity)
        noun = label[:1].lower() + label[1:] if label[1:].islower() else label
        return noun + (self._said(tuple(further), False, True) if further else "")

    def value(self, query: Query, inside: bool = False, usual: str | None = None) -> str:
        """A condition on a number; what is not at most some one's is more than every one's."""
        match query:
            case Not(Compare(Comparison(order, factor, 0.0), ValueOf(attribute, of))) if order in _INEQUALITIES:
                if (one := self.singular(of)) is not None:
                    other = Comparison(OPPOSITE[order], factor)
                    return comparing(other, f"the {self.attribute(attribute)} of every {one}")
        return super().value(query, inside, usual)

    def _kinds(self, query: Query) -> str | None:
        """The plural noun of a class, or of several."""
        if not isinstance(query, Or) or len(query.parts) < 2:
            return self._kind(query)
        nouns = [self._kind(part) for part in query.parts]
        return " or ".join(map(str, nouns)) if all(nouns) else None

    # ------------------------------------------------------------------------------------------------ noun phrases

    def things(self, query: Query, nested: bool = False) -> str:
        """A set as a noun phrase."""
        some = ("someone" if self._is_person(query) else "something") if nested else "things"
        if is_numbers(query):
            return self.numbers(query)
        if (kind := self._kind(query)) is not None:
            return kind
        match query:
            case Entity(entity):
                return self.entity(entity)
            case Follow(relation, of) if (noun := self._noun(relation)) is not None:
                return f"the {noun if isinstance(of, Entity) else plural(noun)} of {self.things(of, True)}"
            case And((part,)) | Or((part,)):
                return f"{'all' if isinstance(query, And) else 'any'} of ({self.things(part)})"
            case And(parts):
                kind = self._kinds(parts[0])
                said = self._said(parts[1:] if kind else parts, kind is not None or not nested, not nested)
                return f"{kind or some}{said}"
            case Or((Entity(0), Not(Entity(0)))):
                return "anything"
            case Or(parts):
                if all(self._kind(part) or isinstance(part, Entity) for part in parts):
                    return " or ".join(self.things(part) for part in parts)
                predicates = [self._predicate(part, not nested, part is parts[-1]) for part in parts]
                if all(text is not None for text in predicates):
                    return f"{some} that {' or '.join(map(str, predicates))}"
                return " or ".join(self._in_brackets(part) for part in parts)
            case Follow(relation, of) if relation % 2 == 0 and not self.lexicon.relations[relation >> 1].backwards:
                verb = self.lexicon.relations[relation >> 1].verb
                assert verb is not None  # without a verb there is a noun
                return f"what {self._in_brackets(of)} {_agreeing(verb, not isinstance(of, Entity))}"
            case Follow(relation, of) if relation % 2 == 0 and not isinstance(of, Entity):  # its noun is another's too
                return f"the relation {quoted(self.vocabulary.relation_name(relation))} of {self.things(of, True)}"
        return f"{some}{self._said((query,), not nested, not nested)}"

    def _is_person(self, query: Query) -> bool:
        """Whether it is said of things that they were born, or died."""
        parts = query.parts if isinstance(query, And) else (query,)
        lived = [one for word in ("born", "died") for one in self.lexicon.dated.get(word, ())]
        return any(isinstance(part, HavingValue) and part.attribute in lived for part in parts)

    def _in_brackets(self, query: Query) -> str:
        return self.entity(query.entity) if isinstance(query, Entity) else f"({self.things(query)})"

    def _object(self, query: Query, last: bool) -> str:
        """What a verb is about: in brackets where what follows would be taken for a part of it."""
        return self.things(query, True) if last or not is_open(query) else self._in_brackets(query)

    def whether(self, query: Query) -> str | None:
        """What is said of one thing: `whether Paris is in France`."""
        match query:
            case And((Entity(entity), *parts)) if parts:
                said = (
                    self._predicate(part, False, part is parts[-1]) or f"is {self._in_brackets(part)}" for part in parts
                )
                return f"whether {self.entity(entity)} {' and '.join(said)}"
        return None

    # -------------------------------------------------------------------------------------------------- conditions

    def _said(self, parts: tuple[Query, ...], many: bool, outer: bool) -> str:
        """What is said about a noun, after it: a comma begins what is about the outermost noun again."""
        text, before, is_open = "", "", False
        for place, part in enumerate(parts):
            word, said = self._condition(part, many, outer or place == len(parts) - 1)
            shown = f"{word} " if word != "in" else ""
            if not before:
                text += f" {shown}{said}"
            elif outer and is_open:
                again = word == before and word in ("with", "that")
                text += f", and {said}" if again else f", {'and ' if word == before else ''}{shown}{said}"
            elif word == before and word in ("with", "that"):
                text += f" and {said}"
            elif before == "in" and word != "in":
                text += f" {shown}{said}"
            else:
                text += f"{', ' if outer and word != before else ' and '}{shown}{said}"
            before, is_open = word, _ends_openly(part)
        return text

    def _condition(self, query: Query, many: bool, last: bool) -> tuple[str, str]:
        """A condition: the word before it (`that`, `with`, `without`, `whose`, `in` for none), and the rest."""
        match query:
            case HavingValue(attribute, of):
                dated = self._dated(attribute, of)
                return ("in", dated) if dated is not None else ("with", self._having(attribute, of))
            case Not(HavingValue(attribute, of)):
                own = self.attribute(attribute)
                return "without", own if is_anything(of) else self._having(attribute, of)
            case Follow(relation, of) if not self._kind(query):
                words = self.lexicon.relations[relation >> 1]
                if relation & 1 and words.verb is not None:
                    named = of.parts if isinstance(of, Or) else (of,)
                    if all(isinstance(one, Entity) and self._is_in(relation, one.entity) for one in named):
                        return "in", f"in {self.things(of)}"
                    first, _, rest = words.verb.partition(" ")
                    if base_form(first) == "be" and rest.split(" ")[0] not in ("a", "an", "the"):
                        return "in", f"{rest} {self._object(of, last)}"
                elif (noun := self._noun(relation ^ 1)) is not None:
                    if of == ANYTHING_AT_ALL and not words.backwards:
                        return "with", f"known {noun}"
                    if words.backwards:
                        return "whose", f"{noun} is {self._object(of, last)}"
                    return "with", f"{noun} {self._object(of, last)}"
            case Not(Follow() as inner) if not self._kind(inner):
                word, said = self._condition(inner, many, last)
                if word == "in":
                    return "in", f"not {said}"
                if word == "with":
                    return "without", said.removeprefix("known ") if inner.of == ANYTHING_AT_ALL else said
        if isinstance(query, Follow) and isinstance(query.of, Entity) and self._noun(query.relation) is None:
            words = self.lexicon.relations[query.relation >> 1]
            if words.verb is not None and query.relation % 2 == 0 and not self._kind(query):
                return "that", f"{self.entity(query.of.entity)} {words.verb}"
        return "that", self._predicate(query, many, last) or f"{'are' if many else 'is'} {self._in_brackets(query)}"

    def _dated(self, attribute: int, of: Query) -> str | None:
        """`born before 1930`, where an attribute is the date of what a participle says, and a year is meant."""
        word = next((word for word, meant in self.lexicon.dated.items() if meant == [attribute]), None)
        match of:
            case Compare(Comparison(Order.LESS, 1.0, 0.0), Number(year)) if word and year.is_integer():
                return f"{word} before {int(year)}"
            case Compare(Comparison(Order.AT_LEAST, 1.0, 0.0), Number(year)) if word and year.is_integer():
                return f"{word} after {int(year) - 1}"
            case And((Compare(Comparison(Order.AT_LEAST), Number(year)), Compare(Comparison(Order.LESS), Number(end)))):
                if word and year.is_integer() and end.is_integer() and end > year:
                    until = f" and {int(end) - 1}"
                    return f"{word} in {int(year)}" if end == year + 1 else f"{word} between {int(year)}{until}"
        return None

    def _is_in(self, relation: int, place: int) -> bool:
        """Whether `in` is read as a relation where something stands that is called by another word of place."""
        verbs = self.lexicon.reduced.get("in", []) if place >= 0 else []
        if not any(verb.relation == relation and 0 < verb.loose < 3 for verb in verbs):
            return False
        return tightest([verb for verb in verbs if self.vocabulary.leads(verb.relation, place)]) == [relation]

    def _having(self, attribute: int, of: Query) -> str:
        name = self.attribute(attribute)
        return (
            f"known {name}"
            if is_anything(of)
            else f"{name} {self.value(of, usual=self.vocabulary.attribute_unit(attribute))}"
        )

    def _predicate(self, query: Query, many: bool, last: bool = True) -> str | None:
        """A condition as a verb with what follows it, or None where it has no such form."""
        be = "are" if many else "is"
        if (kind := self._kind(query)) is not None:
            return f"{be} {kind}"
        match query:
            case Entity(entity):
                return f"{be} {self.entity(entity)}"
            case HavingValue(attribute, of):
                return f"{'have' if many else 'has'} {self._having(attribute, of)}"
            case Follow(relation, of) if relation & 1:
                words = self.lexicon.relations[relation >> 1]
                if words.verb is not None:
                    return f"{_agreeing(words.verb, many)} {self._object(of, last)}"
                return f"{'have' if many else 'has'} {self._noun(relation ^ 1)} {self._object(of, last)}"
            case Not(inner) if (kind := self._kind(inner)) is not None:
                return f"{be} not {kind}"
            case Not(Follow(relation, of)) if relation & 1:
                verb = self.lexicon.relations[relation >> 1].verb
                if verb is None:
                    return f"{be} not {self._in_brackets(query.of)}"
                first, _, rest = verb.partition(" ")
                if base_form(first) == "be":
                    return f"{be} not {rest} {self._object(of, last)}"
                not_so = f"{'do' if many else 'does'} not {base_form(first)}"
                return f"{f'{not_so} {rest}'.rstrip()} {self._object(of, last)}"
            case Not(inner):
                return f"{be} not {self._in_brackets(inner)}"
            case Or(parts) if len(parts) > 1:
                predicates = [self._predicate(part, many, part is parts[-1]) for part in parts]
                if all(text is not None for text in predicates):
                    return f"({' or '.join(map(str, predicates))})"
        return None


def _agreeing(verb: str, many: bool) -> str:
    """A verb phrase in the third person as it is, or for many."""
    if not many:
        return verb
    first, _, rest = verb.partition(" ")
    base = base_form(first)
    form = {"be": "were" if first == "was" else "are", "have": "have"}.get(base, base)
    return f"{form} {rest}".rstrip()


def _ends_openly(query: Query) -> bool:
    """Whether a condition ends with a set that what follows might be taken for a part of."""
    match query:
        case Follow(of=of) | Not(Follow(of=of)):
            return is_open(of)
        case HavingValue() | Not(HavingValue()):
            return any(isinstance(node, ValueOf) and is_open(node) for node in nodes(query))
        case Entity(entity):
            return entity < 0
    return True
