"""An answer that chose a long run says so, and names a shorter run that is what it is said to be."""

from __future__ import annotations

import re
from typing import Any

import pytest

import epsilond
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.serving.long_runs import LONG_BITS, LONG_ROUNDS, LONG_RUN, SHORT_ROUNDS, is_long

SETTING = {"relation": "replace-one", "unit": "record", "observer": "server"}
PROBLEM: dict[str, Any] = {
    "epsilon": 1.0, "delta": 1e-6, "samples_per_client": 10_000, "clients": 1000, "participants": 1000,
    "dimension": 5000, "lipschitz": 1.0, "diameter": 10.0, "smoothness": 1.0, "readings": (), **SETTING,
}  # fmt: skip
FEDAVG: dict[str, Any] = {
    "epsilon": 2.0, "delta": 1e-8, "clients": 10**6, "participants": 10**4, "clipping_norm": 1.0, "unit": "client",
    "relation": "add-or-remove-one", "observer": "released-models",
}  # fmt: skip
CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("mb-sgd", {**PROBLEM, "max_gradients": 10**7, "batch_size": 64}, True),
    ("mb-sgd", {**PROBLEM, "rounds": LONG_ROUNDS + 1}, True),
    ("mb-sgd", {**PROBLEM, "rounds": LONG_ROUNDS, "dimension": 100}, False),
    ("mb-sgd", {**PROBLEM, "rounds": LONG_ROUNDS + 1, "batch_size": 64}, False),
    ("accelerated-mb-sgd", PROBLEM, False),
    ("accelerated-mb-sgd", {**PROBLEM, "dimension": 10**7}, True),
    ("one-pass-accelerated-mb-sgd", {**PROBLEM, "dimension": 10**7}, True),
    ("one-pass-accelerated-mb-sgd", {**PROBLEM, "dimension": 10}, False),
    ("dp-fedavg", {**FEDAVG, "dimension": 10**8}, True),
    ("dp-fedavg", {**FEDAVG, "dimension": 10**8, "rounds": 2000}, False),
    ("dp-fedavg", {**FEDAVG, "dimension": 10**3}, False),
]
SHORTER = re.compile(
    r"rounds = (?P<rounds>\d+)(, batch_size = (?P<batch_size>\d+))?, (an excess risk|a remaining share) of (at most )?"
    r"(?P<quality>[\d.e+-]+).*?, (?P<traffic>[\d.e+-]+) Gbit per client"
)


def messages(answer: Calibration) -> list[str]:
    """Return the texts of the warning."""
    return [warning.message for warning in answer.warnings if warning.code == LONG_RUN]


def runs_of(answer: Calibration) -> list[tuple[int, int | None, float, float]]:
    """Return rounds, batch size, quality and bits per client of every run of the frontier."""
    if answer.frontier is not None:
        return [(one.rounds, one.batch_size, one.risk, float(one.bits_per_client)) for one in answer.frontier]
    runs = getattr(answer.parameters, "frontier", None) or ()
    return [(one.rounds, None, one.remaining_share, 8.0 * one.bytes_per_client) for one in runs]


@pytest.mark.parametrize(("name", "problem", "warned"), CASES)
def test_long_runs_and_no_others_are_warned_of(name: str, problem: dict[str, Any], warned: bool) -> None:
    answer = epsilond.calibrate(name, **problem)
    texts = messages(answer)
    assert len(texts) == warned
    if not warned or problem.get("rounds") is not None:
        return
    (text,) = texts
    assert f"needs {answer.parameters.rounds} rounds" in text
    said = SHORTER.search(text)
    assert said is not None
    runs = runs_of(answer)
    shorter = [run for run in runs if run[0] <= SHORT_ROUNDS and run[0] < answer.parameters.rounds]
    light = [run for run in shorter if run[3] <= LONG_BITS] or shorter
    rounds, batch_size, quality, bits = min(light, key=lambda run: run[2])
    assert int(said["rounds"]) == rounds
    assert said["batch_size"] == (None if batch_size is None else str(batch_size))
    assert float(said["quality"]) == pytest.approx(quality, rel=1e-3)
    assert float(said["traffic"]) == pytest.approx(bits / 1e9, rel=1e-2)
    assert ("certified" in text) or ("estimate" in text)


def test_the_shorter_run_is_what_calibrating_it_gives() -> None:
    """Its risk and traffic, from a calibration of that run."""
    problem = {**PROBLEM, "dimension": 10**7}
    answer = epsilond.calibrate("one-pass-accelerated-mb-sgd", **problem)
    said = SHORTER.search(messages(answer)[0])
    assert said is not None
    run = {"rounds": int(said["rounds"]), "batch_size": int(said["batch_size"])}
    again = epsilond.calibrate("one-pass-accelerated-mb-sgd", **{**problem, **run})
    assert again.risk is not None
    assert again.risk.upper is not None
    assert again.communication is not None
    assert float(said["quality"]) == pytest.approx(again.risk.upper.value, rel=1e-3)
    traffic = again.communication.bits_per_round_per_client * run["rounds"] / 1e9
    assert float(said["traffic"]) == pytest.approx(traffic, rel=1e-2)


def test_no_shorter_run_of_the_search_is_much_better() -> None:
    """Calibrations at numbers of rounds within the limit: none has a bound that is smaller by more than the search's step."""
    answer = epsilond.calibrate("mb-sgd", **{**PROBLEM, "max_gradients": 10**7, "batch_size": 64})
    said = SHORTER.search(messages(answer)[0])
    assert said is not None
    assert "certified" in messages(answer)[0]
    for rounds in (SHORT_ROUNDS // 10, SHORT_ROUNDS // 2, SHORT_ROUNDS):
        other = epsilond.calibrate("mb-sgd", **{**PROBLEM, "rounds": rounds, "batch_size": 64})
        assert other.risk is not None
        assert other.risk.upper is not None
        assert other.risk.upper.value >= float(said["quality"]) * 0.9


def test_one_round_that_exceeds_the_limit_is_called_so() -> None:
    """Rounds are open and one round is the least: no advice to open them or to give fewer."""
    answer = epsilond.calibrate(
        "one-pass-accelerated-mb-sgd", **{**PROBLEM, "dimension": 10**8, "max_gradients": 10, "rounds": 1}
    )
    (text,) = messages(answer)
    assert "needs 1 round and 3.2 Gbit per client" in text
    assert "One round sends more than 1 Gbit" in text
    assert "leave" not in text


@pytest.mark.parametrize(
    ("rounds", "bits", "long"),
    [(LONG_ROUNDS, 0.0, False), (LONG_ROUNDS + 1, 0.0, True), (1, LONG_BITS, False), (1, LONG_BITS * 1.01, True)],
)
def test_the_thresholds_are_exceeded_not_reached(rounds: int, bits: float, long: bool) -> None:
    assert is_long(rounds, bits) is long


def test_a_plan_that_recommends_a_long_run_says_so() -> None:
    plan = epsilond.plan(
        epsilon=2.0, delta=1e-8, clients=10**6, participants=10**4, dimension=10**8, clipping_norm=1.0, unit="client",
        relation="add-or-remove-one", observers=["released-models"], trust=("central",),
    )  # fmt: skip
    (entry,) = (one for one in plan.entries if one.algorithm == "dp-fedavg" and one.calibration is not None)
    assert entry.calibration is not None
    assert LONG_RUN in {warning.code for warning in entry.calibration.warnings}
    assert plan.recommended.entry == "dp-fedavg"
    assert "Gbit per client" in plan.recommended.why
