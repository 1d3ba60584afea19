"""One guarantee from several of the same mechanism: what `account` answers where rules join."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.gaussian import GaussianProfile, ZeroProfile
from epsilond.accountants.theorems.composition.alternatives import least_of
from epsilond.accountants.theorems.composition.minimum import LEAST, PROBES, BoundProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

TIE = 1e-9
QUICK = (BoundProfile, GaussianProfile, ZeroProfile)
"""Profiles that cost next to nothing at one ε."""


def least(guarantees: Sequence[Guarantee]) -> Guarantee:
    """One guarantee from several of the same mechanism and setting: the least upper end at every ε, all witnesses.

    Bounds that are nowhere least among a few ε are left out, which is safe; the derivation names those that are kept,
    and is the winner's own where there is one for all of them.

    Raises:
        InvalidInput: the guarantees are about different settings.
    """
    for guarantee in guarantees:
        guarantees[0].setting.same_as(guarantee.setting)
    kept = _undominated(guarantees)
    witnesses = tuple(itertools.chain.from_iterable(guarantee.curve.witnesses for guarantee in guarantees))
    if len(kept) == 1:
        upper, step = kept[0].curve.upper, kept[0].derivation
    else:
        upper = least_of([guarantee.curve.upper for guarantee in kept])
        step = LEAST.because(*(guarantee.derivation for guarantee in kept))
    declared = tuple(dict.fromkeys(condition for guarantee in kept for condition in guarantee.declared))
    curve = Curve(upper, witnesses)
    return Guarantee(setting=guarantees[0].setting, curve=curve, derivation=step, declared=declared)


def _undominated(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """Those that are least at some probe, earlier ones first; one of several that tie everywhere.

    All of them, if one was composed: what an engine computes is not computed for a comparison.
    """
    if not all(isinstance(guarantee.curve.upper.forward, QUICK) for guarantee in guarantees):
        return list(guarantees)
    uppers = np.asarray([guarantee.curve.upper.log_delta(np.asarray(PROBES)).upper for guarantee in guarantees])
    open_probes = np.ones(len(PROBES), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        best = uppers <= uppers.min(axis=0) + TIE * (1.0 + np.abs(uppers.min(axis=0)))
    best |= np.isneginf(uppers)
    kept = []
    while open_probes.any():
        chosen = int(np.argmax((best & open_probes).sum(axis=1)))
        kept.append(chosen)
        open_probes &= ~best[chosen]
    return [guarantees[i] for i in sorted(kept)]
