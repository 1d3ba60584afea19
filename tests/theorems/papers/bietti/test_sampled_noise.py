"""Theorem 5.1 of Bietti et al.: what its hidden constants would have to be, and whom its range leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.bietti.noise import implied_constant
from epsilond.accountants.theorems.papers.bietti.sampled_noise import THEOREM_5_1, SampledNoiseInputs
from epsilond.calibrators.ppsgd.family import certify
from epsilond.calibrators.ppsgd.problem import PpsgdProblem

EXAMPLE: dict[str, Any] = dict(THEOREM_5_1.examples[0])


def constant(rate: float, rounds: int, epsilon: float, relation: Any) -> float:
    problem = PpsgdProblem(
        clients=1000, rounds=rounds, sampling="poisson", participation_rate=rate, clipping_norm=1.0,
        shared_dimension=1, epsilon=epsilon, delta=1e-5, relation=relation, unit="client", observer="other-clients",
    )  # fmt: skip
    return implied_constant(
        noise_std=certify(problem).noise / (rate * 1000),
        clipping_norm=1.0,
        contributions=1000,
        rounds=rounds,
        epsilon=epsilon,
        log_delta=problem.target.log_delta,
    )


@pytest.mark.parametrize(
    ("rate", "rounds", "epsilon", "zeroed", "replaced"),
    [
        (1e-3, 100_000, 0.1, 0.909, 1.812),
        (1e-3, 100_000, 1.0, 1.272, 2.205),
        (1e-3, 100_000, 4.0, 2.531, 3.034),
        (1e-3, 100_000, 10.0, 4.950, 5.341),
        (1e-2, 1000, 0.5, 1.110, 2.073),
        (1e-2, 1000, 2.0, 1.788, 2.416),
        (1e-2, 1000, 8.0, 4.371, 4.620),
    ],
)
def test_the_hidden_constant_depends_on_the_target(
    rate: float, rounds: int, epsilon: float, zeroed: float, replaced: float
) -> None:
    """E-B9."""
    assert constant(rate, rounds, epsilon, "zero-out-one") == pytest.approx(zeroed, abs=6e-4)
    assert constant(rate, rounds, epsilon, "replace-one") == pytest.approx(replaced, abs=6e-4)


def test_the_range_is_a_condition_with_both_sides() -> None:
    """q = 1/N with T = nN, which the paper proposes, has q²T = n/N = 0.1 at n = 100, N = 1000."""

    def range_of(**changes: Any) -> Any:
        evaluation = THEOREM_5_1.evaluate(SampledNoiseInputs(**{**EXAMPLE, **changes}))
        return next(one for one in evaluation.conditions if one.id == "epsilon-range")

    assert range_of().holds == "undecidable"
    assert range_of(range_constant=20.0).holds == "yes"
    broken = range_of(range_constant=1.0)
    assert (broken.holds, broken.left) == ("no", 1.0)
    assert broken.right == pytest.approx(0.1)


@pytest.mark.compares("bietti.5.1")
def test_batches_enter_as_counts() -> None:
    groups = [{"clients": 999_999, "batch_size": 1}, {"clients": 1, "batch_size": 100}]
    samples = THEOREM_5_1.evaluate(SampledNoiseInputs(**{**EXAMPLE, "client_groups": groups})).outputs
    clients = THEOREM_5_1.evaluate(
        SampledNoiseInputs(**{**EXAMPLE, "client_groups": groups, "weighting": "clients"})
    ).outputs
    assert samples["total_weight"] == 1_000_099
    assert clients["total_weight"] == 1_000_000
    assert samples["heterogeneity_cost"] == pytest.approx(100 * 1e6 / 1_000_099)
    assert samples["noise_std"] < clients["noise_std"]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"client_groups": []}, "/client_groups"),
        ({"client_groups": [{"clients": 0}]}, "/client_groups/0/clients"),
        ({"participation_rate": 1.2}, "/participation_rate"),
        ({"participation_rate": 1e-200}, "/participation_rate"),
        ({"weighting": "records"}, "/weighting"),
    ],
)
def test_inputs_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SampledNoiseInputs(**{**EXAMPLE, **changes})
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.erratum("E-B9")
@pytest.mark.parametrize(("rate", "rounds"), [(1e-3, 100_000), (1e-2, 1000)])
def test_one_constant_serves_small_epsilon_and_is_too_small_beyond(rate: float, rounds: int) -> None:
    """E-B9: the least c₂ rises with ε. That at ε = q²T serves all ε below, and at 80 q²T it is not half of what is needed."""
    scale = rate**2 * rounds
    values = [constant(rate, rounds, share * scale, "zero-out-one") for share in (0.1, 0.3, 1.0, 80.0)]
    assert values == sorted(values)
    assert values[2] < 1.0
    assert values[3] > 2 * values[2]
