"""What others wrote and we build on: pinned, declared, used, and under licences that allow it."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kgreckon.errors import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = ("learn", "server", "tables", "agents", "report")  # the extras that users install
PINS: dict[str, str] = {
    canonicalize_name(name): version.strip()
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
}
MODULES = {"scikit-learn": "sklearn"}  # where a module is called otherwise than its package
PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC",
    "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib",
}  # fmt: skip
CLASSIFIED = {
    "Apache Software License", "BSD License", "ISC License (ISCL)", "MIT License", "Python Software Foundation License",
}  # fmt: skip
# Packages whose metadata name their licence in free text alone, looked up by hand.
LOOKED_UP = {"fonttools": "MIT", "protobuf": "BSD-3-Clause", "tzdata": "Apache-2.0"}
BY_CUDA = ("nvidia-", "cuda-", "triton")  # what torch brings beside it where it is installed for CUDA


def requirements(*extras: str) -> list[Requirement]:
    """What the package itself asks for, with the extras that an extra names."""
    stated = list(PROJECT["dependencies"])
    stated += [text for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    return [each for each in map(Requirement, stated) if each.name != PROJECT["name"]]


def closure() -> dict[str, metadata.Distribution]:
    """The runtime dependencies and all that they depend on in turn, here."""
    found: dict[str, metadata.Distribution] = {}
    seen, todo = set(), requirements(*RUNTIME)
    while todo:
        asked = todo.pop()
        name = canonicalize_name(asked.name)
        if (name, key := frozenset(asked.extras)) in seen or name.startswith(BY_CUDA):
            continue
        seen.add((name, key))
        found[name] = metadata.distribution(name)
        for text in found[name].requires or ():
            further = Requirement(text)
            if further.marker is None or any(further.marker.evaluate({"extra": each}) for each in {"", *key}):
                todo.append(further)
    return found


def imports(path: Path) -> set[str]:
    """The packages that a file imports when it runs, at its beginning or later."""
    found: set[str] = set()

    class Visitor(ast.NodeVisitor):
        def visit_If(self, node):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                self.generic_visit(node)

        def visit_Import(self, node):
            found.update(alias.name.partition(".")[0] for alias in node.names)

        def visit_ImportFrom(self, node):
            found.add((node.module or "").partition(".")[0])

    Visitor().visit(ast.parse(path.read_text()))
    return found - {"kgreckon"} - sys.stdlib_module_names


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return set().union(*map(imports, (ROOT / "src").rglob("*.py")))


def module_of(name: str) -> str:
    return MODULES.get(name, name.replace("-", "_").lower())


def test_every_runtime_dependency_is_pinned_and_here_in_that_version():
    found = closure()
    assert len(found) > 50
    versions = {name: distribution.version.partition("+")[0] for name, distribution in found.items()}
    assert versions == {name: PINS.get(name) for name in versions}


def test_every_dependency_has_a_lower_bound():
    bounded = [each for each in requirements(*RUNTIME) if any(one.operator == ">=" for one in each.specifier)]
    assert bounded == requirements(*RUNTIME)


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(imported):
    assert imported == {module_of(each.name) for each in requirements(*RUNTIME)}


def test_the_extra_that_a_missing_library_needs_is_the_one_that_brings_it():
    """`kgreckon.errors.EXTRAS` tells users what to install."""
    assert {module: extra for module, extra in EXTRAS.items() if module not in {
        module_of(each.name) for each in requirements(extra)
    }} == {}  # fmt: skip
    always = {module_of(each.name) for each in requirements()}
    assert {module_of(each.name) for each in requirements(*RUNTIME)} - always == set(EXTRAS)


def is_permissive(expression: str, classifiers: list[str]) -> bool:
    """Whether a licence, or one of those to choose from, allows what Apache-2.0 allows."""
    if expression:
        choices = [choice.strip("() ").split(" AND ") for choice in expression.split(" OR ")]
        return any(all(part in PERMISSIVE for part in parts) for parts in choices)
    return bool(classifiers) and set(classifiers) <= CLASSIFIED


def test_every_licence_is_permissive():
    refused, unnamed = [], set()
    for name, distribution in closure().items():
        about = distribution.metadata
        expression = str(about.json.get("license_expression", ""))
        lines = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
        if not expression and not lines:
            unnamed.add(name)
            expression = LOOKED_UP.get(name, "")
        if not is_permissive(expression, [line.rpartition(" :: ")[2] for line in lines]):
            refused.append(name)
    assert not refused and unnamed == set(LOOKED_UP)


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [("MIT", True), ("MIT OR GPL-3.0-only", True), ("MIT AND LGPL-2.1-only", False), ("AGPL-3.0-only", False)],
)
def test_other_licences_are_refused(expression, allowed):
    assert is_permissive(expression, []) is allowed
    assert not is_permissive("", []) and not is_permissive("", ["GNU General Public License v3 (GPLv3)"])
