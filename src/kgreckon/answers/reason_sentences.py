"""A reason in one sentence: `Austria probably does not border France: 6 %, because …`."""

from __future__ import annotations

from collections.abc import Iterator

from kgreckon.answers.estimates import influence_text
from kgreckon.answers.predicted_numbers import Predict, expected_number
from kgreckon.graph.literals import exactly_with_unit
from kgreckon.graph.naming import GraphVocabulary
from kgreckon.models.proofs import Expected, How, Likes, Member, Proof, RulePath, Step
from kgreckon.query import Comparison, Number, Operator, sentence
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.claims import fact_claim, hedged, percent, shared_claim
from kgreckon.query.words.phrases import compared_with

_CERTAIN = 1 - 1e-6
_LIKELY = 0.4  # a fact from which on what speaks for it is said, and not what speaks against it
_RULE = 0.25  # the confidence of a rule that is worth a sentence
_FEW_MORE = 0.5  # facts that are expected, up to which they speak against another one
_NAMED = 3
_FACTS = 3  # that one sentence holds


def condition_words(proof: Proof, names: Vocabulary) -> str:
    """The numbers that a proof is about: `greater than 1,000 metres`."""
    if proof.claim is not None:
        return sentence(proof.claim, names).removeprefix("numbers ")
    match proof.operator:
        case Operator.AND | Operator.OR:
            parts = list(dict.fromkeys(condition_words(part, names) for part in proof.parts))
            if [part.partition(" 0")[0] for part in parts] == ["at most", "greater than"]:  # any number at all
                return "known"
            return f" {proof.operator.name.lower()} ".join(parts)
        case Operator.NOT:
            return f"not {condition_words(proof.parts[0], names)}"
        case Operator.COMPARE:
            assert proof.step is not None and isinstance(proof.step.label, Comparison)
            below = proof.parts[0].step if proof.parts else None
            source = proof.step.source if proof.step.probability else None  # of what does not hold, any one
            if below is not None and below.operator is Operator.NUMBER:
                source = below.source
            return compared_with(proof.step.label, _word(source, names))
    return "…" if proof.step is None else _word(proof.step.target, names)


def rule_words(rule: RulePath, names: Vocabulary) -> str:
    """The path of facts from which a rule infers another, and how often that is right."""
    labels = names.entity_label
    steps = " and ".join(fact_claim(labels(head), label, labels(tail), names) for head, label, tail in rule.steps)
    return f"{steps}, which is right in {percent(rule.confidence)} of such cases"


def likes_words(likes: Likes, relation: int, step: Step, names: Vocabulary, some: bool = False) -> str:
    """What the things do that are most like one end of a fact."""
    assert isinstance(step.source, int) and isinstance(step.target, int)
    at_source = likes.end == step.source
    other = step.target if at_source else step.source
    towards = relation if at_source else relation ^ 1
    of = f"the {likes.count} things most like {names.entity_label(likes.end)}"
    text = shared_claim(len(likes.having), of, towards, names.entity_label(other), names)
    if not some or not likes.having:
        return text
    more = len(likes.having) - _NAMED
    named = ", ".join(names.entity_label(each) for each in likes.having[:_NAMED])
    return f"{text}: {named}{f' and {more} more' if more > 0 else ''}"


def expected_words(expected: Expected, names: Vocabulary) -> str:
    """How many facts of the kind are stated, and how many more are expected."""
    more = f"{expected.more:.2g}" if expected.more >= 0.01 else "hardly any"
    if expected.fact is not None:
        head, relation, tail = expected.fact
        said = fact_claim(names.entity_label(head), relation, names.entity_label(tail), names)
        return f"the graph states that {said}, and {more} more such facts are expected"
    end, count = names.entity_label(expected.end), f"{expected.stated:,}" if expected.stated else "no"
    return f"the graph states {count} such facts of {end}, and {more} more are expected"


def reason_sentence(proof: Proof, names: Vocabulary, predict: Predict) -> str:
    """What an answer rests on: what is stated, or the least sure of what is not, with what speaks for or against it."""
    if proof.missing:
        missing = (step for step in proof.steps() if step.how is How.MISSING)
        said = next((text for step in missing if (text := _claim(step, names))), None)
        return "Not all of it is stated." if said is None else f"The graph does not state that {said}."
    found = _least_sure(proof)
    if found is None:
        return _proved(proof, names)
    step, probability, denied, condition = found
    text = _uncertain(step, probability, condition, names, predict)
    whole, own = proof.probability, 1 - probability if denied else probability
    if abs(whole - own) > 0.1 * own:
        text += f" With all else that it takes: {percent(whole)}."
    return text


Uncertain = tuple[Step, float, bool, Proof | None]  # a step, its probability, whether it is denied, what a number is


def _least_sure(proof: Proof, denied: bool = False) -> Uncertain | None:
    """The step that decides how sure an answer is: of conditions that all must hold the least likely one."""
    step = proof.step
    own: list[Uncertain] = []
    if step is not None and step.how is How.PREDICTED and step.probability is not None:
        own.append((step, step.probability, denied, proof.parts[0] if proof.parts else None))
        if step.operator is Operator.HAVING_VALUE:
            return own[0]
    if proof.operator is Operator.NOT and proof.parts:
        against = proof.parts[0]
        if against.probability <= 0:
            return None
        return _least_sure(against, not denied)
    if proof.operator is Operator.OR:
        parts = [max(proof.parts, key=lambda part: part.probability)]
    else:
        parts = list(proof.parts)
    own += [found for part in parts if (found := _least_sure(part, denied)) is not None]
    return min(own, key=lambda each: 1 - each[1] if each[2] else each[1], default=None)


def _uncertain(step: Step, probability: float, condition: Proof | None, names: Vocabulary, predict: Predict) -> str:
    adverb, negative = hedged(probability)
    if step.operator is not Operator.FOLLOW:
        return _number(step, probability, condition, names, predict)
    assert isinstance(step.label, int)
    source, target = _word(step.source, names), _word(step.target, names)
    text = f"{fact_claim(source, step.label, target, names, adverb, negative)}: {percent(probability)}"
    because = _because(step, probability, names)
    return f"{text}, because {because}." if because else f"{text}."


def _because(step: Step, probability: float, names: Vocabulary) -> str | None:
    """The strongest evidence for a likely fact, or against an unlikely one."""
    support = step.support
    if support is None or not isinstance(step.label, int):
        return None
    rule, likes, expected = support.rule, support.likes, support.expected
    share = 0.0 if likes is None else len(likes.having) / likes.count
    if probability >= _LIKELY:
        if rule is not None and rule.confidence >= max(_RULE, share):
            return rule_words(rule, names)
        if likes is not None and likes.having:
            return likes_words(likes, step.label, step, names)
        return None if expected is None else expected_words(expected, names)
    if expected is not None and expected.stated and expected.more < _FEW_MORE:
        return expected_words(expected, names)
    if likes is not None and share <= probability + 0.2:
        return likes_words(likes, step.label, step, names)
    if rule is not None:
        return rule_words(rule, names)
    return None if expected is None else expected_words(expected, names)


def _number(step: Step, probability: float, condition: Proof | None, names: Vocabulary, predict: Predict) -> str:
    """A sentence about a number that is not stated."""
    assert isinstance(step.label, int)
    of_entity = step.target if step.operator is Operator.HAVING_VALUE else step.source
    assert isinstance(of_entity, int)
    found = predict(of_entity, step.label)
    subject = f"The {names.attribute_label(step.label)} of {names.entity_label(of_entity)}"
    if step.operator is Operator.HAVING_VALUE and condition is not None:
        adverb, negative = hedged(probability)
        words = condition_words(condition, names)
        text = f"{subject} is {adverb}{' not' if negative else ''} {words}: {percent(probability)}"
    elif found is not None:
        return f"{subject} is not stated: {expected_number(found)} with a probability of {percent(found.coverage)}."
    else:
        return f"{subject} is not stated: this one has a probability of {percent(probability)}."
    if found is None or found.stated:
        return f"{text}."
    text += f", because it is expected to be {expected_number(found)}"
    if found.has_it < _LIKELY:
        return f"{text}, if there is one at all ({percent(found.has_it)})."
    if found.reasons and isinstance(names, GraphVocabulary):
        text += f" ({influence_text(found.reasons[0], found, names)})"
    return f"{text}."


def _proved(proof: Proof, names: Vocabulary) -> str:
    said = list(dict.fromkeys(_stated_claims(proof, names)))
    if not said:
        return "The graph states it."
    shown, more = said[:_FACTS], len(said) - _FACTS
    said = [*(f"that {text}" for text in shown), *([f"{more} more facts"] if more > 0 else [])]
    text = " and ".join(said) if len(said) < 3 else f"{', '.join(said[:-1])}, and {said[-1]}"
    return f"The graph states {text}."


def _stated_claims(proof: Proof, names: Vocabulary) -> Iterator[str]:
    """The observed facts of a proof as sentences; a number with what it is compared with."""
    step = proof.step
    if step is not None and step.how is How.OBSERVED and (text := _claim(step, names)) is not None:
        inner = proof.parts[0] if proof.parts else None
        if step.operator is Operator.HAVING_VALUE and inner is not None and inner.operator is not Operator.NUMBER:
            text += f", which is {condition_words(inner, names)}"
        yield text
    if proof.operator is Operator.NOT:
        return
    parts = proof.parts
    if proof.operator is Operator.OR:
        parts = tuple(part for part in parts if part.probability >= _CERTAIN)[:1]
    for part in parts:
        yield from _stated_claims(part, names)


def _claim(step: Step, names: Vocabulary) -> str | None:
    """A step as a sentence."""
    if step.source is None or step.target is None:
        return None
    source, target = _word(step.source, names), _word(step.target, names)
    match step.operator:
        case Operator.FOLLOW:
            assert isinstance(step.label, int)
            return fact_claim(source, step.label, target, names)
        case Operator.VALUE_OF | Operator.HAVING_VALUE:
            assert isinstance(step.label, int)
            entity, number = (source, target) if step.operator is Operator.VALUE_OF else (target, source)
            return f"the {names.attribute_label(step.label)} of {entity} is {number}"
        case Operator.COMPARE if isinstance(step.label, Comparison):
            return f"{target} is {compared_with(step.label, source)}"
    return None


def _word(member: Member | None, names: Vocabulary) -> str:
    if member is None:
        return "…"
    return exactly_with_unit(member.value, member.unit) if isinstance(member, Number) else names.entity_label(member)
