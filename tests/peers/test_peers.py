"""The suites of other accountants, run on ours through adapters.

No code of the peers is in this repository. Their source trees are folders of EPSILOND_PEERS, one for each peer, at the
commits in `suites.py`. A suite is skipped, with the reason, where its tree or a package that it needs is missing.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path

import pytest

import epsilond
from epsilond.accountants.errors import InvalidInput
from tests.peers.counting import Counter, NoEquivalent
from tests.peers.older import has_module, is_lack, rejecting
from tests.peers.score import DIFFERENCES, OWN, explain, known_differences, score
from tests.peers.suites import SUITES

REPOSITORY = Path(__file__).parents[2]
FOLDER = os.environ.get("EPSILOND_PEERS")
MOST_REJECTED = 0.01
"""Largest fraction of assertions that ours may reject."""


def run_suite(suite, folder, *arguments, tree=REPOSITORY):
    """Run a suite in a process of its own, and return its outcome.

    Args:
        suite: the suite.
        folder: folder with the source trees of peers.
        *arguments: "own" to let the peer's own accountants answer.
        tree: source tree of epsilond; of another one than this, what it lacks counts as rejected.
    """
    words = [*arguments, "older"] if tree != REPOSITORY else arguments
    path = os.pathsep.join([str(tree / "src"), str(REPOSITORY)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.peers.run", suite.name, *words],
        cwd=REPOSITORY,
        env={**os.environ, "EPSILOND_PEERS": str(folder), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def missing(suite):
    """Return why a suite cannot be run here; an empty string if it can."""
    if FOLDER is None:
        return "EPSILOND_PEERS names no folder with the source trees of peers"
    trees = {suite.peer, *(need.partition("/")[0] for need in suite.needs)}
    absent = sorted(tree for tree in trees if not Path(FOLDER, tree).is_dir())
    if absent:
        return f"EPSILOND_PEERS has no source tree of {', '.join(absent)}"
    packages = [package for package in suite.packages if find_spec(package) is None]
    return f"{', '.join(packages)} is not installed" if packages else ""


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_passed_up_to_known_differences(name):
    suite = SUITES[name]
    if reason := missing(suite):
        pytest.skip(f"the suite {name} is not run: {reason}")
    own = json.loads(OWN.read_text(encoding="utf-8"))[name]
    result = score(run_suite(suite, Path(FOLDER)), own)
    counts = result.counts
    assert counts["rejected"] <= MOST_REJECTED * counts["assertions"], result.rejected
    entries = known_differences(name)
    assert [each for each in result.different if not explain(each, entries)] == []
    used = [entry for each in result.different for entry in explain(each, entries)]
    assert [entry for entry in entries if entry not in used] == []


def _error_of(question):
    with pytest.raises(Exception) as caught:
        question()
    return caught.value


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (lambda: import_module("epsilond.no_such_module"), True),
        (lambda: import_module("no_such_package"), False),
        (lambda: attrgetter("NoSuchSpec")(epsilond), True),
        (lambda: attrgetter("no_such_function")(json), False),
        (lambda: epsilond.calibrate("gaussian", no_such_field=1.0), True),
        (lambda: epsilond.Gaussian(noise_multiplier=-1.0), False),
    ],
)
def test_only_what_an_older_version_lacks_counts_as_rejected(question, expected):
    assert is_lack(_error_of(question)) is expected


def test_a_class_that_an_older_version_lacks_rejects_every_question():
    assert has_module("epsilond.integrations.opacus")
    assert not has_module("epsilond.no_such_module.drop_in")
    with pytest.raises(NoEquivalent, match="has no accountant rdp"):
        rejecting("accountant rdp", object)("argument")


def test_a_rejection_inside_an_expected_warning_is_not_counted_as_a_missing_warning():
    counter = Counter(is_lack)
    with pytest.raises(InvalidInput), counter._counted(pytest.warns)(DeprecationWarning):
        epsilond.calibrate("gaussian", no_such_field=1.0)
    assert dict(counter.tests) == {}
    with counter._counted(pytest.warns)(DeprecationWarning):
        pass
    assert [outcome != "passed" for outcomes in counter.tests.values() for outcome in outcomes] == [True]


def test_every_known_difference_says_who_is_right_and_why():
    for suite in SUITES:
        for entry in known_differences(suite):
            assert entry["right"] in {"epsilond", "peer", "both"}
            assert len(entry["reason"]) > 20
            assert entry["figure"]


def test_every_difference_names_a_function_that_decides_it():
    modules = [import_module(f"tests.peers.test_independent_{part}") for part in ("pld", "rdp", "others")]
    functions = {name for module in modules for name in vars(module)}
    named = {entry["oracle"] for entry in json.loads(DIFFERENCES.read_text(encoding="utf-8"))}
    assert named == {name for name in functions if name.startswith("decide")}
    assert {f"test_{name}" for name in named} <= functions


def test_every_suite_has_its_number_of_assertions():
    own = json.loads(OWN.read_text(encoding="utf-8"))
    assert set(own) == set(SUITES)
    assert all(sum(counts.values()) > 10 for counts in own.values())
