"""Collect the frozen requests, once, from the base tree: `python -m tests.frozen.record` in a checkout of it.

The requests are the examples of the OpenAPI document, small simulations and sweeps, the cases of tests/golden that are specs, and
every evaluation, account and calibration that the tests which read tests/golden ask for. The last are recorded while
these tests run and written as the HTTP requests that ask for the same. The program imports the modules of the base tree
under their names there; `requests.jsonl`, which it writes, is what every later comparison reads.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REQUESTS = Path(__file__).parent / "requests.jsonl"
MOST_OF_ONE_TEST = 6
SMALL: Mapping[str, Mapping[str, Any]] = {
    "risk": {"repetitions": 3, "points": 3},
    "audit": {"samples": 2000},
    "preset": {"preset": "mb-sgd-bound", "repetitions": 2},
}
DEAR = ("/shuffled-mb-sgd", "/qtdl", "/norm-fedavg")
"""Algorithms whose examples take from five seconds to half a minute."""
SMALL_SHUFFLED: Mapping[str, Any] = {"clients": 1000, "participants": 200, "rounds": 20}
Request = dict[str, Any]


def request(name: str, path: str, body: Any) -> Request:
    """One line of the file."""
    return {"name": name, "method": "POST", "path": path, "body": body}


def examples() -> Iterator[Request]:
    """The examples that the OpenAPI document shows; simulations are made small, so that they end soon."""
    for file in sorted((ROOT / "openapi" / "examples").glob("*.json")):
        example = json.loads(file.read_text())
        body = example["body"]
        if example["path"] == "/v1/simulations":
            body |= SMALL[body["kind"]]
        yield request(f"example:{file.stem}", example["path"], body)
    for path in ("/v1/theorems", "/v1/algorithms"):
        yield {"name": f"list:{path}", "method": "GET", "path": path, "body": None}


def derived() -> Iterator[Request]:
    """From the examples: small sweeps of every calibrator that is quick, and every theorem in its other reading.

    The sweeps hold a value that is refused. A theorem without the other reading refuses, and that is frozen as well.
    """
    for one in list(examples()):
        name, path, body = one["name"].removeprefix("example:"), one["path"], one["body"]
        if path.startswith("/v1/calibrations/") and not path.endswith(DEAR):
            sweep = {"sweep": {"field": "epsilon", "values": [0.5, 3.0, -1.0]}}
            yield request(f"sweep:{name}", path, body | sweep)
        if path.startswith("/v1/theorems/") and path.endswith("/evaluations"):
            yield request(f"corrected:{name}", path, body | {"reading": "corrected"})
    shuffled = next(one for one in examples() if one["path"].endswith("/shuffled-mb-sgd"))
    yield request("small:calibrate_shuffled_mb_sgd", shuffled["path"], shuffled["body"] | SMALL_SHUFFLED)


def golden_specs() -> Iterator[Request]:
    """The golden cases that are written as specs, asked as accounts."""
    for case in json.loads((ROOT / "tests/golden/accounting.json").read_text())["cases"]:
        if "spec" in case and "relation" in case and "delta" in case:
            body = {"spec": case["spec"], "relation": case["relation"], "query": {"delta": case["delta"]}}
            yield request(f"golden:{case['id']}", "/v1/accounts", body)


class Recorder:
    """A pytest plugin that notes what the running test asks of theorems, accounts and calibrators."""

    def __init__(self) -> None:
        self.found: list[Request] = []
        self._test = ""
        self._of_this_test = 0
        self._silent = 0

    def note(self, path: str, body: Callable[[], Any]) -> None:
        """Keep a request of the running test; not one that another request makes on the way."""
        if self._test and not self._silent and self._of_this_test < MOST_OF_ONE_TEST:
            self._of_this_test += 1
            self.found.append(request(self._test, path, body()))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        """Record during the test itself; tests that draw their inputs at random are left out."""
        drawn = hasattr(getattr(item, "obj", None), "hypothesis")
        self._test, self._of_this_test = ("" if drawn else f"golden:{item.nodeid.split('/')[-1]}"), 0
        try:
            return (yield)
        finally:
            self._test = ""

    def outermost(self, function: Callable[..., Any], noted: Callable[..., None]) -> Callable[..., Any]:
        """The function, noting its arguments first."""

        @wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            noted(*args, **kwargs)
            self._silent += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._silent -= 1

        return recorded

    def install(self) -> None:
        """Put the recording functions in place, before any test module is imported."""
        import calibrators.accounting as accounting
        from calibrators.risk_bounds import RISK_BOUNDS

        import accountants.account as accounts
        from accountants.theorem import Theorem
        from calibrators import CALIBRATORS
        from epsilond import as_json

        def evaluated(theorem: Any, inputs: Any, reading: str = "printed") -> None:
            body = partial(lambda: {"inputs": given(as_json(inputs)), "reading": reading})
            self.note(f"/v1/theorems/{theorem.id}/evaluations", body)

        def accounted(spec: Any, **more: Any) -> None:
            told = {name: more[name] for name in ("relation", "unit", "observer") if name in more}
            self.note("/v1/accounts", lambda: {"spec": given(as_json(spec)), **told, "query": {"delta": 1e-6}})

        def asked(path: str, problem: Any) -> None:
            self.note(path, lambda: given(as_json(problem)))

        theorem_class: Any = Theorem
        theorem_class.evaluate = self.outermost(Theorem.evaluate, evaluated)
        accounts.account = self.outermost(accounts.account, accounted)
        accounting.answer = self.outermost(accounting.answer, partial(asked, "/v1/accounts"))
        entries: list[tuple[Any, str]] = [(each, "calibrations") for each in CALIBRATORS]
        entries += [(each, "risk-bounds") for each in RISK_BOUNDS]
        for entry, where in entries:
            noted = partial(asked, f"/v1/{where}/{entry.name}")
            function = self.outermost(entry.solve, noted)
            setattr(sys.modules[entry.solve.__module__], entry.solve.__name__, function)
            object.__setattr__(entry, "solve", function)


def given(value: Any) -> Any:
    """Without the fields that were not given: what is null in a request stands for that."""
    if isinstance(value, dict):
        return {name: given(item) for name, item in value.items() if item is not None}
    return [given(item) for item in value] if isinstance(value, list | tuple) else value


def of_golden_tests() -> list[Request]:
    """What the tests that read tests/golden ask for."""
    files = sorted(
        str(file)
        for folder in ("theorems", "calibrators")
        for file in (ROOT / "tests" / folder).glob("test_*.py")
        if "golden" in file.read_text()
    )
    recorder = Recorder()
    recorder.install()
    pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *files], plugins=[recorder])
    return recorder.found


def main() -> None:
    """Write the file, each request once."""
    seen: set[str] = set()
    with REQUESTS.open("w", encoding="utf-8") as file:
        for one in [*examples(), *derived(), *golden_specs(), *of_golden_tests()]:
            question = json.dumps([one["path"], one["body"]], sort_keys=True)
            if question not in seen:
                seen.add(question)
                file.write(json.dumps(one, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")
    sys.stdout.write(f"{len(seen)} requests\n")


if __name__ == "__main__":
    main()
