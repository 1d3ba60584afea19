"""Laws of every guarantee, whatever theorem made it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.numerics.special import log_difference
from epsilond.accountants.specs import Composed, Repeated
from tests.laws.samples import SAMPLES, Sample

EPSILONS = (0.0, 1e-3, 0.1, 0.7, 2.0, 6.0)

# The tails of a composed pair are a table of hundreds of certified ends.
SLOW_TAILS = "random allocation of pure noise to several"
SAMPLES_WITH_TAILS = [
    pytest.param(sample, marks=pytest.mark.slow) if sample.composed or sample.name.startswith(SLOW_TAILS) else sample
    for sample in SAMPLES
]
SLOW_REPEATED = (
    "random allocation / replace-one",
    "random allocation to several / replace-one",
    "shuffled gaussian / replace-one",
)

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@each_sample
def test_ends_are_ordered_and_never_nan(sample: Sample) -> None:
    curve, anew = sample.guarantee().curve, sample.anew().curve
    for epsilon in EPSILONS:
        known, bound = curve.log_delta(epsilon), curve.bound_log_delta(epsilon)
        assert not any(map(math.isnan, (*known, *bound)))
        assert known.lower <= known.upper <= 0.0
        assert bound.lower <= bound.upper == known.upper == anew.upper_log_delta(epsilon)


@each_sample
def test_delta_never_rises_with_epsilon(sample: Sample) -> None:
    curve = sample.guarantee().curve
    ends = [curve.bound_log_delta(epsilon) for epsilon in EPSILONS]
    for left, right in zip(ends, ends[1:], strict=False):
        assert right.lower <= left.upper


@each_sample
def test_more_noise_never_raises_delta(sample: Sample) -> None:
    for epsilon in (0.1, 1.0):
        quiet = sample.guarantee(1.0).curve.bound_log_delta(epsilon)
        loud = sample.guarantee(1.05).curve.bound_log_delta(epsilon)
        assert loud.upper < quiet.lower or (math.isinf(loud.upper) and math.isinf(quiet.lower))


@each_sample
def test_both_orders_meet_at_zero(sample: Sample) -> None:
    """E_1 is the total variation distance, the same in both orders."""
    upper = sample.guarantee().curve.upper
    forward, backward = (profile.log_delta(np.zeros(1)) for profile in (upper.forward, upper.backward))
    assert forward.lower[0] <= backward.upper[0]
    assert backward.lower[0] <= forward.upper[0]


@pytest.mark.parametrize("sample", SAMPLES_WITH_TAILS, ids=lambda sample: sample.name)
def test_tails_agree_with_the_profile(sample: Sample) -> None:
    """E_{e^ε} = P(L > ε) − e^ε Q(L > ε); a composed profile's tails may dominate, never undercut."""
    for profile in sample.guarantee().curve.upper.directions():
        for epsilon in (0.05, 0.4):
            at = np.asarray([epsilon])
            tails, ends = profile.log_tails(at), profile.log_delta(at)
            if np.isneginf(tails.log_p[0]):
                assert np.isneginf(ends.lower[0])
                continue
            from_tails = log_difference(tails.log_p, np.minimum(tails.log_q + epsilon, tails.log_p))
            assert from_tails[0] >= ends.lower[0] - 1e-9


@each_sample
def test_witnesses_stay_below_the_bound(sample: Sample) -> None:
    guarantee = sample.guarantee()
    for epsilon in EPSILONS:
        for witness in guarantee.curve.witnesses:
            assert witness.log_delta(np.asarray([epsilon])).lower[0] <= guarantee.curve.log_delta(epsilon).upper


@pytest.mark.parametrize(
    "sample",
    [pytest.param(sample, marks=pytest.mark.slow) if sample.name in SLOW_REPEATED else sample for sample in SAMPLES],
    ids=lambda sample: sample.name,
)
def test_repeated_equals_a_list_of_copies(sample: Sample) -> None:
    spec = sample.spec()
    repeated, listed = (
        account(several, relation=sample.relation, observer=sample.observer).guarantee.curve
        for several in (Repeated(times=4, mechanism=spec), Composed(mechanisms=(spec,) * 4))
    )
    for epsilon in (0.0, 0.5, 2.0):
        assert repeated.bound_log_delta(epsilon) == listed.bound_log_delta(epsilon)


@each_sample
def test_every_effort_encloses_the_same_number(sample: Sample) -> None:
    coarse = sample.guarantee(effort="coarse").curve.bound_log_delta(0.5)
    fine = sample.guarantee(effort="fine").curve.bound_log_delta(0.5)
    assert coarse.lower <= fine.upper
    assert fine.lower <= coarse.upper


@each_sample
def test_epsilon_inverts_delta(sample: Sample) -> None:
    curve = sample.guarantee().curve
    log_delta = math.log(1e-6)
    bound = curve.bound_epsilon(log_delta)
    assert bound.lower <= bound.upper
    assert curve.bound_log_delta(bound.upper).upper <= log_delta
    assert bound.lower == 0.0 or curve.bound_log_delta(bound.lower).lower > log_delta


@each_sample
def test_derivations_name_registered_theorems(sample: Sample) -> None:
    from epsilond.accountants.theorems import THEOREMS

    assert set(sample.guarantee().theorems()) <= {theorem.id for theorem in THEOREMS}
