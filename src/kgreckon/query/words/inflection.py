"""English forms of nouns and verbs: `cities` is `city`, `borders` is `border`, `directedBy` is `directed by`."""

from __future__ import annotations

import re

_IRREGULAR = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "foot": "feet", "mouse": "mice",
    "goose": "geese", "tooth": "teeth", "series": "series", "species": "species", "leaf": "leaves", "life": "lives",
    "wife": "wives", "half": "halves", "analysis": "analyses", "crisis": "crises", "genus": "genera",
    "phenomenon": "phenomena", "criterion": "criteria", "data": "data",
    "news": "news", "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes", "gas": "gases", "lens": "lenses",
    "atlas": "atlases", "alias": "aliases", "canvas": "canvases", "quiz": "quizzes",
}  # fmt: skip
_IE_IN_TEXT = "movie cookie zombie calorie prairie pie tie die lie brownie genie selfie rookie"
_ENDING_IN_IE = frozenset(_IE_IN_TEXT.split())
_SINGULARS = {plural: singular for singular, plural in _IRREGULAR.items()}
_HISSES = ("s", "x", "z", "ch", "sh")
_THIRD = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_BASES = {third: base for base, third in _THIRD.items()} | {"was": "be", "are": "be", "were": "be", "had": "have"}

# What relations do, in the base form: their names are verbs (`borders`, `treats`), others are nouns (`genre`).
_VERBS_IN_TEXT = """
    accept act activate admire affect appear attend beat become belong bind border build buy call cause cite collaborate
    compete compose connect contain control cooperate cover create cross defeat depend describe develop die direct
    discover distribute divorce drive eat edit employ enable encode enter express extend face fight flow fly follow
    found govern grow hate head help hold host hunt implement import include induce inhabit inherit inhibit inspire
    interact invade invent involve join kill know lack lead learn like link live love make manage marry mention need
    neighbour neighbor occupy offer operate oppose orbit organize own pass perform play possess precede prefer prevent
    produce provide publish read receive recommend regulate replace report represent require respect review rule
    run sell send serve share show sing solve speak sponsor star study succeed supply support surround teach touch train
    treat trust use visit want watch wear win work write
    """
_VERBS = frozenset(_VERBS_IN_TEXT.split())
# Alone they are nouns: `works`, `play`, `host`.
_NOUNS_IN_TEXT = """
    act appear build call cause cover control drive face fight flow fly head help host hunt import lead link love
    need neighbor neighbour offer orbit pass play produce report review rule run share show sponsor star study supply
    support train use visit wear watch win work
    """
_ALSO_NOUNS = frozenset(_NOUNS_IN_TEXT.split())
_PAST_IN_TEXT = "wrote won made led sang built taught shot ran bought sold held wore drove fought met"
_PAST = frozenset(_PAST_IN_TEXT.split())
_PREPOSITIONS_IN_TEXT = "about after against at before by during for from in into near of on over to under with"
PREPOSITIONS = frozenset(_PREPOSITIONS_IN_TEXT.split())
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?:$|[A-Z]))[a-z])")
_AFTER_ACRONYM = re.compile(  # `UNregion`, where `HTTPServer` parts before its last capital
    r"(?<=[A-Z]{2})(?=(?:code|country|date|growth|group|id|index|level|member|name|number|numeric|rank|rate|ratio|"
    r"region|score|share|status|type|value|year)s?$)"
)
_NOT_WORDS = re.compile(r"[\s_./:]+")


def words_of(name: str) -> list[str]:
    """The words of a name: `directedBy`, `directed_by` and `directed by` are the same."""
    chunks = (part for chunk in _NOT_WORDS.split(name) for part in _AFTER_ACRONYM.split(chunk))
    parts = [part for chunk in chunks for part in _CAMEL.split(chunk) if part]
    return [part if part.isupper() and len(part) > 1 else part.lower() for part in parts]


def plural(noun: str) -> str:
    """The plural of a noun; of several words, of the last, or of the one before `of`."""
    head, separator, rest = noun.partition(" of ")
    if separator:
        return f"{plural(head)}{separator}{rest}"
    before, _, word = head.rpartition(" ")
    lower = word.lower()
    if lower in _IRREGULAR:
        ending = _IRREGULAR[lower]
        ending = word[:1] + ending[1:] if ending[:1] == lower[:1] else ending
    elif lower.endswith("y") and lower[-2:-1] not in ("", "a", "e", "i", "o", "u"):
        ending = word[:-1] + "ies"
    else:
        ending = word + ("es" if lower.endswith(_HISSES) else "s")
    return f"{before} {ending}" if before else ending


def singulars(noun: str) -> list[str]:
    """What a noun may be the plural of, itself first."""
    found, lower = [noun], noun.lower()
    word = lower.rpartition(" ")[2]
    stem = noun[: len(noun) - len(word)]
    if word in _SINGULARS:
        found.append(stem + _SINGULARS[word])
    if word.endswith("ies") and len(word) > 4:
        found.append(noun[:-3] + "y")
    if word.endswith("es") and word[:-2].endswith(_HISSES):
        found.append(noun[:-2])
    if word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        found.append(noun[:-1])
    return found


def singular(noun: str) -> str:
    """The singular of a noun that is a plural, else the noun itself."""
    word = noun.rpartition(" ")[2].lower()
    if word in _IRREGULAR.values() or word.endswith(("us", "is", "ss", "as", "os")):
        return noun[: len(noun) - len(word)] + _SINGULARS.get(word, word)
    others = [other for other in singulars(noun)[1:] if plural(other) == noun]
    return max(others, key=_likely) if others else noun


def _likely(noun: str) -> bool:
    """Whether this is rather a noun than what else has its plural: `city` and `movie`, `house`, `bus` and `box`."""
    word = noun.rpartition(" ")[2].lower()
    if word.endswith("ie"):
        return word in _ENDING_IN_IE
    if word.endswith("y"):
        return f"{word[:-1]}ie" not in _ENDING_IN_IE
    if word.endswith(("se", "ze")):
        return not word.endswith(("sse", "use")) or word.endswith(("ause", "ouse"))
    return not word.endswith(("s", "z")) or (word.endswith(("ss", "us")) and not word.endswith(("aus", "ous")))


def ordinal(number: int) -> str:
    """`2nd` of 2."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def of_class(label: str) -> str:
    """What the members of a class are called; tables, which become classes, are often named by a plural already."""
    noun = label[:1].lower() + label[1:] if label[1:].islower() else label
    return plural(singular(noun))


def third_person(verb: str) -> str:
    """`borders` of `border`."""
    if verb in _THIRD:
        return _THIRD[verb]
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith((*_HISSES, "o")) else "s")


def base_form(verb: str) -> str:
    """`border` of `borders`; a past form is its own."""
    if verb in _BASES:
        return _BASES[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith("es") and verb[:-2].endswith((*_HISSES, "o")) and verb[:-1] not in _VERBS:
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb[:-1]
    return verb


def gerund(verb: str) -> str:
    """`bordering` of `border`."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    doubled = verb[-1:] if verb in ("run", "win", "cut", "put", "begin", "get") else ""
    return f"{verb}{doubled}ing"


def guessed_verb(words: list[str]) -> str | None:
    """The verb phrase that a relation of that name reads with between its ends, or None where it is a noun."""
    first, rest = words[0], words[1:]
    match words:
        case ["type"] | ["rdf", "type"] | ["instance", "of"] | ["a"]:
            return "is a"
        case ["is" | "was" | "are" | "were" | "has" | "had", *_]:
            if first in ("has", "had") and not (rest and rest[-1] in PREPOSITIONS):
                return None  # has_genre: a genre
            return " ".join(words)
        case ["part", "of"]:
            return "is part of"
        case ["member" | "instance" | "kind" | "subclass" | "example" | "child" | "sibling" | "student", "of"]:
            return f"is a{'n' * (first[0] in 'aeiou')} {first} of"
    if not rest and first in PREPOSITIONS:
        return f"is {first}"
    if rest and first in ("in", "on", "at", "near", "from"):
        return f"is {first}"
    if first == "found" and len(rest) == 1 and rest[0] in PREPOSITIONS:  # of `find`
        return f"is {' '.join(words)}"
    verb = _as_verb(first, bool(rest))
    if rest and rest[-1] == "of" and verb is None:
        article = "" if first.endswith(("ed", "en", "made")) else "the "
        return f"is {article}{' '.join(words)}"
    if verb is not None:
        return " ".join([verb, *rest])
    if rest and rest[-1] in PREPOSITIONS:
        return f"is {' '.join(words)}"
    return f"is {first}" if not rest and first.endswith("ing") and len(first) > 5 else None


_AGENTS = {
    "directed": "director",
    "created": "creator",
    "invented": "inventor",
    "written": "writer",
    "edited": "editor",
}
_BASE_OF_PAST = {"wrote": "write", "won": "win", "made": "make", "led": "lead", "sang": "sing", "built": "build",
                 "taught": "teach", "shot": "shoot", "ran": "run", "bought": "buy", "sold": "sell", "held": "hold",
                 "wore": "wear", "drove": "drive", "fought": "fight", "met": "meet"}  # fmt: skip
_PARTICIPLE_OF = {"write": "written", "sing": "sung", "speak": "spoken", "wear": "worn", "drive": "driven",
                  "know": "known", "grow": "grown", "show": "shown", "eat": "eaten", "see": "seen", "begin": "begun",
                  "choose": "chosen", "give": "given", "take": "taken", "bind": "bound", "find": "found",
                  "feed": "fed", "hold": "held", "lead": "led", "buy": "bought", "sell": "sold", "teach": "taught",
                  "build": "built", "make": "made", "win": "won", "fight": "fought", "meet": "met", "run": "run",
                  "send": "sent", "read": "read", "shoot": "shot"}  # fmt: skip
_CLUSTERS = ("ct", "nt", "st", "rt", "ft", "lt", "pt", "rd", "nd", "ld", "rm", "rn", "ss", "sh", "ch", "ck", "lk", "ll",
             "ff", "xt", "ew", "ow", "ay", "oy", "er", "en", "in", "it", "et", "or")  # fmt: skip


def base_of_past(verb: str) -> str:
    """`direct` of `directed`, `write` of `wrote`; another form is its own."""
    if verb in _BASE_OF_PAST or not verb.endswith("ed"):
        return _BASE_OF_PAST.get(verb, verb)
    if verb.endswith("ied"):
        return verb[:-3] + "y"
    stem = verb[:-2]
    known = [one for one in (verb[:-1], stem, stem[:-1]) if one in _VERBS]
    if known:
        return known[0]
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sfl":
        return stem[:-1]
    return stem if stem.endswith(_CLUSTERS) else verb[:-1]


def participle(verb: str) -> str:
    """`treated` of `treat`, `written` of `write`."""
    if verb in _PARTICIPLE_OF:
        return _PARTICIPLE_OF[verb]
    if verb.endswith("e"):
        return verb + "d"
    return verb[:-1] + "ied" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "ed"


_PARTICIPLES = {"written": "wrote", "made": "made", "built": "built", "sung": "sang", "won": "won", "led": "led"}


def active(words: list[str]) -> tuple[str, str] | None:
    """Of a passive such as `directed by`: the past of its verb, and the noun for who does it."""
    if len(words) != 2 or words[1] != "by":
        return None
    participle = words[0]
    past = _PARTICIPLES.get(participle, participle if participle.endswith("ed") and len(participle) > 4 else None)
    if past is None:
        return None
    return past, _AGENTS.get(participle, f"{participle[:-1] if participle.endswith('ed') else participle}r")


def _as_verb(word: str, followed: bool) -> str | None:
    """A word as a verb in the third person, if it is one."""
    base = base_form(word)
    if base in _VERBS and (followed or base not in _ALSO_NOUNS):
        return third_person(base)
    past = word in _PAST or (word.endswith("ed") and len(word) > 4)
    return word if past and not followed else None


def guessed_noun(words: list[str]) -> tuple[str | None, bool]:
    """The noun in a relation's name, and whether it names the other end: `the capital of X`, where X is the tail."""
    if words[-1] == "of" and len(words) > 1 and words[0] not in PREPOSITIONS:
        inner = words[1:-1] if words[0] in ("is", "has") else words[:-1]
        inner = [word for word in inner if word not in ("a", "an", "the")]
        return (" ".join(inner), True) if inner and not inner[-1].endswith("ed") else (None, False)
    if words[-1] in PREPOSITIONS:
        return None, False
    if words[0] in ("in", "on", "at", "near", "from", "has", "had") or (len(words) > 1 and _as_verb(words[0], True)):
        return " ".join(words[1:]) or None, False
    if guessed_verb(words) is not None:
        return None, False
    return " ".join(words), False
