"""Comparisons, sorts and shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.query import (
    GENERAL_TYPES,
    SEVEN,
    And,
    Batch,
    Comparison,
    Order,
    Shape,
    general_type,
    shape_of,
    sort_of,
    specific_shapes,
    specific_type,
)
from kgreckon.query.algebra import Entity, EntitySort, Follow, HavingValue, Number, ValueOf
from strategies import comparisons, graphs, queries


class TestComparison:
    def test_the_seven_mean_what_the_paper_names(self):
        holds = {name: comparison.holds for name, comparison in SEVEN.items()}
        assert list(SEVEN) == [
            "EqualTo",
            "SmallerThan",
            "GreaterThan",
            "TwiceEqualTo",
            "ThreeTimesEqualTo",
            "TwiceGreaterThan",
            "ThreeTimesGreaterThan",
        ]
        assert holds["EqualTo"](100.5, 100.0) and not holds["EqualTo"](102.0, 100.0)
        assert holds["SmallerThan"](1, 2) and not holds["SmallerThan"](2, 2)
        assert holds["GreaterThan"](3, 2) and not holds["GreaterThan"](2, 2)
        assert holds["TwiceEqualTo"](4, 2) and not holds["TwiceEqualTo"](2, 4)
        assert holds["ThreeTimesEqualTo"](6, 2)
        assert holds["TwiceGreaterThan"](5, 2) and not holds["TwiceGreaterThan"](4, 2)
        assert holds["ThreeTimesGreaterThan"](7, 2) and not holds["ThreeTimesGreaterThan"](6, 2)

    def test_equality_never_holds_at_zero_unless_it_is_exact(self):
        assert not SEVEN["EqualTo"].holds(0.0, 0.0)
        assert Comparison(Order.EQUAL, tolerance=0.0).holds(0.0, 0.0)

    def test_a_share_so_wide_that_equal_numbers_are_no_range_is_refused(self):
        assert Comparison.parse("x = y within 2").tolerance == 2
        with pytest.raises(UserError, match="2 at most, not 3"):
            Comparison.parse("x = y within 3")

    @given(comparisons())
    def test_reading_inverts_writing(self, comparison):
        again = Comparison.parse(str(comparison))
        ignores_tolerance = comparison.order not in (Order.EQUAL, Order.UNEQUAL)
        assert again == comparison or (ignores_tolerance and str(again) == str(comparison))

    @pytest.mark.parametrize(
        ("text", "read"),
        {
            "x>y": Comparison(Order.GREATER),
            " x  <=  -  y ": Comparison(Order.AT_MOST, factor=-1.0),
            "x > 2 * y + 3": Comparison(Order.GREATER, factor=2.0, offset=3.0),
            "x = -1.5e1·y-4 within 0": Comparison(Order.EQUAL, factor=-15.0, offset=-4.0, tolerance=0.0),
        }.items(),
    )
    def test_blanks_do_not_count(self, text, read):
        assert Comparison.parse(text) == read

    @pytest.mark.parametrize("text", ["x ={}z", "x = 1{}*{}z", "x = y{}+{}z", "x = y{}within{}z", "x{}z"])
    def test_many_blanks_take_no_time(self, text):
        """Were there two ways to match a run of blanks, this would take days."""
        with pytest.raises(UserError, match="unknown comparison"):
            Comparison.parse(text.format(*[" " * 30_000] * 2))

    @pytest.mark.parametrize("text", ["", "Bigger", "x > z", "x >> 2y", "y > x", "x > 2y + ", "x > nan y"])
    def test_what_is_no_comparison_is_an_error(self, text):
        with pytest.raises(UserError, match="unknown comparison"):
            Comparison.parse(text)


class TestSorts:
    @given(st.data())
    def test_random_well_sorted_queries_have_a_sort_that_agrees_with_their_shape(self, data):
        graph = data.draw(graphs())
        query = data.draw(queries(graph))
        assert isinstance(sort_of(query, graph.vocabulary), EntitySort) != shape_of(query).denotes_numbers

    @given(graphs())
    def test_what_cannot_be_meant_is_rejected(self, graph):
        units = graph.vocabulary
        number, entity = Number(1.0, units.attribute_unit(0)), Entity(0)
        for wrong in (
            Follow(0, number),
            ValueOf(0, number),
            HavingValue(0, entity),
            HavingValue(0, Number(1.0, "parsecs")),
            And((number, entity)),
            And((number, Number(1.0, "parsecs"))),
            And(()),
        ):
            with pytest.raises(UserError):
                sort_of(wrong, units)


class TestShapes:
    def test_the_eight_general_types(self):
        assert list(GENERAL_TYPES) == ["1p", "2p", "2i", "3i", "pi", "ip", "2u", "up"]
        for name, shape in GENERAL_TYPES.items():
            assert general_type(shape) == name

    def test_how_many_specific_types_there_are(self):
        counts = {name: len(specific_shapes(shape)) for name, shape in GENERAL_TYPES.items()}
        # A projection into a sort has two forms, and the parts of an intersection or union are unordered.
        assert counts == {"1p": 4, "2p": 8, "2i": 6, "3i": 8, "pi": 16, "ip": 12, "2u": 6, "up": 12}

    @pytest.mark.parametrize("name", GENERAL_TYPES)
    def test_specific_shapes_are_well_sorted_and_of_their_general_type(self, name):
        for shape in specific_shapes(GENERAL_TYPES[name]):
            assert shape.denotes_numbers in (True, False)
            assert general_type(shape) == name
            assert specific_type(shape) == shape.text
            assert Shape.parse(shape.text) == shape

    def test_the_order_of_parts_does_not_matter_to_a_type(self):
        one = Shape.parse("(i,(rp,(rp,(e))),(rap,(nv)))")
        other = Shape.parse("(i,(rap,(nv)),(rp,(rp,(e))))")
        assert specific_type(one) == specific_type(other) and general_type(one) == "pi"

    def test_a_type_without_a_name_is_written_out(self):
        assert general_type(Shape.parse("(rp,(rp,(rp,(rp,(rp,(e))))))")) == "(p,(p,(p,(p,(p,(e))))))"
        assert len(specific_shapes(Shape.parse("(i,(p,(e)),(n,(p,(e))))"))) == 8

    @pytest.mark.parametrize(
        "text", ["", "p", "(p", "(p)", "(q,(e))", "(p,(e),(e))", "(e,(e))", "(p,(e)))", "(i)", "(n,(e),(e))", "(" * 99]
    )
    def test_a_malformed_type_is_an_error(self, text):
        with pytest.raises(UserError):
            Shape.parse(text)

    def test_sorts_that_do_not_fit_are_an_error(self):
        for text in ("(rp,(nv))", "(ap,(ap,(e)))", "(rap,(e))", "(np,(rp,(e)))", "(i,(rp,(e)),(ap,(e)))", "(p,(e))"):
            with pytest.raises(UserError):
                Shape.parse(text).check()

    @given(st.data())
    def test_a_batch_gives_its_queries_back(self, data):
        graph = data.draw(graphs())
        query = data.draw(queries(graph))
        batch = Batch.of([query, query], graph.values)
        assert batch.shape == shape_of(query) and batch.ids.shape == (2, batch.shape.width)
        assert batch.query(1, graph.values) == query

    def test_a_batch_holds_one_shape_and_as_many_columns_as_it_needs(self, world_graph):
        with pytest.raises(ValueError, match="one shape"):
            Batch.of([Entity(0), Follow(0, Entity(0))], world_graph.values)
        import numpy as np

        with pytest.raises(ValueError, match="needs 2 columns"):
            Batch(Shape.parse("(rp,(e))"), np.zeros((1, 3), dtype=np.int32))
