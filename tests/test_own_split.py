"""A split of one's own: facts and values from files, some for each of the three graphs."""

import gzip

import numpy as np
import pytest

import kgreckon as kg
from kgreckon.benchmark import Split
from kgreckon.benchmark.split_files import read_split
from kgreckon.errors import UserError

TRAIN = "Oslo\tin\tNorway\nBergen\tin\tNorway\nKyoto\tin\tJapan\nNorway\tborders\tSweden\n"
VALID = "Tokyo\tin\tJapan\n"
TEST = "Osaka\tin\tJapan\nJapan\tnear\tKorea\n"  # an entity and a relation of its own
VALUES = {
    "train": "Oslo,latitude,59.9,degrees\nKyoto,latitude,35,degrees\nOslo,founded,1048-01-01,\n",
    "valid": "Tokyo,latitude,35.7,degrees\n",
    "test": "Osaka,latitude,59.9,degrees\n",
}


@pytest.fixture
def files(tmp_path):
    """Facts and values for each split."""
    for split, text in (("train", TRAIN), ("valid", VALID), ("test", TEST)):
        (tmp_path / f"{split}.tsv").write_text(text)
        (tmp_path / f"{split}.csv").write_text("entity,attribute,value,unit\n" + VALUES[split])
    return {split.label: [tmp_path / f"{split.label}.tsv", tmp_path / f"{split.label}.csv"] for split in Split}


def stated(graph):
    """The facts and values of a graph by name."""
    names = graph.vocabulary
    facts = {
        (names.entity_name(h), names.relation_name(2 * r), names.entity_name(t))
        for h, r, t in zip(*(column.tolist() for column in columns(graph.facts)), strict=True)
    }
    values = {
        (names.entity_name(e), names.attribute_name(a), graph.values.number_at(row)[0])
        for e, a, row in zip(*(column.tolist() for column in columns(graph.attribute_facts)), strict=True)
    }
    return facts, values


def columns(triples):
    return triples.sources, triples.labels, triples.targets


class TestReading:
    def test_each_fact_enters_at_its_split(self, files):
        split, report = read_split(files)
        facts = [stated(split.at(own))[0] for own in Split]
        values = [stated(split.at(own))[1] for own in Split]
        assert facts[0] == {tuple(line.split("\t")) for line in TRAIN.splitlines()}
        assert facts[1] - facts[0] == {("Tokyo", "in", "Japan")}
        assert facts[2] - facts[1] == {("Osaka", "in", "Japan"), ("Japan", "near", "Korea")}
        assert values[0] == {("Oslo", "latitude", 59.9), ("Kyoto", "latitude", 35.0), ("Oslo", "founded", 1048.0)}
        assert values[1] - values[0] == {("Tokyo", "latitude", 35.7)}
        assert values[2] - values[1] == {("Osaka", "latitude", 59.9)}
        assert not report.of_an_earlier_split

    def test_random_splits_come_back_however_the_files_are_ordered(self, tmp_path):
        rng = np.random.default_rng(0)
        facts = np.unique(rng.integers(0, 40, (600, 3)) % [40, 5, 40], axis=0)
        splits = rng.integers(0, 3, len(facts))
        for split in Split:
            own = rng.permutation(facts[splits == split])
            own = np.concatenate([own, own[:10]])  # a repeat within a split counts once
            with gzip.open(tmp_path / f"{split.label}.tsv.gz", "wt") as file:
                file.writelines(f"e{h}\tr{r}\te{t}\n" for h, r, t in own)
        found, report = read_split({split.label: tmp_path / f"{split.label}.tsv.gz" for split in Split})
        for split in Split:
            wanted = {(f"e{h}", f"r{r}", f"e{t}") for h, r, t in facts[splits <= split].tolist()}
            assert stated(found.at(split))[0] == wanted
        assert report.repeated_facts == 30

    def test_a_value_in_a_minority_unit_gives_no_split(self, tmp_path):
        """It is left out, and must not make the same number in the usual unit a training value."""
        rdf = "<x:a> <x:size> {} .\n"
        number, date = (
            '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '"0005"^^<http://www.w3.org/2001/XMLSchema#gYear>',
        )
        (tmp_path / "train.nt").write_text(rdf.format(date) + "<x:a> <x:r> <x:b> .\n")
        (tmp_path / "valid.nt").write_text(rdf.format(number) + rdf.replace("x:a", "x:b").format(number))
        (tmp_path / "test.nt").write_text(rdf.replace("x:a", "x:c").format(number))
        found, _ = read_split({split.label: tmp_path / f"{split.label}.nt" for split in Split})
        assert [len(found.at(split).attribute_facts) for split in Split] == [0, 2, 3]

    @pytest.mark.parametrize(
        ("name", "line", "problem"),
        [
            ("test.tsv", "Oslo\tin\tNorway", r"test\.tsv:3: 'Oslo' 'in' 'Norway' is in an earlier split too"),
            ("valid.tsv", "Norway\tborders\tSweden", r"valid\.tsv:2: 'Norway' 'borders' 'Sweden' is in an earlier"),
            ("test.csv", "Tokyo,latitude,35.7,degrees", r"test\.csv:3: 'Tokyo' 'latitude' 35\.7 is in an earlier"),
            ("test.csv", "Oslo,latitude,5.99e1,degrees", r"test\.csv:3: 'Oslo' 'latitude' 59\.9 is in an earlier"),
        ],
    )
    def test_a_fact_of_two_splits_is_an_error_with_its_line_or_counted_once(self, files, tmp_path, name, line, problem):
        before, _ = read_split(files)
        (tmp_path / name).write_text((tmp_path / name).read_text() + line + "\n")
        with pytest.raises(UserError, match=problem):
            read_split(files)
        after, report = read_split(files, skip_bad_lines=True)
        assert report.of_an_earlier_split == 1
        assert "facts and values that an earlier split has too, counted with it: 1" in report.remarks()
        for split in Split:
            assert stated(after.at(split)) == stated(before.at(split))

    def test_of_an_rdf_file_the_fact_is_named(self, tmp_path):
        for split in Split:
            (tmp_path / f"{split.label}.ttl").write_text(f"<x:{split.label}> <x:r> <x:b> .\n")
        (tmp_path / "test.ttl").write_text("<x:test> <x:r> <x:b> . <x:valid> <x:r> <x:b> .\n")
        with pytest.raises(UserError, match=r"test\.ttl: 'x:valid' 'x:r' 'x:b' is in an earlier split"):
            read_split({split.label: tmp_path / f"{split.label}.ttl" for split in Split})

    @pytest.mark.parametrize(
        "given",
        [{}, {"train": "a.tsv"}, {"train": "a.tsv", "valid": [], "test": "b.tsv"}, dict.fromkeys("abc", "a.tsv")],
    )
    def test_a_split_needs_all_three(self, given):
        with pytest.raises(UserError, match="a split needs files for train, valid and test"):
            read_split(given)

    def test_bad_lines_and_missing_files_are_named(self, files, tmp_path):
        (tmp_path / "valid.tsv").write_text(VALID + VALID + "Tokyo\tin\n")
        with pytest.raises(UserError, match=r"valid\.tsv:3: expected 3"):
            read_split({**files, "valid": tmp_path / "valid.tsv"})
        (tmp_path / "valid.tsv").write_text(VALID)
        with pytest.raises(UserError, match=r"other\.tsv: no such file"):
            read_split({**files, "test": str(tmp_path / "other.tsv")})


class TestBuilding:
    def test_a_benchmark_of_files(self, tmp_path):
        rng = np.random.default_rng(1)
        facts = np.unique(rng.integers(0, 30, (500, 3)) % [30, 4, 30], axis=0)
        splits = rng.choice(3, len(facts), p=[0.7, 0.15, 0.15])
        for split in Split:
            text = "".join(f"e{h}\tr{r}\te{t}\n" for h, r, t in facts[splits == split].tolist())
            (tmp_path / f"{split.label}.tsv").write_text(text)
        files = {split.label: tmp_path / f"{split.label}.tsv" for split in Split}
        benchmark = kg.build(files, tmp_path / "b", types=["1p", "2in"], queries=40)
        for split in Split:
            assert len(benchmark.graphs.at(split).facts) == (splits <= split).sum()
            assert benchmark.summary(split, "2in")["found"] > 0
        again = kg.build(files, tmp_path / "b", types=["1p", "2in"], queries=40)
        assert again.header == benchmark.header
        moved = {**files, "valid": files["test"], "test": files["valid"]}
        with pytest.raises(UserError, match="holds a benchmark of another graph"):
            kg.build(moved, tmp_path / "b", types=["1p", "2in"], queries=40)
