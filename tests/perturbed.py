"""A pytest plugin that asks of each comparison whether it would notice a formula that is wrong by one in a million.

A test says by `@pytest.mark.compares("lowy.2.1")` which theorems it evaluates and compares with an oracle or a golden
value. Under this plugin it runs once more with every figure of that theorem raised, and once with it lowered, by one
part in a million, and has to fail both times, in one of its cases at least. What no test noticed is printed at the end.
An enclosure that is wider by nature says so: `compares("…", within=1e-4)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from epsilond.accountants.theorem import Evaluation, Theorem

MILLIONTH = 1e-6
HEADING = "not noticed:"
ORIGINAL = Theorem.evaluate

evaluated: set[str] = set()
wanted: set[str] = set()
noticed: set[str] = set()
changed: dict[str, float] = {}

settings.register_profile(
    "perturbed",
    database=None,
    deadline=None,
    derandomize=True,
    max_examples=10,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("perturbed")


def shifted(value: Any, shift: float) -> Any:
    """A figure, or all figures inside a value, off by a share; whole numbers off by one."""
    if isinstance(value, Mapping):
        return {name: shifted(each, shift) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(shifted(each, shift) for each in value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value + (1 if shift > 0 else -1)
    return value * (1.0 + shift) if isinstance(value, float) else value


def evaluate(self: Theorem, *arguments: Any, **options: Any) -> Evaluation:
    """`Theorem.evaluate`, with the figures of the theorem under test changed."""
    evaluated.add(self.id)
    evaluation = ORIGINAL(self, *arguments, **options)
    if self.id in changed:
        return dataclasses.replace(evaluation, outputs=shifted(evaluation.outputs, changed[self.id]))
    return evaluation


def notices(item: pytest.Item, theorem: str, shift: float) -> bool:
    """Whether the test fails if the theorem's figures are off by this much."""
    changed[theorem] = shift
    try:
        item.runtest()
    except (Exception, pytest.fail.Exception):  # noqa: BLE001  whatever it fails with
        return True
    finally:
        changed.clear()
    return False


def pytest_configure() -> None:
    """Put the changed `evaluate` in place."""
    Theorem.evaluate = evaluate  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a test as it is, then with each theorem changed that it compares and that nothing has noticed yet."""
    named = {
        theorem: mark.kwargs.get("within", MILLIONTH) for mark in item.iter_markers("compares") for theorem in mark.args
    }
    wanted.update(named)
    if named.keys() <= noticed:
        pytest.skip("its formulas are known to be compared")
    evaluated.clear()
    result = yield
    for theorem in sorted((named.keys() & evaluated) - noticed):
        if all(notices(item, theorem, sign * named[theorem]) for sign in (1.0, -1.0)):
            noticed.add(theorem)
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what a wrong figure would pass."""
    terminalreporter.write_line(f"{HEADING} {' '.join(sorted(wanted - noticed))}")
