"""What is released: the wheel and the sdist, the documentation site, the citation, the image."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import kgreckon

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The wheel and the sdist, built from a copy of what they are made of."""
    folder = tmp_path_factory.mktemp("release")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return wheel, sdist


class TestPackages:
    def test_the_wheel_holds_every_file_of_the_package(self, packages):
        with zipfile.ZipFile(packages[0]) as wheel:
            held = {name for name in wheel.namelist() if name.startswith("kgreckon/")}
        source = ROOT / "src"
        files = {
            path.relative_to(source).as_posix()
            for path in (source / "kgreckon").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert held == files and "kgreckon/py.typed" in held

    def test_the_wheel_states_version_licence_and_command(self, packages):
        assert f"-{kgreckon.__version__}-py3-none-any.whl" in packages[0].name
        with zipfile.ZipFile(packages[0]) as wheel:
            texts = {name.partition(".dist-info/")[2]: name for name in wheel.namelist() if ".dist-info/" in name}
            metadata = wheel.read(texts["METADATA"]).decode()
            commands = wheel.read(texts["entry_points.txt"]).decode()
        assert "License-Expression: Apache-2.0" in metadata and "kgreckon = kgreckon.cli:main" in commands
        assert {"licenses/LICENSE", "licenses/NOTICE"} <= set(texts)

    def test_the_wheel_answers_a_question_on_its_own(self, packages, tmp_path):
        with zipfile.ZipFile(packages[0]) as wheel:
            wheel.extractall(tmp_path)
        program = "import kgreckon as kg; print(kg.__file__, kg.load('world').ask('(rp,(^capital_of),(e,(Japan)))'))"
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert str(tmp_path) in done.stdout and "Tokyo" in done.stdout, done.stderr

    def test_the_sdist_can_be_built_again(self, packages):
        with tarfile.open(packages[1]) as sdist:
            held = {name.partition("/")[2] for name in sdist.getnames()}
        needed = {"pyproject.toml", "README.md", "LICENSE", "NOTICE", "src/kgreckon/server/page/index.html"}
        assert needed <= held


def test_the_documentation_is_built_without_a_broken_link(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    reference = (tmp_path / "reference" / "index.html").read_text(encoding="utf-8")
    classes_and_functions = set(kgreckon.__all__) - {"__version__"}
    assert not {name for name in classes_and_functions if f'id="kgreckon.{name}"' not in reference}


def test_every_page_and_notebook_has_its_place_in_the_site():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    placed = set(re.findall(r": (\S+)\.md$", config, re.M))
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}
    assert placed == pages | notebooks | {"contributing", "changelog"}


def test_pictures_are_shown_and_small():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"pictures/(\w+\.png)", page.read_text(encoding="utf-8"))}
    pictures = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures").iterdir()}
    assert shown == set(pictures) and max(pictures.values()) <= 300_000


def test_the_changelog_of_the_next_release_fits_a_page():
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert unreleased.startswith("Unreleased") and len(unreleased.splitlines()) <= 100


CLIENT = """
import kgreckon as kg

answerer = kg.load("world")
answers = answerer.ask("cities in Japan", limit=3, explain=True)
reveal_type(answers)
for answer in answers:
    reveal_type(answer.score)
    reveal_type(answer.reason)
graph = kg.KnowledgeGraph.from_tables("films.csv")
run = kg.learn(graph, "run", preset="small")
reveal_type(run.quality())
reveal_type(answerer.predict("Japan", "area").low)
answerer.ask(7)
"""


def test_a_clients_script_is_checked_against_the_types(tmp_path):
    (tmp_path / "client.py").write_text(CLIENT)
    config = str(ROOT / "pyproject.toml")  # whose cache is warm where the project itself was checked
    command = [sys.executable, "-m", "mypy", "--config-file", config, str(tmp_path / "client.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    revealed = re.findall(r'Revealed type is "([^"]+)"', done.stdout)
    kinds = [re.sub(r"[\w.]*\.(?=\w)", "", kind) for kind in revealed]
    assert kinds == ["Answers", "float", "Reason | None", "Quality | None", "float"], done.stdout + done.stderr
    assert done.stdout.count("error:") == 1 and 'has incompatible type "int"' in done.stdout


@pytest.mark.parametrize(("typed", "offered"), [("se", {"serve"}), ("serve --at", {"--at-once"})])
def test_a_shell_completes_commands_and_options(typed, offered):
    words = ["kgreckon", *typed.split()]
    asked = {"_KGRECKON_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [str(Path(sys.executable).with_name("kgreckon"))]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True)
    assert set(done.stdout.split()) == offered, done.stderr


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == kgreckon.__version__ and citation["license"] == "Apache-2.0"
    assert {"cff-version", "message", "title", "authors", "type"} <= set(citation)


def test_the_image_is_made_of_files_that_there_are():
    """There is no engine where the tests run: what can be checked without one."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.M) for name in line.split()[:-1]]
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert copied and all((ROOT / name).exists() and f"!{name}" in allowed for name in copied)
    extras = set(re.findall(r"'\.\[([\w,]+)\]'", text)[0].split(","))
    assert extras <= set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M))
    assert "USER reckoner" in text
