"""The least of several guarantees of one mechanism."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.curve.search import PROBES
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = Theorem(
    id="epsilond.least-bound",
    title="The least of several bounds",
    statement="If δ₁, …, δ_k each bound a mechanism's δ(ε) in both orders, so does their minimum",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)
TIE = 1e-9


def least(guarantees: Sequence[Guarantee], probes: Sequence[float] = PROBES) -> Guarantee:
    """One guarantee from several of the same mechanism and setting: the least upper end at every ε, all witnesses.

    Bounds that are nowhere least among a few ε, the probes, are left out, which is safe; the derivation names those
    that are kept, and is the winner's own where there is one for all of them.

    Raises:
        InvalidInput: the guarantees are about different settings.
    """
    for guarantee in guarantees:
        guarantees[0].setting.same_as(guarantee.setting)
    kept = _undominated(guarantees, probes)
    witnesses = tuple(itertools.chain.from_iterable(guarantee.curve.witnesses for guarantee in guarantees))
    if len(kept) == 1:
        upper, step = kept[0].curve.upper, kept[0].derivation
    else:
        upper = least_of([guarantee.curve.upper for guarantee in kept])
        step = LEAST.because(*(guarantee.derivation for guarantee in kept))
    declared = tuple(dict.fromkeys(condition for guarantee in kept for condition in guarantee.declared))
    curve = Curve(upper, witnesses)
    return Guarantee(setting=guarantees[0].setting, curve=curve, derivation=step, declared=declared)


def _undominated(guarantees: Sequence[Guarantee], probes: Sequence[float]) -> list[Guarantee]:
    """Those that are least at some probe, earlier ones first; one of several that tie everywhere.

    All of them, if one was composed: what an engine computes is not computed for a comparison.
    """
    if not all(guarantee.curve.upper.forward.closed_form for guarantee in guarantees):
        return list(guarantees)
    uppers = np.asarray([guarantee.curve.upper.log_delta(np.asarray(probes)).upper for guarantee in guarantees])
    open_probes = np.ones(len(probes), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        best = uppers <= uppers.min(axis=0) + TIE * (1.0 + np.abs(uppers.min(axis=0)))
    best |= np.isneginf(uppers)
    kept = []
    while open_probes.any():
        chosen = int(np.argmax((best & open_probes).sum(axis=1)))
        kept.append(chosen)
        open_probes &= ~best[chosen]
    return [guarantees[i] for i in sorted(kept)]


THEOREMS: tuple[Theorem, ...] = (LEAST,)
