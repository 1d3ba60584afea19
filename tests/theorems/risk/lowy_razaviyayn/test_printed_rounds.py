"""Rounds of Theorems 2.1, 2.4 and E.1 as the text prescribes them: with the plain M' and M, and never with M~."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mpmath import ceil, log, mp, mpf, sqrt

import epsilond
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_reused import THEOREM_2_4, THEOREM_E_1
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1
from epsilond.calibrators.answer import as_json

N, SAMPLES, D = 10, 1000, 1
RUN: Mapping[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": SAMPLES,
    "clients": N,
    "participants": N,
    "batch_size": SAMPLES,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": float(D),
}


def privacy_cost(rounds: int) -> Any:
    """Return d Ψ~ = d ln(2.5R/δ) ln(2/δ)/(nε)² at L = 1, as Appendix E.1 defines ψ, for d = 20."""
    delta = mpf(1e-5)
    return 20 * log(mpf("2.5") * rounds / delta) * log(2 / delta) / mpf(SAMPLES) ** 2


def smooth_convex(rounds: int, participants: int) -> Any:
    """Return (βD√M/√(dΨ))^(1/2) of Theorem E.1, part 1, for full batches."""
    return sqrt(2 * D * sqrt(mpf(participants)) / sqrt(privacy_cost(rounds)))


def smooth_strongly_convex(rounds: int, participants: int) -> Any:
    """Return √(β/μ) ln(ΔμM/(dΨ)) of Theorem E.1, part 2."""
    return sqrt(mpf(2) / mpf("0.5")) * log(mpf("0.8") * mpf("0.5") * participants / privacy_cost(rounds))


def convex(rounds: int, participants: int) -> Any:
    """Return L√M/√(dΨ) of Theorem 2.4, part 1."""
    return sqrt(mpf(participants)) / sqrt(privacy_cost(rounds))


def strongly_convex(rounds: int, participants: int) -> Any:
    """Return √(ML²/(dΨ)) ln(ΔμM/(dΨ)) of Theorem 2.4, part 2."""
    cost = privacy_cost(rounds)
    return sqrt(participants / cost) * log(mpf("0.8") * mpf("0.5") * participants / cost)


def one_descent(rounds: int, participants: int) -> Any:
    """Return max{(8β/μ) ln(βD²μM/(dΨ)), L²/(dΨ)} of Theorem 2.1, part 2."""
    cost = privacy_cost(rounds)
    return max(8 * 2 / mpf("0.1") * log(2 * D**2 * mpf("0.1") * participants / cost), 1 / cost)


def least_rounds(prescription: Callable[[int, int], Any], participants: int) -> int:
    """Return the least R with R ≥ prescription(R), by trying R = 1, 2, …"""
    with mp.workdps(40):
        return next(count for count in range(1, 10_000) if count >= ceil(prescription(count, participants)))


CASES = (
    ("lowy.e.1", {"smoothness": 2.0}, smooth_convex, 11),
    ("lowy.e.1", {"smoothness": 2.0, "strong_convexity": 0.5, "initial_gap": 0.8}, smooth_strongly_convex, 14),
    ("lowy.2.4", {}, convex, 51),
    ("lowy.2.4", {"strong_convexity": 0.5, "initial_gap": 0.8}, strongly_convex, 323),
    ("lowy.2.1", {"smoothness": 2.0, "strong_convexity": 0.1}, one_descent, 969),
)
THEOREMS = {theorem.id: theorem for theorem in (THEOREM_E_1, THEOREM_2_4, THEOREM_2_1)}

each_case = pytest.mark.parametrize(("theorem", "loss", "prescription", "rounds"), CASES)


@pytest.mark.erratum("E-06")
@pytest.mark.compares("lowy.e.1", "lowy.2.4", "lowy.2.1")
@each_case
def test_the_printed_rounds_are_those_of_the_text(
    theorem: str, loss: dict[str, float], prescription: Callable[[int, int], Any], rounds: int
) -> None:
    assert least_rounds(prescription, N) == rounds
    inputs = THEOREMS[theorem].request(**RUN, **loss)
    for reading in ("printed", "corrected"):
        outputs = THEOREMS[theorem].evaluate(inputs, reading).outputs
        assert outputs["rounds"] == rounds
        with mp.workdps(40):
            expected = prescription(rounds, N)
        assert abs(outputs["prescribed_rounds"] / expected - 1) < 1e-12


@each_case
def test_calibrators_repeat_the_rounds_of_the_text(
    theorem: str, loss: dict[str, float], prescription: Callable[[int, int], Any], rounds: int
) -> None:
    calibrator = "mb-sgd" if theorem == "lowy.2.1" else "accelerated-mb-sgd"
    answer = epsilond.calibrate(calibrator, **RUN, **loss, relation="replace-one", unit="record", observer="server")
    for entry in as_json(answer)["as_printed"]:
        readings = entry["readings"] if "readings" in entry else [entry["reading"]]
        if "complete" in readings or "corrected" in readings:
            assert entry["theorem"] == theorem
            assert entry["parameters"]["rounds"] == least_rounds(prescription, N) == rounds


@pytest.mark.compares("lowy.2.4")
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_random_participation_enters_with_the_second_moment_of_the_text(mu: float) -> None:
    """Clients that differ select M' and Ψ: R has √M', and only the envelope has M~ = √M'."""
    law = ((5, 0.5), (10, 0.5))
    groups = ({"clients": 1, "samples_per_client": SAMPLES}, {"clients": 9, "samples_per_client": 4000})
    inputs = THEOREM_2_4.request(
        **RUN | {"participants": None, "batch_size": 1000},
        strong_convexity=mu,
        client_groups=list(groups),
        participation=[{"participants": count, "probability": probability} for count, probability in law],
    )
    outputs = THEOREM_2_4.evaluate(inputs, "printed").outputs
    with mp.workdps(40):
        second = 1 / sqrt(sum(mpf(probability) / mpf(count) ** 2 for count, probability in law))
        values = [privacy_cost(outputs["rounds"]) / mpf(1 if own == 0 else 4) ** 2 for own in range(N)]
        means = [(sum(values[:count]) / count, probability) for count, probability in law]
        cost = sqrt(sum(mpf(probability) * mean**2 for mean, probability in means))
        expected = sqrt(second / cost)
        envelope = sqrt(sqrt(second) / cost) if mu == 0.0 else mu * sqrt(second) / cost
        if mu > 0.0:
            expected *= log(mu * second / cost)
        sampled = 1 / cost
    assert cost / second < max(values) * sum(mpf(probability) / count for count, probability in law)
    assert abs(outputs["prescribed_rounds"] / max(expected, sampled) - 1) < 1e-12
    assert abs(outputs["envelope_smoothness"] / envelope - 1) < 1e-12
