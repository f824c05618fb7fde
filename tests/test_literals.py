"""Numbers, dates and typed literals."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreckon.graph.literals import (
    NotANumberError,
    UnknownDateError,
    fractional_year,
    is_calendar,
    is_rounded,
    local_name,
    nearest_day,
    read_cell,
    read_date,
    read_decimal_date,
    read_literal,
    read_number,
    read_with_unit,
    same_family,
    write_date,
)
from kgreckon.query.algebra import plain_number

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def days_in(year: int, month: int) -> int:
    """The calendar by its rule, not by the library's."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


ANY_YEAR = st.one_of(st.integers(-4000, 4000), st.integers(-999_999_999, 999_999_999))


@st.composite
def days(draw, years=ANY_YEAR):
    year, month = draw(years), draw(st.integers(1, 12))
    return year, month, draw(st.integers(1, days_in(year, month)))


class TestDates:
    @given(st.floats(-4000, 4000))
    def test_the_nearest_day_is_a_day_and_near(self, value):
        day = nearest_day(value)
        assert abs(day - value) <= 0.5001 / 365 and read_date(write_date(day)) == day and nearest_day(day) == day

    @pytest.mark.parametrize(
        ("text", "year"),
        [
            ("1969-03-01", 1969 + 59 / 365),
            ("1969-3-1", 1969 + 59 / 365),
            ("1969-01-01", 1969),
            ("1969-12-31", 1969 + 364 / 365),
            ("1968-03-01", 1968 + 60 / 366),
            ("1968-02-29", 1968 + 59 / 366),
            ("2000-02-29", 2000 + 59 / 366),
            ("1968-12-31", 1968 + 365 / 366),
            ("1969", 1969),
            ("1969-03", 1969 + 59 / 365),
            ("0987-01-01", 987),
            ("12345-01-01", 12345),
        ],
    )
    def test_a_date_is_its_year_and_the_share_of_it_that_has_passed(self, text, year):
        assert read_date(text) == year

    @pytest.mark.parametrize("text", ["1949-##-##", "1949-0-0", "1949-00-00", "1949-01-##", "1949-##-01", "1949-##"])
    def test_an_unknown_month_or_day_counts_as_the_first(self, text):
        assert read_date(text) == 1949

    def test_a_known_month_is_kept_where_the_day_is_unknown(self):
        assert read_date("1987-10-##") == read_date("1987-10-01")

    @pytest.mark.parametrize(
        ("text", "year"),
        [
            ("-383-1-1", -383),
            ("-0383-01-01", -383),
            ("-0044", -44),
            ("-44-03-15", -44 + 74 / 366),  # the Gregorian calendar carried backwards: -44 is a leap year
            ("-1-12-31", -1 + 364 / 365),
        ],
    )
    def test_a_year_bc_is_negative_and_its_days_still_go_forwards(self, text, year):
        assert read_date(text) == year

    @pytest.mark.parametrize(
        "text", ["##-##-##", "####-##-##", "15##-##-##", "194#-05-01", "-3##-01-01", "19##", "##", "0000-00-00"]
    )
    def test_a_date_without_its_year_is_unknown(self, text):
        with pytest.raises(UnknownDateError, match="is not known"):
            read_date(text)

    def test_a_cell_is_no_date_of_the_first_century_by_mistake(self):
        with pytest.raises(NotANumberError, match="the year of '25-12-03' has fewer than four digits"):
            read_cell("25-12-03")
        assert read_cell("-44-03-15")[1] == "date"

    @pytest.mark.parametrize("ending", ["T00:00:00", "T00:00", "T00:00:00Z", " 00:00:00", "Z", "+09:00", "-05:00"])
    def test_midnight_and_the_zone_of_a_day_change_nothing(self, ending):
        assert read_date(f"1969-03-01{ending}") == read_date("1969-03-01")

    @pytest.mark.parametrize(
        ("text", "days"),
        [
            ("1969-03-01T12:00:00", 59.5),
            ("1969-03-01 18:00", 59.75),
            ("1969-03-01T24:00:00", 60),
            ("1969-03-01T09:00:00+09:00", 59),  # midnight in Greenwich
            ("1969-03-01T19:00:00-05:00", 60),
        ],
    )
    def test_a_time_counts_and_so_does_its_zone(self, text, days):
        assert read_date(text) == pytest.approx(1969 + days / 365, abs=1e-12)

    @pytest.mark.parametrize("zone", ["+99:99", "-14:01", "+15:00", "+09:60"])
    @pytest.mark.parametrize("date", ["1969-03-01T12:00:00", "1969-03-01", "1969-03", "1969"])
    def test_a_zone_that_there_is_nowhere_is_an_error(self, date, zone):
        with pytest.raises(NotANumberError, match=re.escape(f"'{zone}' is not a time zone")):
            read_date(date + zone)
        assert read_date(f"{date}+14:00") <= read_date(date)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("2004-01-01T00:00:00+09:00", "2003-12-31T15:00:00Z"),  # 2004 is a leap year, 2003 is not
            ("1969-01-01T00:00:00+12:00", "1968-12-31T12:00:00"),
            ("2003-12-31T24:00:00", "2004-01-01"),
            ("2004-12-31T20:00:00-05:00", "2005-01-01T01:00:00"),
        ],
    )
    def test_one_moment_is_one_value_wherever_its_clock_stands(self, one, other):
        assert read_date(one) == read_date(other)

    @pytest.mark.parametrize("time", ["T99:99:99", "T24:00:01", "T12:60:00", "T8:00:00", "T12:00:61", "T12"])
    def test_what_is_no_time_is_an_error(self, time):
        with pytest.raises(NotANumberError, match="is not a time of the day"):
            read_date(f"1969-03-01{time}")

    @given(days(), st.integers(0, 24 * 60 * 60 - 1))
    def test_reading_inverts_writing_of_times(self, day, second):
        year, month, day_of_month = day
        value = fractional_year(year, month, day_of_month, second)
        if abs(day[0]) < 10_000:  # a float tells the seconds of such years apart
            written = write_date(value)
            assert read_date(written) == value and ("T" in written) == (second > 0)
        assert read_with_unit(write_date(value), "date", ("date",))[0] == value

    @pytest.mark.parametrize("text", ["1969-13-01", "1969-02-29", "1900-02-29", "1969-04-31", "1969-03-32", "1969-13"])
    def test_a_day_that_never_was_is_an_error(self, text):
        with pytest.raises(NotANumberError, match="there is no day"):
            read_date(text)

    @pytest.mark.parametrize(
        "text", ["", "today", "1969/03/01", "01.03.1969", "1969-03-", "--03-01", "1969-003-01", "1e3", "1969.5", "nan"]
    )
    def test_what_is_no_date_is_an_error_that_shows_it(self, text):
        with pytest.raises(NotANumberError, match=f"'{text}' is not a date"):
            read_date(text)

    @given(days())
    def test_reading_inverts_writing(self, day):
        year = fractional_year(*day)
        assert read_date(write_date(year)) == year

    @given(days(years=st.integers(-9999, 9999)))
    def test_writing_inverts_reading(self, day):
        year, month, number = day
        text = f"{'-' * (year < 0)}{abs(year):04d}-{month:02d}-{number:02d}"
        expected = str(year) if (month, number) == (1, 1) else text
        assert write_date(read_date(text)) == expected

    @given(FINITE)
    def test_any_value_of_a_calendar_unit_can_be_written_and_read_back(self, value):
        assert read_with_unit(write_date(value), "date", ("date",)) == (value, "date")

    @given(days(), days())
    def test_dates_keep_their_order_as_numbers(self, one, other):
        assert (fractional_year(*one) < fractional_year(*other)) == (one < other)

    @given(days())
    def test_a_day_lies_in_its_year(self, day):
        assert day[0] <= fractional_year(*day) < day[0] + 1


class TestDecimalDates:
    @pytest.mark.parametrize(
        ("text", "date"),
        [
            ("1961.0718", "1961-07-18"),
            ("1950.0000", "1950"),
            ("1950.0700", "1950-07-01"),
            ("1968.0229", "1968-02-29"),
            ("-0044.0315", "-44-03-15"),
            ("-383.0000", "-383"),
        ],
    )
    def test_the_decimals_are_month_and_day(self, text, date):
        assert read_decimal_date(text) == read_date(date)

    @given(days(years=st.integers(-9999, 9999)))
    def test_any_day_can_be_written_so(self, day):
        year, month, number = day
        assert read_decimal_date(f"{year}.{month:02d}{number:02d}") == fractional_year(*day)

    @pytest.mark.parametrize(
        "text", ["1961", "1961.5", "1961.071", "1961.07180", "1961.1301", "1961.0229", "x.0101", ""]
    )
    def test_other_decimals_are_no_dates(self, text):
        with pytest.raises(NotANumberError, match=r"decimal date|there is no day"):
            read_decimal_date(text)


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("0", 0),
            ("-17", -17),
            ("+5", 5),
            ("2837021.0", 2837021),
            (".5", 0.5),
            ("5.", 5),
            ("1e3", 1000),
            ("1E-3", 0.001),
        ],
    )
    def test_numbers_as_people_write_them(self, text, number):
        assert read_number(text) == number
        assert read_number(f" {text} ") == number

    @pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "-inf", "+INF", "Infinity", "-infinity"])
    def test_not_a_number_and_infinity_are_not_finite(self, text):
        with pytest.raises(NotANumberError, match="is not a finite number"):
            read_number(text)

    @pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 400])
    def test_a_number_beyond_the_largest_is_too_large(self, text):
        with pytest.raises(NotANumberError, match="too large"):
            read_number(text)

    @pytest.mark.parametrize("text", ["1e-400", "-0.1e-330", "0." + "0" * 400 + "1"])
    def test_a_number_that_would_become_0_is_no_number(self, text):
        with pytest.raises(NotANumberError, match="too close to 0"):
            read_number(text)
        assert read_number("0e-400") == read_number("0.000") == 0 and read_number("5e-324") > 0

    @pytest.mark.parametrize("digits", [400, 5000, 100_000])
    def test_digits_without_end_are_one_short_line(self, digits):
        for read in (read_number, read_cell, read_date, read_decimal_date):
            for text in ("9" * digits, "9" * digits + ".0101"):
                with pytest.raises(NotANumberError) as caught:
                    read(text)
                assert len(str(caught.value)) < 150
        assert read_number("0" * digits + "7") == 7
        assert is_rounded("-" + "0" * digits + str(2**53 + 1), -(2.0**53))
        assert not is_rounded("-" + "0" * digits + str(2**53), -(2.0**53))

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "1_000",
            "1,000",
            "1 000",
            "0x1F",
            "1e",
            "e5",
            ".",
            "-",
            "--1",
            "1.2.3",
            "5m",
            "½",
            "²",
            "None",
            "1\x00",
        ],
    )
    def test_garbage_is_no_number(self, text):
        with pytest.raises(NotANumberError, match="is not a number"):
            read_number(text)

    @given(FINITE)
    def test_reading_inverts_writing(self, number):
        assert read_number(plain_number(number)) == number

    def test_zero_has_no_sign(self):
        assert math.copysign(1, read_number("-0.0")) == 1

    @given(st.text(max_size=12))
    def test_any_text_is_a_finite_number_or_an_error(self, text):
        for read in (read_number, read_date, read_decimal_date, lambda text: read_cell(text)[0]):
            try:
                assert math.isfinite(read(text))
            except (NotANumberError, UnknownDateError) as error:
                assert str(error)


class TestTypedLiterals:
    @pytest.mark.parametrize(
        ("lexical", "datatype", "number", "unit"),
        [
            ("42", XSD + "integer", 42, "integer"),
            ("4.5E1", XSD + "double", 45, "double"),
            ("23.03", XSD + "degrees", 23.03, "degrees"),
            ("-17", XSD + "nonPositiveInteger", -17, "nonPositiveInteger"),
            ("1969-03-01", XSD + "date", 1969 + 59 / 365, "date"),
            ("1969-03-01T12:00:00Z", XSD + "dateTime", 1969 + 59.5 / 365, "dateTime"),
            ("-0044", XSD + "gYear", -44, "gYear"),
            ("1969-03", XSD + "gYearMonth", 1969 + 59 / 365, "gYearMonth"),
            ("12.5", "http://dbpedia.org/datatype/squareKilometre", 12.5, "squareKilometre"),
        ],
    )
    def test_the_datatype_is_the_unit(self, lexical, datatype, number, unit):
        assert read_literal(lexical, datatype) == (number, unit)
        assert read_cell(f'"{lexical}"^^<{datatype}>') == (number, unit)

    @pytest.mark.parametrize("datatype", [XSD + "string", XSD + "boolean", XSD + "anyURI", RDF + "langString"])
    def test_words_are_no_numbers_even_where_they_look_like_one(self, datatype):
        with pytest.raises(NotANumberError):
            read_literal("1984", datatype)

    @pytest.mark.parametrize(
        ("lexical", "datatype"),
        [("INF", "double"), ("NaN", "float"), ("P1Y", "duration"), ("12:00:00", "time"), ("--03-01", "gMonthDay")],
    )
    def test_what_has_no_number_is_an_error(self, lexical, datatype):
        with pytest.raises(NotANumberError):
            read_literal(lexical, XSD + datatype)


class TestCells:
    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("54.2", (54.2, None)),
            ("1969", (1969, None)),
            ("1969-03-01", (1969 + 59 / 365, "date")),
            (" 1969-03-01 ", (1969 + 59 / 365, "date")),
            ("1949-##-##", (1949, "date")),
        ],
    )
    def test_a_cell_holds_a_number_or_a_date(self, text, cell):
        assert read_cell(text) == cell

    @pytest.mark.parametrize("text", ['"42"', '"42"^^', '"42"^^xsd:integer', '"42', '"', '"a"@en'])
    def test_a_literal_without_a_type_is_an_error(self, text):
        with pytest.raises(NotANumberError, match="literal"):
            read_cell(text)


class TestUnits:
    def test_the_local_name_of_a_datatype_is_what_people_call_it(self):
        for iri in ("http://example.org/units#metre", "http://example.org/units/metre", "http://e.org/metre/", "metre"):
            assert local_name(iri) == "metre"

    def test_dates_of_any_precision_are_one_family_and_numbers_another(self):
        assert same_family("date", "gYear") and same_family("integer", "double") and same_family("metres", "metres")
        assert not same_family("date", "integer") and not same_family("metres", "feet")
        assert is_calendar("gYear") and not is_calendar("years")
