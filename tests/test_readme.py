"""What the documentation shows runs as written, prints what it shows, and names only what there is."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

import kgreckon
from kgreckon.cli import app
from kgreckon.models.registry import choose_settings, family_of
from kgreckon.models.settings import described
from kgreckon.reproduce.plan import BACKBONES, plans_for
from small_world import small_world

MARK = "-- the end of a block --"
ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)


def commands_in(page: str) -> list[str]:
    """What follows `kgreckon` in the blocks of a page, fenced or indented, and between backticks."""
    text = text_of(page).replace("\\\n", " ")
    fenced = "\n".join(re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    lines = re.findall(r"^(?:\$ )?kgreckon (.+)$", fenced, re.MULTILINE)
    lines += re.findall(r"^    (?:\$ )?kgreckon (.+)$", text, re.MULTILINE)
    return lines + re.findall(r"`kgreckon ([^`\n]+)`", text)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a command in a folder of its own, with kgreckon on the path."""
    folder = tmp_path_factory.mktemp("readme")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> str:
        environment = os.environ | {"PATH": path, "TERM": "dumb", "COLUMNS": "120"}
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        lines = done.stderr.splitlines()
        begin = next((place for place, line in enumerate(lines) if line.startswith("error")), len(lines))
        return done.stdout + "\n".join(lines[begin:])  # a mistake in a question is shown at its place, below

    return run


class TestCommands:
    def test_the_readme_shows_what_its_commands_print(self, shell):
        transcripts = [
            part for block in blocks("README.md", "console") for part in re.split(r"^\$ ", block, flags=re.M)[1:]
        ]
        assert len(transcripts) >= 5
        for transcript in transcripts:
            command, _, shown = transcript.partition("\n")
            assert shell(command).strip() == shown.strip(), command

    @pytest.mark.parametrize("page", PAGES)
    def test_every_command_and_option_shown_exists(self, page):
        commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
        for shown in commands_in(page):
            name, *rest = re.sub(r"'[^']*'|\s#.*", " ", shown).split()
            if name.startswith("-"):
                continue
            assert name in commands, f"{page}: kgreckon {shown}"
            options = {option for each in commands[name].params for option in (*each.opts, *each.secondary_opts)}
            named = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)} - {"--help"}
            assert named <= options, f"{page}: kgreckon {shown}"

    @pytest.mark.parametrize("model", ["gqe", "reckoner"])
    def test_help_settings_lists_name_default_choices_and_sentence(self, shell, model):
        printed = shell(f"kgreckon train --help-settings {model}")
        rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]
        assert rows == [list(row) for row in described(family_of(model).settings)]


@pytest.fixture(scope="module")
def reckoner(tmp_path_factory, world_graph):
    """What the commands of docs/reckoner.md train in minutes, here on a part of World and in seconds."""
    folder = tmp_path_factory.mktemp("trained")
    benchmark = kgreckon.build(small_world(world_graph, "Norway"), folder / "benchmark", types=["1p"], queries=100)
    return kgreckon.train(benchmark, "reckoner", out=folder / "run", preset="small", rank=16, epochs=2).folder


class TestPython:
    @pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
    def test_the_blocks_of_a_page_run_one_after_the_other(self, page, reckoner, tmp_path):
        found = re.findall(r"^```python\n(.*?)^```$(?:\n\n^```\n(.*?)^```$)?", text_of(page), re.DOTALL | re.MULTILINE)
        source = "\n".join(f"{block}\nprint({MARK!r})" for block, _ in found)
        if "runs/reckoner" in source:
            shutil.copytree(reckoner, tmp_path / "runs" / "reckoner")
            shutil.copytree(reckoner.parent / "benchmark", tmp_path / "runs" / "benchmark")  # moved with the run
        done = subprocess.run([sys.executable, "-"], input=source, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for (block, shown), printed in zip(found, done.stdout.split(f"{MARK}\n"), strict=False):
            assert not shown or printed == shown, block

    @pytest.mark.parametrize("page", PAGES)
    def test_no_block_hides_python_from_this_test(self, page):
        fences = re.findall(r"^```(\w*)\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)
        indented = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
        others = [block for language, block in fences if language != "python"]
        others += re.findall(r"^ {4}(.*)$", indented, re.MULTILINE)
        assert not [block for block in others if re.search(r"^(from \w\S* import|import) \w+", block, re.MULTILINE)]

    @pytest.mark.parametrize("page", PAGES)
    def test_every_dotted_name_of_the_package_exists(self, page):
        for name in set(re.findall(r"\bkgreckon(?:\.\w+)+", text_of(page))):
            place, _, attribute = name.rpartition(".")
            try:
                import_module(name)
            except ModuleNotFoundError:
                assert hasattr(import_module(place), attribute), f"{page}: {name}"

    def test_a_page_shows_every_public_name(self):
        shown = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", text_of("docs/python.md")))))
        assert not set(kgreckon.__all__) - shown


class TestWhatIsMade:
    """Pages, or parts of them, that scripts write."""

    def test_the_committed_results_are_what_the_files_give(self):
        subprocess.run([sys.executable, str(ROOT / "scripts" / "make_results.py"), "--check"], check=True)

    def test_the_examples_in_words_are_answered_as_shown(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "make_words.py"), "--check"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def test_the_tables_of_settings_are_what_the_declarations_give(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts" / "make_settings.py"), "--check"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def test_the_settings_of_a_reproduction_are_those_of_its_plans(self):
        rows = re.findall(r"^\| (\w+) \| ([\d,]+ \|.*) \|$", text_of("docs/training.md"), re.MULTILINE)
        shown = {model: [float(cell.replace(",", "")) for cell in cells.split(" | ")] for model, cells in rows}
        planned: dict[str, list[float]] = {}
        for model in BACKBONES:
            plans = [plans_for(graph, [model]) for graph in ("db15k", "yago15k", "fb15k")]
            (steps,) = {tuple(plan.settings["steps"] for plan in forms) for forms in zip(*plans, strict=True)}
            chosen = [choose_settings(**plan.settings) for graph in plans for plan in graph]
            names = ("learning_rate", "operator_rate", "value_weight")
            (others,) = {tuple(settings.model_dump()[name] for name in names) for settings in chosen}
            planned[model] = [*steps, *others]
        assert shown == planned

    @pytest.mark.parametrize(("page", "name"), [("training", "neural"), ("reckoner", "reckoner"), ("server", "limits")])
    def test_each_declaration_has_its_table(self, page, name):
        assert f"<!-- settings: {name} -->" in text_of(f"docs/{page}.md")


@cache
def tree() -> set[str]:
    """Every file and folder of the project, each by the end of its path, of any length."""
    ends = set()
    for place in (".ci", "bench", "docs", "experiments", "results", "scripts", "src", "tests", "."):
        for file in (ROOT / place).glob("*" if place == "." else "**/*"):
            if file.is_file() and "__pycache__" not in file.parts:
                path = file.relative_to(ROOT)
                for part in (path, *path.parents[:-1]):
                    ends |= {"/".join(part.parts[start:]) for start in range(len(part.parts))}
    return ends


class TestPaths:
    @pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
    def test_files_and_folders_that_a_page_names_exist(self, page):
        quoted = re.findall(r"`([\w./-]+)`", text_of(page))
        paths = [path for path in quoted if "/" in path or path.endswith((".py", ".md", ".toml", ".json"))]
        assert len(paths) > 10
        assert not [path for path in paths if path.rstrip("/") not in tree()]

    def test_every_folder_of_the_package_stands_in_the_architecture(self):
        folders = {path.parent.name for path in (ROOT / "src" / "kgreckon").glob("*/__init__.py")}
        assert not [name for name in folders if f"`{name}/`" not in text_of("docs/architecture.md")]

    @pytest.mark.parametrize("page", PAGES)
    def test_links_lead_somewhere(self, page):
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text_of(page))
        files = [target for target in targets if not target.startswith(("http:", "https:"))]
        assert not [target for target in files if not (ROOT / page).parent.joinpath(target).exists()]

    def test_the_readme_leads_to_every_page(self):
        linked = re.findall(r"\]\(docs/([\w.]+\.md)", text_of("README.md"))
        assert {f"docs/{name}" for name in linked} == {page for page in PAGES if page.startswith("docs/")}
