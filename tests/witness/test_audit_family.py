"""Audits of mechanisms that were calibrated: all together never above what is certified."""

from __future__ import annotations

import pytest

from epsilond.witness.audits.family import FamilyAnswer, run_family
from tests.witness.calibrated import mechanisms

CONFIDENCE = 0.999


def check(answer: FamilyAnswer) -> None:
    """No lower bound above its certificate, and hence above its target."""
    assert answer.contradicted == ()
    for one in answer.audits:
        assert one.claim is not None
        assert one.claim.violated != "yes"
        # Approximations of δ at the target may end a hair above it, certificates never.
        assert one.epsilon.lower <= min(one.certified.upper, one.claim.epsilon * (1 + 1e-9))


def test_ten_calibrated_mechanisms() -> None:
    chosen = mechanisms()[::20]
    check(run_family([one.audit(20_000, seed) for seed, one in enumerate(chosen)], CONFIDENCE))


@pytest.mark.slow
def test_two_hundred_calibrated_mechanisms() -> None:
    asked = [one.audit(200_000, seed) for seed, one in enumerate(mechanisms())]
    assert len(asked) == 200
    answer = run_family(asked, CONFIDENCE)
    check(answer)
    ratios = sorted(one.ratio for one in answer.audits if one.ratio is not None)
    assert ratios[len(ratios) // 2] > 0.4
