"""The house keeps its walls: one interface for models, names that mean one thing, extras that can be left out."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import NoneType
from typing import get_args, get_type_hints

import pytest
import typer.main

import kgreckon
from kgreckon.answers import Only
from kgreckon.benchmark.balancing import Balance
from kgreckon.benchmark.splits import Split
from kgreckon.cli import app
from kgreckon.cli.answers import AccessLogOption, OnlyOption
from kgreckon.cli.app import BalanceOption, ComparisonsOption
from kgreckon.errors import EXTRAS
from kgreckon.exact import ComparisonMode
from kgreckon.models.registry import families
from kgreckon.server import AccessLog

SOURCE = Path(kgreckon.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
# Names that mean the same in each folder that has one.
SHARED = {
    "__init__",
    "family",  # of models: how it is configured, trained and opened
    "training",
}


def names_defined_in(folder: str) -> set[str]:
    """The classes that the modules of a folder define."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / folder).rglob("*.py"))
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def outside_models() -> list[Path]:
    return [path for path in MODULES if SOURCE / "models" not in path.parents]


def names_in(node: ast.AST) -> set[str]:
    """The last part of every name in an expression, of `interface.Model` too."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def strings_in(node: ast.AST) -> set[object]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def questions_of_kind(source: str, kinds: set[str]) -> list[int]:
    """The lines of a module that ask whether something is of some kinds: isinstance, issubclass, type(x), match."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        named: set[str] = set()
        if isinstance(node, ast.Call) and names_in(node.func) & {"isinstance", "issubclass"}:
            named = names_in(node.args[1])
        elif isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Call) and names_in(side.func) == {"type"} for side in sides):
                named = set().union(*map(names_in, sides))
        elif isinstance(node, ast.MatchClass):
            named = names_in(node.cls)
        if isinstance(node, ast.expr | ast.pattern) and named & kinds:
            lines.append(node.lineno)
    return lines


def comparisons_with(source: str, names: set[str]) -> list[int]:
    """The lines of a module that compare something with one of some texts."""
    parts = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare | ast.MatchValue))
    return [part.lineno for part in parts if strings_in(part) & names]


def test_nobody_outside_models_asks_which_model_it_has():
    kinds = names_defined_in("models")
    assert {"Model", "NeuralModel", "ReckonerModel", "ExactModel", "NeuralSettings"} <= kinds
    asked = {path: questions_of_kind(path.read_text(encoding="utf-8"), kinds) for path in outside_models()}
    assert not [f"{path.relative_to(SOURCE)}:{line}" for path, lines in asked.items() for line in lines]
    for text in (
        "isinstance(model, ReckonerModel)",
        "isinstance(model, int | interface.TrainedModel)",
        "type(model) is NeuralModel",
        "match model:\n    case ExactModel():\n        pass",
    ):
        assert questions_of_kind(text, kinds), text


def test_no_models_name_is_a_flag_in_python():
    names = {"exact", *families(), *(model for family in families().values() for model in family.models)}
    assert {"exact", "reckoner", "neural", "gqe", "query2particles"} <= names
    asked = {path: comparisons_with(path.read_text(encoding="utf-8"), names) for path in outside_models()}
    assert not [f"{path.relative_to(SOURCE)}:{line}" for path, lines in asked.items() for line in lines]
    for text in ("model.name == 'reckoner'", "'neural' in header", "match name:\n    case 'gqe':\n        pass"):
        assert comparisons_with(text, names), text


def test_the_page_knows_no_models_name():
    files = [path for path in (SOURCE / "server" / "page").rglob("*") if path.suffix in (".js", ".html", ".css")]
    names = {model for family in families().values() for model in family.models}
    assert len(files) > 10
    for path in files:
        assert not set(re.findall(r"\w+", path.read_text(encoding="utf-8").lower())) & names, path.name


def test_a_modules_name_occurs_once():
    counts = Counter(path.stem for path in MODULES)
    assert not {name for name, count in counts.items() if count > 1} - SHARED


@pytest.mark.parametrize("folder", ["query", "exact", "models", "evaluation"])
def test_the_types_of_the_core_are_true(folder):
    assert not [path for path in (SOURCE / folder).rglob("*.py") if "type: ignore" in path.read_text(encoding="utf-8")]


def test_the_types_of_scripts_are_checked():
    root = SOURCE.parents[1]
    overrides = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    (checked,) = (each["module"] for each in overrides if each.get("disallow_untyped_defs"))
    scripts = {path.stem for folder in ("bench", "experiments", "scripts") for path in (root / folder).glob("*.py")}
    assert set(checked) == {"kgreckon.*", *scripts}


def test_every_class_name_means_one_thing():
    places: Counter[str] = Counter()
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        places.update(node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    assert not [name for name, count in places.items() if count > 1]


def test_an_option_takes_the_same_on_every_command():
    taken: dict[str, set[object]] = {}
    for command in typer.main.get_command(app).commands.values():  # type: ignore[attr-defined]
        types = get_type_hints(command.callback)
        for option in (parameter for parameter in command.params if parameter.param_type_name == "option"):
            for name in option.opts:
                kind = types[option.name]
                taken.setdefault(name, set()).add(get_args(kind)[0] if NoneType in get_args(kind) else kind)
    assert len(taken) > 40 and not {name: kinds for name, kinds in taken.items() if len(kinds) > 1}


BLOCK = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
LEARN = {"torch", "safetensors", "tensorboard", "sklearn"}
SERVER = {"starlette", "uvicorn", "anyio", "h11"}
REPORT = {"matplotlib", "pandas"}


def without(missing: set[str], program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A program, run where some libraries are not installed."""
    source = BLOCK.format(missing=missing) + program
    return subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False)


def command(*arguments: str) -> str:
    return f"sys.argv = ['kgreckon', *{arguments!r}]\nfrom kgreckon.cli import main\nmain()"


def test_the_core_does_without_the_extras(tmp_path):
    program = """
import kgreckon as kg
from pathlib import Path
Path("f.csv").write_text("head,relation,tail\\nOslo,in,Norway\\nBergen,in,Norway\\nKyoto,in,Japan\\n")
graph, report = kg.read_sources([Path("f.csv")])
graph.save(Path("g"))
assert {answer.label for answer in kg.load("g").ask("(rp,(^in),(e,(Norway)))", explain=True)} == {"Bergen", "Oslo"}
assert len(kg.load("g").ask("SELECT ?x { ?x :in :Japan }")) == 1
assert kg.build("g", "b", types=["1p"], queries=2).types
"""
    done = without(LEARN | SERVER | REPORT, program, tmp_path)
    assert done.returncode == 0, done.stderr
    for arguments in (("ask", "g", "(rp,(^in),(e,(Norway)))"), ("stats", "g"), ("stats", "b"), ("--help",)):
        done = without(LEARN | SERVER | REPORT, command(*arguments), tmp_path)
        assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        (LEARN, "learn", ("train", "b", "--model", "gqe", "--out", "r")),
        (LEARN, "learn", ("train", "b", "--model", "reckoner", "--out", "r")),
        (SERVER, "server", ("serve", "world")),
        (SERVER, "agents", ("mcp", "world")),
        ({"matplotlib"}, "report", ("reproduce", "db15k", "--data", "b", "--out", "r")),
    ],
)
def test_a_command_whose_extra_is_missing_says_which(tmp_path, missing, extra, arguments):
    program = "import kgreckon as kg\nkg.build('world', 'b', types=['1p'], queries=1)\n"
    if "b" in arguments and extra == "learn":
        assert without(set(), program, tmp_path).returncode == 0
    done = without(missing, command(*arguments), tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert f"pip install 'kgreckon[{extra}]'" in done.stderr
    assert not (tmp_path / "r").exists()


def test_python_too_says_which_extra_is_missing(tmp_path):
    program = """
import kgreckon as kg
frame = kg.load("world").ask("cities in Norway", limit=2).to_pandas
for call in (frame, lambda: kg.evaluate, lambda: kg.train("b", "gqe", out="r"), lambda: kg.learn("world", out="r")):
    try:
        call()
    except kg.UserError as error:
        assert isinstance(error, ImportError)
        assert f"pip install 'kgreckon[{'tables' if call is frame else 'learn'}]'" in str(error)
    else:
        raise AssertionError(call)
"""
    done = without({*LEARN, "pandas"}, program, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_extras_that_errors_name_bring_the_libraries():
    declared = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {"sklearn": "scikit-learn", "mcp_types": "mcp-types"}
    brought = {
        re.split("[<>=[]", line)[0]: extra
        for extra in ("report", "tables", "agents", "server", "learn")
        for line in declared["optional-dependencies"][extra]
        if not line.startswith("kgreckon")
    }
    assert {brought[named.get(library, library)] == extra for library, extra in EXTRAS.items()} == {True}
    assert {named.get(library, library) for library in EXTRAS} == set(brought)


def test_the_choices_of_options_are_those_of_the_library():
    for option, choices in (
        (ComparisonsOption, ComparisonMode),
        (BalanceOption, Balance),
        (OnlyOption, Only),
        (AccessLogOption, AccessLog),
    ):
        assert [choice.value for choice in option] == [choice.value for choice in choices], option


def test_importing_the_package_imports_no_library_that_is_not_needed():
    program = "import sys, kgreckon; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {name.partition(".")[0] for name in done.stdout.split()} & (
        LEARN | SERVER | REPORT | {"numpy", "rdflib"}
    )


def test_every_public_name_is_there_and_typed():
    for name in kgreckon.__all__:
        assert getattr(kgreckon, name) is not None
    assert (SOURCE / "py.typed").is_file()
    assert dir(kgreckon) == kgreckon.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = importlib.import_module("kgreckon").nothing


def test_what_the_interface_gives_prints_itself_and_is_taken_where_its_folder_is(tmp_path):
    graph = kgreckon.open_graph("world")
    assert repr(graph).startswith("KnowledgeGraph: 10,829 entities, 41,558 facts of 14 relations")
    question = "(rp,(^capital_of),(e,(Japan)))"
    assert repr(kgreckon.load(graph).ask(question)) == repr(kgreckon.load("world").ask(question))
    assert kgreckon.load(graph).in_words(question) == "the capital of Japan"
    benchmark = kgreckon.build(graph, tmp_path / "b", types=["1p"], queries=20)
    run = kgreckon.train(benchmark, "gqe", out=tmp_path / "r", preset="small", dimension=8, steps=2)
    queries = next(iter(benchmark.query_sets(Split.TEST, "1p")))
    for opened in (benchmark, run, kgreckon.load(run), graph.values, graph.vocabulary, queries):
        assert "\n" not in repr(opened) and "<" not in repr(opened) and len(repr(opened)) < 300
    result = run.evaluate(queries_per_type=2)
    assert "<th>MRR</th>" in result._repr_html_() and repr(result).startswith("test split")
