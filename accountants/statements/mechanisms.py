"""Statements about the mechanism of an account: whether its noise is known, and whether its guarantee is declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.specs import SelectBest, Shuffled
from epsilond.accountants.specs.primitives import (
    BlackBox,
    CategoryReport,
    DeclaredBounds,
    ScoredChoice,
    ThresholdAnswers,
)
from epsilond.accountants.statements.settings import NOISE_ADDED_BEFORE, RUN_BEFORE
from epsilond.accountants.statements.statement import Statement
from epsilond.accountants.structure import leaves

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer
    from epsilond.accountants.specs import Spec

DECLARED = Statement(
    about="declared",
    text="Declared: the guarantee of a mechanism of which nothing else is known. Only the caller can vouch for it.",
)


def adds_noise(spec: Spec) -> bool:
    """Return whether any mechanism of a spec adds noise that the spec describes."""
    without = BlackBox | DeclaredBounds | CategoryReport | ScoredChoice | ThresholdAnswers
    return any(not isinstance(leaf.primitive, without) for leaf in _mechanisms(spec))


def restate_for_mechanism(statements: Sequence[Statement], spec: Spec, observer: Observer) -> tuple[Statement, ...]:
    """Return statements without words on noise for a spec without noise, and with those on declared guarantees.

    Args:
        statements: statements of a guarantee of noise.
        spec: the spec of the account.
        observer: the adversary.
    """
    declared = any(isinstance(leaf.primitive, BlackBox | DeclaredBounds) for leaf in _mechanisms(spec))
    restated = statements if adds_noise(spec) else [_without_noise(each, observer) for each in statements]
    return (*restated, DECLARED) if declared else tuple(restated)


def _without_noise(statement: Statement, observer: Observer) -> Statement:
    """Return the statement with the mechanism in place of its noise."""
    text = statement.text.replace(NOISE_ADDED_BEFORE[observer], RUN_BEFORE[observer])
    return Statement(about=statement.about, text=text)


def _mechanisms(spec: Spec) -> Iterator[Spec]:
    """Yield the single mechanisms of a spec, those of selections and of shuffled reports included."""
    for leaf in leaves(spec):
        if isinstance(leaf, SelectBest | Shuffled):
            yield from _mechanisms(leaf.mechanism)
        else:
            yield leaf
