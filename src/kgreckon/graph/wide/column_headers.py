"""What the header of a column says: a name, a unit (`mass (kg)`, `height_m`), whether it is of ids, years or units."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgreckon.graph.wide.units import unit_named

# What may follow an underscore or a blank; not what is as likely something else (team_a, plan_b, check_in).
_ENDINGS = frozenset(
    re.findall(
        r"\S+",
        """
        kg g mg lb lbs oz tonnes km m cm mm nm um mi miles ft feet inches inch yd mph kmh kph kmph knots km2 m2 cm2 sqkm
        sqmi sqft sqm ha acres cc l ml litres liters gal hz khz mhz ghz w kw mw gw kwh mwh gwh v mv ma mah c f celsius
        fahrenheit kelvin degc degf deg degrees pct percent percentage usd eur gbp dollars euros min mins minutes sec
        secs seconds s ms us ns hr hrs hours h days d weeks months years yrs yr pa hpa kpa mbar bar psi db j kj kcal cal
        ev kev gb mb kb pm ly au rpm ppm ppb mol hp
        """,
    )
)
_SCALES = {
    "thousands": 1e3,
    "thousand": 1e3,
    "millions": 1e6,
    "million": 1e6,
    "billions": 1e9,
    "billion": 1e9,
    "000s": 1e3,
}
_BRACKETS = re.compile(r"^(?P<name>.+?)\s*[(\[](?P<unit>[^()\[\]]+(?:\([^()]*\))?)[)\]]$", re.DOTALL)
_COMMA = re.compile(r"^(?P<name>.+?)(?:,\s+|[\s_]in[\s_])(?P<unit>[^,]+)$", re.IGNORECASE)
_ENDING = re.compile(r"^(?P<name>.+?)[\s_.](?P<unit>[A-Za-z]+\d?)$")
_PER = re.compile(r"^(?:.+[\s_])?[A-Za-z]+[\s_]per[\s_][A-Za-z]+$", re.IGNORECASE)
_ID = re.compile(r"(?:^|[\W_])(?:ids?|uid|uuid|guid|key|index|idx|rowid|row|rownames?|code|nr|no|num|number|pk|ean|"
                 r"isbn|unnamed.*)$|[a-z](?:Id|ID|Code|Nr)$|^column \d+$", re.IGNORECASE)  # fmt: skip
_CAMEL_ID = re.compile(r"[a-z](?:Id|ID)$")
_PLAIN_ID = re.compile(
    r"(?:^|[\W_])(?:id|uid|uuid|guid|index|idx|rowid|row|rownames?|pk|unnamed.*)$|^column \d+$", re.IGNORECASE
)
_YEAR = re.compile(r"(?:^|[\W_])(?:years?|yr|jahr|année|año)(?:$|[\W_])|[a-z]Year$|^year", re.IGNORECASE)
_TIME = re.compile(
    r"(?:^|[\W_])(?:time|date|datetime|timestamp|ts|epoch|created|updated|modified|at|on)(?:$|[\W_](?:ms|s|utc)$)"
    r"|[a-z](?:Time|Date|At|Stamp|stamp)$", re.IGNORECASE)  # fmt: skip
_UNIT = re.compile(r"^(?:(?P<of>.+?)[\s_.-]+)?units?(?:[\s_]of[\s_]measure(?:ment)?)?$|^uom$", re.IGNORECASE)
_ANGLES = frozenset(("latitude", "longitude", "lat", "lon", "lng", "long"))
_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("head", "tail"), ("start", "end"), ("u", "v"))
_NAMES = ("name", "title", "label", "full name", "fullname", "english name", "common name")


@dataclass(frozen=True)
class Header:
    """A column's name without its unit; the unit by the name that a graph gives it, and a factor (`in millions`)."""

    name: str
    unit: str = ""
    scale: float = 1.0
    why: str = ""


def read_header(header: str) -> Header:
    """What the header of a column of numbers says."""
    found = _BRACKETS.match(header)
    if found is not None:
        unit, scale = _unit_and_scale(found["unit"])
        if unit is not None:
            return Header(found["name"].strip(), unit, scale, f"({found['unit']}) in its header")
    found = _COMMA.match(header)
    if found is not None:
        unit, scale = _unit_and_scale(found["unit"])
        if unit is not None:
            return Header(found["name"].strip(), unit, scale, f"{found['unit']!r} in its header")
    if _PER.match(header):
        words = re.split(r"[\s_]+", header)
        unit = unit_named(" ".join(words[-3:]))
        if unit is not None:
            return Header(header, unit, why="as its header says")
    found = _ENDING.match(header)
    if found is not None and found["unit"].lower() in _ENDINGS and not re.search(r"(?:^|[\W_])per$", found["name"]):
        unit = unit_named(found["unit"])
        if unit is not None:
            return Header(found["name"].strip(" _."), unit, why=f"{found['unit']!r} in its header")
    if header.lower().strip() in _ANGLES or re.search(r"(?:^|_)(?:latitude|longitude)$", header, re.IGNORECASE):
        return Header(header, "degrees", why="an angle, by its header")
    return Header(header)


def _unit_and_scale(text: str) -> tuple[str | None, float]:
    """`kg`, `US$ millions`, `in thousands`: the unit, empty where only a scale is said, None where neither is."""
    text = re.sub(r"^(?:in|measured in)\s+", "", text.strip(), flags=re.IGNORECASE)
    scale = 1.0
    for word, factor in _SCALES.items():
        shorter = re.sub(rf"(?:^|\s|\b)(?:of\s+)?{word}(?:\s+of)?(?:$|\s)", " ", text, flags=re.IGNORECASE).strip()
        if shorter != text:
            text, scale = shorter, factor
            break
    if money := re.fullmatch(r"(\$|US\$|€|£)\s?([MBKmk])n?", text):
        text, scale = money[1], {"m": 1e6, "b": 1e9, "k": 1e3}[money[2].lower()]
    if not text:
        return "", scale
    unit = unit_named(text)
    return unit, scale


def name_of(header: str) -> str:
    """What an attribute or relation is called, so that it is one word: `US Gross` becomes `US_Gross`."""
    return re.sub(r"[\s()\[\]{},;\"'`^<>]+", "_", header.strip()).strip("_") or "column"


def is_id(header: str) -> bool:
    """Whether a header is one of ids or codes."""
    return _ID.search(header) is not None


def is_plain_id(header: str) -> bool:
    """Whether a header is one of numbers that only tell rows apart."""
    return _PLAIN_ID.search(header) is not None or _CAMEL_ID.search(header) is not None


def is_code(header: str) -> bool:
    """Whether a header is one of codes, which only tell things apart even where they are numbers: `UNcode`."""
    return header.lower().endswith(("code", "codes"))


def is_name(header: str) -> bool:
    """Whether a header is one of names: `name`, `prefLabel`, `title`."""
    return _folded(header) in _NAMES or re.search(r"^(?:pref|alt)Label$|[a-z]Name$", header) is not None


def is_year(header: str) -> bool:
    """Whether a header is one of years."""
    return _YEAR.search(header) is not None


def is_time(header: str) -> bool:
    """Whether a header is one of points in time: `time`, `created_at`, `updatedAt`."""
    return _TIME.search(header) is not None


def unit_column_of(header: str, others: list[str]) -> str | None:
    """The column that a column called `half_life_unit` or `unit` has the units of, if it can be told."""
    found = _UNIT.match(header)
    if found is None:
        return None
    if found["of"]:
        return next((other for other in others if _folded(other) == _folded(found["of"])), None)
    values = [other for other in others if _folded(other) in ("value", "amount", "quantity", "measurement")]
    return values[0] if len(values) == 1 else None


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def edge_columns(headers: list[str]) -> tuple[str, str] | None:
    """The two ends of links, where the headers are those of a list of links."""
    folded = {_folded(header): header for header in headers}
    for one, other in _ENDS:
        if one in folded and other in folded:
            return folded[one], folded[other]
    return None


def names_rank(header: str, table: str) -> int:
    """How much a header sounds like that of names, the most first: `name` and `title`, the table's own name, others."""
    folded = _folded(header)
    if folded in _NAMES:
        return 0
    single = _folded(table).rstrip("s")
    if folded in (single, single + "s", f"{single} name", f"{single} title"):
        return 1
    if re.search(r"(?:^| )(?:name|title|label)$", folded):
        return 2
    return 4 if is_id(header) else 3
