"""Values as people write them: numbers with marks, money and units, dates in any order, times and durations."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreckon.graph.literals import read_date
from kgreckon.graph.wide.calendars import (
    BadDateError,
    clock_of,
    date_order,
    iso_years,
    read_clock,
    read_day,
    read_duration,
    years_of,
)
from kgreckon.graph.wide.cell_values import _surrounded
from kgreckon.graph.wide.column_headers import Header, read_header
from kgreckon.graph.wide.units import converted, same_dimension, unit_named
from kgreckon.graph.wide.written import Quantity, decimal_mark, read_quantity


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "number", "unit"),
        [
            ("$1,200", 1200, "dollars"),
            ("-$5", -5, "dollars"),
            ("$-5", -5, "dollars"),
            ("€ 5", 5, "euros"),
            ("500 USD", 500, "US dollars"),
            ("$3.2M", 3_200_000, "dollars"),
            ("1 200 000", 1_200_000, None),
            ("1\u202f200\u00a0000", 1_200_000, None),
            ("1'234'567.5", 1_234_567.5, None),
            ("12,34,567", 1_234_567, None),  # as in India
            ("45 %", 45, "percent"),
            ("5 km", 5, "kilometres"),
            ("5km", 5, "kilometres"),
            ("100 000 km²", 100_000, "square kilometres"),
            ("3 m/s", 3, "metres per second"),
            ("-4 °C", -4, "degrees Celsius"),
            ("\u22123", -3, None),
            ("(1,200)", -1200, None),
            ("2.5 million", 2_500_000, None),
            ("12[3]", 12, None),  # a footnote
            ("[247]", 247, None),
            ("1.00794(7)", 1.00794, None),
            ("5.1 ± 0.2", 5.1, None),
            ("6.02e23", 6.02e23, None),
            (".5", 0.5, None),
            ("12 seats", 12, "seats"),
        ],
    )
    def test_a_number_and_its_unit(self, text, number, unit):
        found = read_quantity(text)
        assert found is not None and found.unit == unit and found.number == pytest.approx(number)

    @pytest.mark.parametrize(
        "text",
        ["", "abc", "10-20", "<5", "1.2.3", "1,2345", "7up", "3rd", "$5/kg", "5 (approx)", "Apollo 13", "2020-03",
         "10:30", "nan", "inf", "1e999", "12 Main Street", "--5", "(5", "5)"],
    )  # fmt: skip
    def test_other_text_is_no_number(self, text):
        assert read_quantity(text) is None

    @pytest.mark.parametrize(
        ("text", "number"), [("1.234,5", 1234.5), ("12,5", 12.5), ("1 234,5", 1234.5), (",5", 0.5)]
    )
    def test_a_decimal_comma(self, text, number):
        assert read_quantity(text, ",") == Quantity(number)
        assert read_quantity(text, ".") is None

    @given(st.integers(-(10**15), 10**15), st.sampled_from([",", " ", "'", "\u00a0"]))
    def test_thousands_may_be_set_off_in_any_way(self, number, mark):
        assert read_quantity(f"{number:,}".replace(",", mark)) == Quantity(number)

    @given(st.floats(-1e12, 1e12).map(lambda number: round(number, 3)))
    def test_both_styles_write_the_same_numbers(self, number):
        text = f"{number:,.3f}"
        swapped = text.translate(str.maketrans(",.", ".,"))
        found = read_quantity(text, ".")
        assert found is not None and found == read_quantity(swapped, ",") and found.number == pytest.approx(number)

    @given(st.text(max_size=15))
    def test_any_text_is_a_finite_number_or_none(self, text):
        for decimal in ".,":
            quantity = read_quantity(text, decimal)
            assert quantity is None or math.isfinite(quantity.number)

    @pytest.mark.parametrize(
        ("cells", "mark", "why"),
        [
            (["1,234", "5"], ".", "'1,234' may be thousands or decimals, no cell says: thousands are taken"),
            (["1,234", "5,5"], ",", "'5,5' has a decimal comma"),
            (["1,234", "5.5"], ".", "'5.5' has a decimal point, so '1,234' is a thousand"),
            (["1,234,567", "2,345"], ".", "in '1,234,567' a comma parts thousands"),
            (["1.234", "5.5"], ".", ""),
            (["1", "2"], ".", ""),
        ],
    )
    def test_the_cells_of_a_column_say_what_a_comma_is(self, cells, mark, why):
        found = decimal_mark(cells)
        assert (found.mark, found.why) == (mark, why)
        assert decimal_mark(reversed(cells)).mark == mark

    def test_in_a_file_with_semicolons_a_comma_is_likely_decimal(self):
        found = decimal_mark(["1,234"], likely=",")
        assert found.mark == "," and "no cell says: decimals are taken" in found.why


class TestUnits:
    @pytest.mark.parametrize(
        ("spellings", "name"),
        [
            (("kg", "KG", "Kg", "kilograms", "kilogram"), "kilograms"),
            (("km²", "km2", "km^2", "sq km", "square kilometers", "square kilometres", "sqkm"), "square kilometres"),
            (("km/h", "kmh", "kph", "kilometers per hour"), "kilometres per hour"),
            (("mph", "miles per hour", "mi/h"), "miles per hour"),
            (("°C", "C", "celsius", "degrees Celsius"), "degrees Celsius"),
            (("ft", "feet", "foot"), "feet"),
            (("%", "pct", "percent"), "percent"),
            (("g/cm³", "g cm-3", "g/cm^3"), "grams per cubic centimetre"),
            (("min", "mins", "Minutes"), "minutes"),
            (("yr", "yrs", "years"), "years"),
            (("$",), "dollars"),
            (("EUR", "€"), "euros"),
        ],
    )
    def test_spellings_of_one_unit_have_one_name(self, spellings, name):
        assert {unit_named(text) for text in (*spellings, name)} == {name}

    @pytest.mark.parametrize(
        "text", ["", "apples", "2019", "e", "c", "x", "n", "M", "()", "a b c", "//", "1", "in millions"]
    )
    def test_what_is_no_unit(self, text):
        assert unit_named(text) is None

    @given(st.text(max_size=20))
    def test_any_text_is_a_unit_with_a_name_that_reads_back_or_none(self, text):
        name = unit_named(text)
        assert name is None or unit_named(name) == name

    @pytest.mark.parametrize(
        ("number", "unit", "to", "expected"),
        [
            (5, "kilometres", "metres", 5000),
            (32, "degrees Fahrenheit", "degrees Celsius", 0),
            (1, "hours", "seconds", 3600),
            (1, "years", "days", 365.25),
            (2, "miles per hour", "kilometres per hour", 3.218688),
        ],
    )
    def test_conversion(self, number, unit, to, expected):
        assert converted(np.array([number]), unit, to).tolist() == [expected]

    def test_only_one_dimension_can_be_converted(self):
        assert same_dimension("years", "picoseconds") and same_dimension("feet", "metres")
        assert not same_dimension("kilograms", "metres") and not same_dimension("dollars", "euros")
        assert not same_dimension("degrees", "percent")  # neither has a dimension, and they are different things


class TestHeaders:
    @pytest.mark.parametrize(
        ("header", "name", "unit", "scale"),
        [
            ("mass (kg)", "mass", "kilograms", 1),
            ("Height [cm]", "Height", "centimetres", 1),
            ("height_m", "height", "metres", 1),
            ("Weight_in_lbs", "Weight", "pounds", 1),
            ("Running Time min", "Running Time", "minutes", 1),
            ("Area, km²", "Area", "square kilometres", 1),
            ("Miles_per_Gallon", "Miles_per_Gallon", "miles per gallon", 1),
            ("GDP (US$ millions)", "GDP", "US dollars", 1e6),
            ("budget ($M)", "budget", "dollars", 1e6),
            ("population (thousands)", "population", "", 1e3),
            ("share (%)", "share", "percent", 1),
            ("latitude", "latitude", "degrees", 1),
            ("price_per_kg", "price_per_kg", "", 1),
            ("team_a", "team_a", "", 1),
            ("check_in", "check_in", "", 1),
            ("population (2019)", "population (2019)", "", 1),
            ("name (short)", "name (short)", "", 1),
        ],
    )
    def test_a_header_says_the_unit(self, header, name, unit, scale):
        found = read_header(header)
        assert found == Header(name, unit, scale, found.why) and bool(found.why) == (bool(unit) or scale != 1)


class TestDates:
    @pytest.mark.parametrize(
        ("text", "date"),
        [
            ("2020-03-05", "2020-03-05"),
            ("2020-03", "2020-03"),
            ("2020/03/05", "2020-03-05"),
            ("5 March 2020", "2020-03-05"),
            ("5th of March, 2020", "2020-03-05"),
            ("March 5, 2020", "2020-03-05"),
            ("Mar 5 2020", "2020-03-05"),
            ("5-Mar-20", "2020-03-05"),
            ("5-Mar-69", "1969-03-05"),
            ("Thu, 5 Mar 2020", "2020-03-05"),
            ("March 2020", "2020-03"),
            ("2020-Q2", "2020-04"),
            ("03/05/2020", "2020-03-05"),
            ("03/05/20", "2020-03-05"),
            ("03/05/2020 3:30 PM", "2020-03-05T15:30:00"),
            ("2020-03-05 12:00", "2020-03-05T12:00"),
            ("-0044-03-15", "-0044-03-15"),
        ],
    )
    def test_a_date_as_people_write_it(self, text, date):
        assert read_day(text) == read_date(date)

    @pytest.mark.parametrize("text", ["", "May", "Mar 5", "1999", "12", "5.5", "a-b-c", "1/2", "10:30"])
    def test_what_is_no_date(self, text):
        assert read_day(text) is None

    @pytest.mark.parametrize("text", ["31 Feb 2020", "2020-02-31", "13/13/2020", "March 32, 2020", "2020-03-05 25:00"])
    def test_a_day_that_there_was_not_is_an_error(self, text):
        with pytest.raises(BadDateError):
            read_day(text)

    @given(st.dates(), st.sampled_from(["/", "."]))
    def test_the_order_of_day_and_month(self, day, mark):
        for order, text in (
            ("dmy", f"{day:%d}{mark}{day:%m}{mark}{day.year:04d}"),
            ("mdy", f"{day:%m}{mark}{day:%d}{mark}{day.year:04d}"),
        ):
            assert read_day(text, order) == read_date(f"{day.year:04d}-{day:%m-%d}")

    @pytest.mark.parametrize(
        ("cells", "order", "why"),
        [
            (["13/02/2020", "01/02/2020"], "dmy", "'13/02/2020' shows that the day comes first"),
            (["02/13/2020", "01/02/2020"], "mdy", "'02/13/2020' shows that the month comes first"),
            (["01/02/2020"], "mdy", "may begin with day or month, no cell says: the month is taken"),
            (["01.02.2020"], "dmy", "may begin with day or month, no cell says: the day is taken"),
            (["01/02/20"], "mdy", "years of two digits below 69 are 20.."),
        ],
    )
    def test_the_cells_of_a_column_say_the_order(self, cells, order, why):
        found = date_order(cells)
        assert found.order == order and why in found.why

    @given(st.datetimes())
    def test_typed_times_and_iso_text_are_read_as_one_by_one(self, time):
        expected = read_date(time.isoformat())
        assert iso_years(pa.array([time.isoformat()]) if 1678 < time.year < 2262 else pa.array(["2000-01-01"]))[0] in (
            expected,
            2000,
        )
        assert years_of(pa.array([time], pa.timestamp("us")))[0] == expected
        assert years_of(pa.array([time.date()], pa.date32()))[0] == read_date(time.date().isoformat())


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "hours", "minutes"),
        [("10:30", 10.5, 10.5), ("1:30 PM", 13.5, None), ("12:15 am", 0.25, None), ("1:02:30", 1 + 2.5 / 60, 62.5)],
    )
    def test_a_time_in_hours_or_a_length_in_minutes(self, text, hours, minutes):
        assert read_clock(text) == pytest.approx(hours)
        if minutes is not None:
            assert read_clock(text, "m:s") == pytest.approx(minutes)

    @pytest.mark.parametrize("text", ["10:75", "13:00 PM", "noon", "10", "1:2"])
    def test_what_is_no_time(self, text):
        assert read_clock(text) is None

    def test_what_is_beyond_a_day_is_minutes_and_seconds(self):
        assert clock_of(["3:59", "75:10"])[0] == "m:s" and clock_of(["3:59", "23:10"])[0] == "h:m"

    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("PT2H", 7200), ("PT1H30M", 5400), ("P1Y", 31_557_600), ("P2W", 14 * 86400), ("-PT5S", -5), ("1h 30min", 5400),
         ("2 hours, 5 minutes", 7500), ("1d 2h", 26 * 3600)],
    )  # fmt: skip
    def test_a_duration(self, text, seconds):
        assert read_duration(text) == seconds

    @pytest.mark.parametrize("text", ["P", "PT", "5 h", "", "h", "1 2 3"])
    def test_what_is_no_duration(self, text):
        assert read_duration(text) is None


_BEFORE = ("", "$", "-", "\u2212", "(", "$-", "USD ", "[", "~", " ")
_BEHIND = ("", " km", "km", "%", ")", " million", "M", " min", "\u00b0C", "]", "rd", "e", " seats", "-", " bn")
_NUMBERS = ("1", "1,234", "1.234", "12,345.5", "0.5", "1,2345", "007", "1,23,456", "1.", ".5", "12.345.678,9", "9" * 21)


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("unit", ["", "dollars", "kilometres", "minutes"])
def test_what_is_read_in_one_go_is_what_is_read_one_by_one(decimal, unit):
    texts = [f"{before}{number}{behind}" for before in _BEFORE for number in _NUMBERS for behind in _BEHIND]
    found = _surrounded(pa.array(texts), decimal, unit)
    assert np.isfinite(found).sum() > 50
    for text, number in zip(texts, found.tolist(), strict=True):
        if not math.isnan(number):
            quantity = read_quantity(text, decimal)
            assert quantity is not None and quantity.unit in (None, unit) and quantity.number == number, text
