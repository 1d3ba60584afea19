"""Attacks on contributions of random size, on clients with several records, and on truncated batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, GaussianMixture, Laplace, Repeated, Subsampled
from epsilond.simulators.audits.build import target
from epsilond.simulators.audits.draws.participation import SampledParticipation, truncate_batches
from epsilond.simulators.audits.worlds import FIRST, SECOND, AttackSetting

COUNT = 60_000
RELATIONS: tuple[Relation, ...] = ("add-or-remove-one", "zero-out-one", "replace-one")
STEP = Gaussian(noise_multiplier=0.8)
MIXTURE = GaussianMixture(sensitivities=(0.0, 0.5, 2.0), probabilities=(0.5, 0.25, 0.25), noise_multiplier=0.8)


def attacked_delta(spec: Any, relation: Relation, unit: Any, epsilon: float, **setting: Any) -> float:
    """The share of first outputs with a loss above ε, less e^ε times that of second outputs."""
    attack = target(spec, AttackSetting(relation=relation, unit=unit, observer="released-models", **setting))
    generator = np.random.default_rng(3)
    first, second = (attack.statistics(generator, COUNT, world) for world in (FIRST, SECOND))
    return float((first > epsilon).mean() - math.exp(epsilon) * (second > epsilon).mean())


def forward_delta(spec: Any, relation: Relation, unit: Any, epsilon: float) -> tuple[float, float]:
    """Bounds on δ of the first order: from a witness below, and from the dominating pair above."""
    curve = account(spec, relation=relation, unit=unit, observer="released-models").guarantee.curve
    lower = max(pair.forward.log_delta_bounds(epsilon).lower for pair in curve.witnesses)
    return math.exp(lower), math.exp(curve.upper.forward.log_delta_bounds(epsilon).upper)


SPECS = {
    "mixture": (MIXTURE, "record", {}),
    "poisson mixture": (Subsampled(sampling="poisson", rate=0.4, mechanism=MIXTURE), "record", {}),
    "client": (
        Subsampled(sampling="poisson", rate=0.3, level="records", records_of_one_client=4, mechanism=STEP),
        "client",
        {},
    ),
    "whole client": (
        Subsampled(sampling="full", level="records", records_of_one_client=3, mechanism=STEP),
        "client",
        {},
    ),
    "truncated": (
        Subsampled(sampling="poisson", rate=0.5, population=8, largest_batch=2, mechanism=STEP),
        "record",
        {},
    ),
    "truncated by the program": (
        Subsampled(sampling="poisson", rate=0.5, population=8, largest_batch=2, mechanism=STEP),
        "record",
        {"attack": "implemented"},
    ),
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SPECS)
def test_attacks_attain_the_lower_bound_and_stay_below_the_upper_one(name: str, relation: Relation) -> None:
    spec, unit, setting = SPECS[name]
    for epsilon in (0.1, 0.6):
        lower, upper = forward_delta(spec, relation, unit, epsilon)
        noise = 4.0 * (1.0 + math.exp(epsilon)) * 0.5 / math.sqrt(COUNT)
        assert lower - noise <= attacked_delta(spec, relation, unit, epsilon, **setting) <= upper + noise


def test_a_mixture_in_a_batch_of_fixed_size_is_among_zeros() -> None:
    spec = Subsampled(sampling="without-replacement", batch_size=2, population=5, mechanism=MIXTURE)
    for relation in ("replace-one", "zero-out-one"):
        lower, upper = forward_delta(spec, relation, "record", 0.2)  # type: ignore[arg-type]
        attack = attacked_delta(spec, relation, "record", 0.2)  # type: ignore[arg-type]
        assert lower - 0.02 <= attack <= upper + 0.02


def test_repeated_clients_are_attacked_in_every_round() -> None:
    step = Subsampled(sampling="poisson", rate=0.3, level="records", records_of_one_client=4, mechanism=STEP)
    once, often = (
        attacked_delta(spec, "replace-one", "client", 0.5) for spec in (step, Repeated(times=4, mechanism=step))
    )
    assert often > once + 0.05


def test_truncated_batches_are_fair_and_have_the_largest_size() -> None:
    generator = np.random.default_rng(5)
    drawn = generator.random((20_000, 6)) < 0.7
    kept = truncate_batches(generator, drawn, 3)
    assert not (kept & ~drawn).any()
    assert (kept.sum(axis=1) == np.minimum(drawn.sum(axis=1), 3)).all()
    included = 0.7 * binom.cdf(2, 5, 0.7) + 0.5 * binom.sf(3, 6, 0.7)
    assert kept.mean(axis=0) == pytest.approx(np.full(6, included), abs=0.02)
    program = SampledParticipation(included, None, 6, 3, 0.7)
    assert program.draw(generator, 20_000).mean() == pytest.approx(included, abs=0.02)


@pytest.mark.parametrize(
    ("spec", "relation", "pointer"),
    [
        (Subsampled(sampling="poisson", rate=0.1, level="records", records_of_one_client=2,
                    mechanism=MIXTURE), "replace-one", "/mechanism/kind"),
        (Subsampled(sampling="poisson", rate=0.1, level="records", records_of_one_client=10**6,
                    mechanism=Laplace(scale_multiplier=1.0)), "replace-one", "/records_of_one_client"),
        (Subsampled(sampling="without-replacement", batch_size=2, population=9, level="records",
                    records_of_one_client=2, mechanism=STEP), "add-or-remove-one", "/relation"),
    ],
)  # fmt: skip
def test_what_is_not_attacked_is_named(spec: Any, relation: Relation, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        target(spec, AttackSetting(relation=relation, unit="client", observer="released-models"))
    assert caught.value.faults[0].pointer == pointer
