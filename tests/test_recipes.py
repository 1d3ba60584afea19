"""The recipes of CONTRIBUTING.md are followed as they stand there, in a copy of the tree, and what they add works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.link_parts import link_parts
from tests.documents import ROOT

NEW = re.compile(r"^New file `(?P<path>[^`]+)`:\n\n```python\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ADDED = re.compile(
    r"^In `(?P<path>[^`]+)`, below `(?P<line>[^`]+)`:\n\n```text\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


PYTEST = ("pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Recipe:
    """A section of the page, and what it may touch: files outside a folder of its own."""

    title: str
    most_files: int
    folder: str | None
    laws: tuple[str, ...]
    """Tests that are run for what the recipe adds."""
    check: str
    whole: tuple[str, ...] = ()
    """Tests that are run as they are."""

    @property
    def text(self) -> str:
        """Up to the next heading."""
        page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        return page.partition(f"\n## {self.title}\n")[2].partition("\n## ")[0]

    def follow(self, tree: Path) -> list[str]:
        """Do to a tree what the recipe says; the files that are touched."""
        touched = []
        for step in NEW.finditer(self.text):
            path = tree / step["path"]
            assert not path.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"], encoding="utf-8")
            touched.append(step["path"])
        for step in ADDED.finditer(self.text):
            path = tree / step["path"]
            text = path.read_text(encoding="utf-8")
            assert f"\n{step['line']}\n" in text, f"{step['path']} has no line {step['line']}"
            path.write_text(text.replace(f"{step['line']}\n", f"{step['line']}\n{step['text']}"), encoding="utf-8")
            touched.append(step["path"])
        return sorted(set(touched))


RECIPES = [
    Recipe(
        title="Add a theorem",
        most_files=3,
        folder=None,
        laws=(
            "tests/laws/test_theorems.py",
            "tests/laws/test_every_formula_is_compared.py::test_every_formula_is_compared",
        ),
        check="import epsilond; assert 0.46 < epsilond.evaluate('epsilond.pure-advantage', epsilon=1.0)"
        ".outputs['advantage'] < 0.463",
    ),
    Recipe(
        title="Add a kind of mechanism",
        most_files=3,
        folder=None,
        laws=(
            "tests/laws/test_theorems.py",
            "tests/laws/test_kinds.py",
            "tests/laws/test_curves.py",
            "tests/laws/test_spec_words.py",
            "tests/laws/test_trust.py",
        ),
        check="""
import epsilond
from epsilond.app.main import create_app
from tests.app.conftest import PATIENT, serving

setting = {"relation": "replace-one", "unit": "record", "observer": "shuffled-server"}
spec = epsilond.OneBitResponse(epsilon=1.0)
assert 0.99 < epsilond.account(spec, delta=1e-9, **setting).guarantee.epsilon.upper <= 1.0 + 1e-9
shuffled = epsilond.Shuffled(clients=10_000, mechanism=spec)
assert epsilond.account(shuffled, delta=1e-6, **setting).guarantee.epsilon.upper < 0.1
body = {"spec": {"kind": "one_bit_response", "epsilon": 1.0}, "query": {"delta": 1e-9}, **setting}
with serving(PATIENT, create_app(settings=PATIENT)) as client:
    answer = client.post("/v1/accounts", json=body)
assert answer.status_code == 200, answer.text
assert answer.json()["derivation"][0]["theorem"] == "epsilond.one-bit-response"
""",
    ),
    Recipe(
        title="Add a calibrator",
        most_files=1,
        folder="calibrators/laplace/",
        laws=("tests/laws/test_calibrators.py", "tests/laws/test_fields.py", "tests/laws/test_risks.py"),
        whole=(
            "tests/mechanisms/test_calibrated.py::test_every_mechanism_is_that_of_an_algorithm",
            "tests/benchmarks/test_everyday.py::test_the_document_is_that_of_the_rows",
        ),
        check="import epsilond; assert epsilond.calibrate('laplace', epsilon=1.0, delta=1e-6, rounds=10, "
        "relation='add-or-remove-one', unit='client', observer='released-models').guarantee.epsilon.upper <= 1.0",
    ),
    Recipe(
        title="Add an HTTP question",
        most_files=3,
        folder=None,
        laws=("tests/app/test_question_endpoints.py",),
        check="from epsilond.app.questions.advantages import ADVANTAGE as posted; "
        "assert posted.read(b'{\"epsilon\": 1}').kind == 'advantage'",
    ),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of all tracked files, laid out as the package is."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, tmp_path / name
        if not name.startswith(("clients/", "openapi/", "app/explorer/vendor/")) and os.path.lexists(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    link_parts(tmp_path)
    return tmp_path


def run(tree: Path, *command: str) -> str:
    """Run a tool in the tree, whose packages come before those that are installed; what it prints."""
    environment = os.environ | {"PYTHONPATH": f"{tree / 'src'}:{tree}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = (sys.executable, "-m", *command) if not command[0].startswith("-") else (sys.executable, *command)
    ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def followed(recipe: Recipe, tree: Path) -> list[str]:
    """Follow a recipe in a tree, and return the files that it touched: few enough outside a folder of its own."""
    touched = recipe.follow(tree)
    outside = [name for name in touched if recipe.folder is None or not name.startswith(recipe.folder)]
    assert len(outside) <= recipe.most_files, outside
    return touched


def selection(recipe: Recipe) -> list[str]:
    """Return what the laws call the cases that a recipe adds."""
    return re.findall(r'^    (?:id ?= ?|name ?= ?|kind=|kind: .* = )"([\w.-]+)"', recipe.text, flags=re.MULTILINE)


def require_working(recipes: list[Recipe], touched: list[str], tree: Path) -> None:
    """Fail unless what recipes added to a tree is well formed, passes its tests and laws, and does what they say."""
    run(tree, "ruff", "check", "--no-cache", *touched)
    run(tree, "ruff", "format", "--no-cache", "--check", *touched)
    checks = [f"import epsilond; assert epsilond.__file__.startswith({str(tree)!r})", *(it.check for it in recipes)]
    run(tree, "-c", "\n".join(checks))
    own = [name for name in touched if Path(name).name.startswith("test_")]
    whole = [name for recipe in recipes for name in recipe.whole]
    if own or whole:
        run(tree, *PYTEST, *own, *whole)
    laws = sorted({name for recipe in recipes for name in recipe.laws})
    added = {name for recipe in recipes for name in selection(recipe)}
    printed = run(tree, *PYTEST, "-rp", *laws, "-k", " or ".join(sorted(added)))
    passed = [line for line in printed.splitlines() if line.startswith("PASSED")]
    for recipe in recipes:  # each has cases of its own, in each of its laws
        for law in recipe.laws:
            assert any(law in line and any(name in line for name in selection(recipe)) for line in passed), law


def test_every_recipe_works_and_touches_few_files(tree: Path) -> None:
    """Follow all of them in one tree, in the order of the page; a slow test follows each in a tree of its own."""
    require_working(RECIPES, sorted({name for recipe in RECIPES for name in followed(recipe, tree)}), tree)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_a_recipe_works_without_the_others(recipe: Recipe, tree: Path) -> None:
    require_working([recipe], followed(recipe, tree), tree)
