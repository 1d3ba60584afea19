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
    """Return whether any mechanism of a spec adds noise that the spec describes.

    Declared guarantees describe no noise, and choices, categories and threshold answers are no noisy values.

    Args:
        spec: the description of a run.

    Returns:
        True if some mechanism of the run adds noise that the spec describes.
    """
    without_noise = (BlackBox, DeclaredBounds, CategoryReport, ScoredChoice, ThresholdAnswers)
    return any(not isinstance(leaf.primitive, without_noise) for leaf in _mechanisms(spec))


def restate_for_mechanism(statements: Sequence[Statement], spec: Spec, observer: Observer) -> tuple[Statement, ...]:
    """Return statements that fit the mechanisms of a spec.

    If the spec does not say which noise is added, they speak of the mechanism instead of its noise. A statement on
    declared guarantees is added if the spec has any.

    Args:
        statements: statements of a guarantee of noise.
        spec: the description of the run.
        observer: the adversary.

    Returns:
        As many statements, with one more if the spec has declared guarantees.
    """
    restated = tuple(statements)
    if not adds_noise(spec):
        restated = tuple(_without_noise(statement, observer) for statement in statements)
    is_declared = any(isinstance(leaf.primitive, (BlackBox, DeclaredBounds)) for leaf in _mechanisms(spec))
    return (*restated, DECLARED) if is_declared else restated


def _without_noise(statement: Statement, observer: Observer) -> Statement:
    """Return a statement with the mechanism in place of its noise.

    A statement that mentions no noise is unchanged.

    Args:
        statement: a statement of a guarantee of noise.
        observer: the adversary, on whom the words depend.

    Returns:
        The statement with the same subject.
    """
    text = statement.text.replace(NOISE_ADDED_BEFORE[observer], RUN_BEFORE[observer])
    return Statement(about=statement.about, text=text)


def _mechanisms(spec: Spec) -> Iterator[Spec]:
    """Yield the single mechanisms of a spec, those of selections and of shuffled reports included.

    Args:
        spec: the description of a run.

    Yields:
        Each single mechanism, as its spec.
    """
    for leaf in leaves(spec):
        if isinstance(leaf, SelectBest | Shuffled):
            yield from _mechanisms(leaf.mechanism)
        else:
            yield leaf
