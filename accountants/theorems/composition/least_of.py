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
    statement="If δ₁, …, δ_k each bound a mechanism's δ(ε) in both directions, so does their minimum",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)
TIE = 1e-9
"""Difference of log δ [nat], in units of 1 + |log δ|, up to which two bounds count as equal."""


def least(guarantees: Sequence[Guarantee], probes: Sequence[float] = PROBES) -> Guarantee:
    """Combine several guarantees of one mechanism into one with the least upper bound on δ at every ε.

    Guarantees that are not the least at any of the values `probes` are left out of this minimum, to save time. Lower
    bounds on δ come from the witnesses of all guarantees, that is, pairs of output distributions that the mechanism has
    on some neighbours.

    Args:
        guarantees: the guarantees, at least one, for the same neighbouring relation, protected unit and observer.
        probes: values of ε at which the upper bounds are compared.

    Returns:
        The combined guarantee. Its derivation and its declared conditions are those of the guarantees in the minimum.

    Raises:
        InvalidInput: the guarantees are about different settings.
    """
    setting = guarantees[0].setting
    for guarantee in guarantees:
        setting.same_as(guarantee.setting)
    relevant = _select_least(guarantees, probes)

    if len(relevant) == 1:
        (only,) = relevant
        upper, step = only.curve.upper, only.derivation
    else:
        upper = least_of([guarantee.curve.upper for guarantee in relevant])
        step = LEAST.because(*(guarantee.derivation for guarantee in relevant))

    # Every witness gives a valid lower bound, also that of a guarantee that is left out.
    witnesses = tuple(itertools.chain.from_iterable(guarantee.curve.witnesses for guarantee in guarantees))

    # A dictionary keeps the order of the conditions, and each only once.
    conditions = itertools.chain.from_iterable(guarantee.declared for guarantee in relevant)
    declared = tuple(dict.fromkeys(conditions))
    curve = Curve(upper, witnesses)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=declared)


def _select_least(guarantees: Sequence[Guarantee], probes: Sequence[float]) -> list[Guarantee]:
    """Select a few guarantees, so that one of them has the least upper bound on δ at each of several values of ε.

    The selection is greedy: it adds the guarantee that is the least at the largest number of values not yet covered. If
    a guarantee has no closed form, all are returned, because the comparison would be expensive.

    Args:
        guarantees: guarantees of one mechanism, all of them valid; at least one.
        probes: values of ε at which the upper bounds on δ are compared, in nats.

    Returns:
        The selected guarantees, in their original order.
    """
    if not all(guarantee.curve.upper.forward.closed_form for guarantee in guarantees):
        return list(guarantees)

    # Upper bounds on log δ: a row for each guarantee, a column for each probe.
    probed_epsilons = np.asarray(probes)
    log_deltas = np.asarray([guarantee.curve.upper.log_delta(probed_epsilons).upper for guarantee in guarantees])
    smallest = log_deltas.min(axis=0)

    # Bounds that differ only by rounding count as equal.
    with np.errstate(invalid="ignore"):
        is_least = log_deltas <= smallest + TIE * (1.0 + np.abs(smallest))
    is_least |= np.isneginf(log_deltas)

    is_uncovered = np.ones(len(probes), dtype=np.bool_)
    selected_indices = []
    while is_uncovered.any():
        newly_covered = (is_least & is_uncovered).sum(axis=1)
        best_index = int(np.argmax(newly_covered))
        selected_indices.append(best_index)
        is_uncovered &= ~is_least[best_index]
    return [guarantees[index] for index in sorted(selected_indices)]


THEOREMS: tuple[Theorem, ...] = (LEAST,)
