"""A law of every printed reading: it is the registered theorem's own evaluation, at the inputs that stand in it.

The question is asked again through the public `evaluate`, so that what a calibration shows as printed is what
`POST /v1/theorems/{id}/evaluations` answers. The inputs themselves must be the request's wherever it gives them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import pytest

import epsilond
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Calibration, PrintedReading, as_json
from epsilond.calibrators.calibration import Calibrator
from epsilond.reading import read

MB_SGD: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "samples_per_client": 1000,
    "clients": 50,
    "participants": 20,
    "dimension": 50,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "batch_size": 15,
}
UNLIKE: list[dict[str, Any]] = [
    {"clients": 20, "samples_per_client": 1000},
    {"clients": 25, "samples_per_client": 400, "epsilon": 0.5, "lipschitz": 0.5},
    {"clients": 5, "samples_per_client": 4000, "log10_delta": -7.0, "weight": 3.0, "batch_size": 61},
]
LAW = [{"participants": 5, "probability": 0.25}, {"participants": 50, "probability": 0.75}]
CHANGES: dict[str, list[dict[str, Any]]] = {
    "mb-sgd": [
        {**MB_SGD, "smoothness": 1.0, "rounds": None, "max_gradients": 30_000},
        {**MB_SGD, "smoothness": None, "rounds": 1261},
        {**MB_SGD, "smoothness": 1.0, "strong_convexity": 0.2, "rounds": 40},
        {**MB_SGD, "smoothness": None, "strong_convexity": 0.2, "rounds": 40},
        {**MB_SGD, "participants": None, "client_groups": UNLIKE, "participation": LAW, "rounds": 100},
        {**MB_SGD, "smoothness": None, "client_groups": UNLIKE, "rounds": 100, "readings": ["complete", "corrected"]},
        {**MB_SGD, "sampling": "poisson", "rounds": 100, "readings": ["complete", "proof"]},
        {**MB_SGD, "sampling": "with-replacement", "rounds": 10, "readings": ["informal", "corrected"]},
        {"identically_distributed": False},
    ],
    "accelerated-mb-sgd": [
        {"rounds": None, "max_gradients": 10**6},
        {"smoothness": None},
        {"participants": None, "client_groups": UNLIKE, "participation": LAW},
        {"smoothness": None, "participants": None, "client_groups": UNLIKE, "participation": LAW, "rounds": 40},
        {"strong_convexity": 0.2, "participants": 5, "readings": ["informal", "complete", "corrected"]},
        {"sampling": "poisson"},
    ],
    "one-pass-accelerated-mb-sgd": [
        {"batch_size": 300},
        {"rounds": 40, "participants": 50},
        {"rounds": 40, "participants": None, "participation": LAW},
        {"strong_convexity": 0.2, "smoothness": 2.0},
    ],
    "shuffled-mb-sgd": [{"rounds": None, "batch_size": 1, "noise_constant": 1.0, "max_gradients": 40}],
    "projected-sgd": [
        {"release": "random-stop"},
        {"release": "suffix", "suffix_fraction": 0.5, "convex": False, "strong_convexity": 0.0},
        {"step_schedule": {"kind": "inverse-time", "scale": 2.0}, "strong_convexity": 0.5, "dimension": 3},
    ],
    "ppsgd": [
        {"noise_constant": 2.0},
        {"noise_constant": 2.0, "sampling": "poisson", "participation_rate": 0.1},
        {"sampling": "full", "participation_rate": None, "noise_constant": 1.0},
    ],
    "mu2-sgd": [{"server": "trusted", "observer": "released-models"}],
}
"""Requests beside each calibrator's example: changes to it; None takes a field away."""
CASES = [(one, {}) for one in CALIBRATORS] + [(one, each) for one in CALIBRATORS for each in CHANGES.get(one.name, [])]
each_case = pytest.mark.parametrize(("calibrator", "changes"), CASES, ids=lambda one: getattr(one, "name", None))

ALIASES = {"noise_std": ("base_std", "noise_stds"), "certified_excess_risk": ("excess_risk_at_step_size",)}
OURS: dict[str, set[str]] = {
    "das.1": {"noise_std", "bits_per_coordinate", "extra_bits_per_coordinate"},
    "das.2": {"noise_std", "bits_per_coordinate"},
    "lowy.4.1": {"batch_size"},
    "epsilond.shuffled-sgd-noise": {"batch_size"},
    "reshef.5.2": {"true_gaussian_dp_mu"},
    "reshef.f.2": {"true_gaussian_dp_mu"},
}
"""What stands beside a statement and is not a part of it: the law of its noise, the truth, a batch it does not speak of."""
IF_NOT_THERE = {"group", "noise_multiplier", "image_diameter", "contraction", "steps"}
"""Which group is shown; σ in the unit of our own mechanisms; of projected-sgd the steps, and the largest of them all."""
PER_READING = {"informal": "informal", "complete": "complete", "proof": "complete", "corrected": "complete"}


@functools.cache
def _solved(name: str, place: int) -> Calibration:
    calibrator, changes = CASES[place]
    assert calibrator.name == name
    fields = {**calibrator.example, **changes}
    given = {key: value for key, value in fields.items() if value is not None}
    answer: Calibration = calibrator.solve(read(calibrator.problem, given))
    return answer


def solved(calibrator: Calibrator, changes: Mapping[str, Any]) -> Calibration:
    return _solved(calibrator.name, CASES.index((calibrator, changes)))


def evaluated(reading: PrintedReading) -> list[dict[str, Any]]:
    """Outputs and inputs of every evaluation that a reading names, asked again; of a group its own."""
    found = []
    for asked in reading.evaluations:
        inputs = as_json(asked.inputs)
        outputs = dict(epsilond.evaluate(asked.theorem, reading=asked.reading, **inputs).outputs)
        own = outputs["groups"][int(reading.parameters["group"])] if "groups" in outputs else {}
        found.append({**inputs, **outputs, **own})
    return found


@each_case
def test_every_printed_parameter_is_the_registered_evaluations(calibrator: Calibrator, changes: dict[str, Any]) -> None:
    for reading in solved(calibrator, changes).readings:
        if not reading.parameters:
            continue  # the statement prescribes nothing here
        assert reading.evaluations, (reading.theorem, reading.reading)
        assert reading.evaluations[0].theorem == reading.theorem
        every = evaluated(reading)
        for name, value in reading.parameters.items():
            if name in OURS.get(reading.theorem, set()):
                continue
            known = [one[key] for one in every for key in (name, *ALIASES.get(name, ())) if key in one]
            if not known and name in IF_NOT_THERE:
                continue
            assert known, (reading.theorem, reading.reading, name)
            assert any(_same(value, one) for one in known), (reading.theorem, reading.reading, name, value, known)


def _same(shown: Any, found: Any) -> bool:
    """Equal as doubles; a schedule that is one number is that number."""
    if isinstance(found, list | tuple):
        return len(found) == 1 and _same(shown, found[0])
    return float(shown) == float(found) or (math.isnan(float(shown)) and math.isnan(float(found)))


@each_case
def test_every_printed_risk_is_the_registered_evaluations(calibrator: Calibrator, changes: dict[str, Any]) -> None:
    for reading in solved(calibrator, changes).readings:
        if reading.claims.excess_risk is None:
            continue
        name = (
            "proof_excess_risk" if reading.theorem.startswith("lowy.") and reading.reading == "proof" else "excess_risk"
        )
        assert reading.claims.excess_risk == evaluated(reading)[0][name], (reading.theorem, reading.reading)


@each_case
def test_the_inputs_are_the_requests_and_the_reading_is_the_readings(
    calibrator: Calibrator, changes: dict[str, Any]
) -> None:
    """What the request leaves open is left open to the theorem, apart from the batch that the answer runs with."""
    given = {**calibrator.example, **changes}
    for reading in solved(calibrator, changes).readings:
        if not reading.theorem.startswith("lowy.") or not reading.evaluations:
            continue
        (asked,) = reading.evaluations
        assert asked.reading == (
            "corrected" if reading.reading == "corrected" and "lowy" in asked.theorem else "printed"
        )
        if reading.reading == "experimental":
            continue
        inputs = as_json(asked.inputs)
        for name in ("samples_per_client", "clients", "dimension", "lipschitz", "diameter", "smoothness"):
            assert inputs.get(name) == given.get(name), name
        for name in ("client_groups", "participation"):
            shown = [{key: one[key] for key in one} for one in inputs.get(name, [])]
            assert shown == (given.get(name) or []), name
        if asked.theorem in ("lowy.2.1", "lowy.2.2", "lowy.e.1", "lowy.2.4"):
            assert inputs.get("variant", "complete") == PER_READING[reading.reading]
            assert inputs.get("rounds") == given.get("rounds")


@pytest.mark.parametrize(
    "calibrator", [one for one in CALIBRATORS if one.name == "projected-sgd"], ids=["projected-sgd"]
)
def test_every_claim_of_projected_sgd_is_the_registered_evaluations(calibrator: Calibrator) -> None:
    """δ at the noise shown, to the accuracy of the search for that noise."""
    seen = set()
    for changes in ({}, *CHANGES["projected-sgd"]):
        for reading in solved(calibrator, changes).readings:
            if not reading.evaluations:
                continue
            (found,) = evaluated(reading)
            closed = reading.theorem == "asoodeh.corollary-3"
            name = "log10_delta_twelve" if closed else "log10_delta"
            name = (
                "log10_delta_eleven"
                if reading.theorem == "asoodeh.corollary-1" and reading.reading == "proof"
                else name
            )
            assert reading.claims.log10_delta == pytest.approx(found[name], rel=1e-5), (
                reading.theorem,
                reading.reading,
            )
            seen.add((reading.theorem, reading.reading))
    assert {theorem for theorem, _ in seen} >= {"asoodeh.2", "asoodeh.corollary-3", "epsilond.projected-contraction"}


def test_the_figures_of_the_finding() -> None:
    """mb-sgd at M = 20 of 50: the rounds, noise and risk of each reading of Theorem 2.1, and of 2.2 at 1261 rounds."""
    (calibrator,) = (one for one in CALIBRATORS if one.name == "mb-sgd")
    smooth, rough = (solved(calibrator, changes) for changes in CHANGES["mb-sgd"][:2])
    shown = {one.reading: one for one in smooth.readings}
    figures = {"complete": (37, 1.588, 29.67), "corrected": (77, 2.336, 14.31)}
    for reading, (rounds, std, risk) in figures.items():
        assert shown[reading].parameters["rounds"] == rounds
        assert shown[reading].parameters["noise_std"] == pytest.approx(std, abs=5e-4)
        assert shown[reading].claims.excess_risk == pytest.approx(risk, abs=5e-3)
    assert shown["informal"].parameters["rounds"] == 283
    assert shown["informal"].parameters["noise_std"] == pytest.approx(4.628, abs=5e-4)
    complete, corrected = (
        next(one for one in rough.readings if one.reading == name) for name in ("complete", "corrected")
    )
    assert complete.parameters["excess_risk_at_effective_participants"] == pytest.approx(64.92, abs=5e-3)
    assert complete.claims.excess_risk == pytest.approx(30.70, abs=5e-3)
    assert complete.parameters["envelope_smoothness"] == pytest.approx(8.39, abs=5e-3)
    assert corrected.claims.excess_risk == pytest.approx(15.35, abs=5e-3)
    assert corrected.parameters["envelope_smoothness"] == pytest.approx(17.75, abs=5e-3)


def test_a_status_that_the_request_decides_says_why() -> None:
    """Poisson batches are covered by no printed proof: in words, and as a condition that fails."""
    for name in ("mb-sgd", "accelerated-mb-sgd"):
        (calibrator,) = (one for one in CALIBRATORS if one.name == name)
        changes = next(each for each in CHANGES[name] if each.get("sampling") == "poisson")
        answer = solved(calibrator, changes)
        assert answer.readings
        for reading in answer.readings:
            if reading.reading == "experimental":
                continue
            assert reading.status == "unproved"
            assert "Poisson batches vary in size" in (reading.reason or "")
            failing = {one.id for one in reading.conditions if one.holds == "no"}
            assert "fixed-batch-size" in failing
        assert "printed-condition-fails" in {warning.code for warning in answer.warnings}
