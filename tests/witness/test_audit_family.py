"""A family of audits of calibrated mechanisms: no lower bound exceeds its certificate."""

from __future__ import annotations

import pytest

from epsilond.witness.audits.family import FamilyAnswer, run_family
from tests.witness.calibrated_mechanisms import mechanisms

CONFIDENCE = 0.999


def check(answer: FamilyAnswer) -> None:
    """Check that no lower bound exceeds its certificate, and hence its target."""
    assert answer.contradicted == ()
    for audit in answer.audits:
        assert audit.claim is not None
        assert audit.claim.violated != "yes"
        # The certified ε of a calibrated mechanism exceeds its target by at most a relative 1e-9.
        assert audit.epsilon.lower <= min(audit.certified.upper, audit.claim.epsilon * (1 + 1e-9))


def test_ten_calibrated_mechanisms_do_not_contradict_their_certificates() -> None:
    chosen = mechanisms()[::20]
    check(run_family([mechanism.audit(20_000, seed) for seed, mechanism in enumerate(chosen)], CONFIDENCE))


@pytest.mark.slow
def test_two_hundred_calibrated_mechanisms_do_not_contradict_their_certificates() -> None:
    audits = [mechanism.audit(200_000, seed) for seed, mechanism in enumerate(mechanisms())]
    assert len(audits) == 200
    answer = run_family(audits, CONFIDENCE)
    check(answer)
    ratios = sorted(audit.ratio for audit in answer.audits if audit.ratio is not None)
    assert ratios[len(ratios) // 2] > 0.4
