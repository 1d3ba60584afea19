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
    """Return whether any mechanism of a spec releases a value with noise that the spec describes.

    A declared guarantee describes no noise. Choices, categories and threshold answers are not noisy values.

    Args:
        spec: the description of a run.
    """
    without_noise = (BlackBox, DeclaredBounds, CategoryReport, ScoredChoice, ThresholdAnswers)
    return any(not isinstance(leaf.primitive, without_noise) for leaf in _mechanisms(spec))


def restate_for_mechanism(statements: Sequence[Statement], spec: Spec, observer: Observer) -> tuple[Statement, ...]:
    """Adapt statements about a noisy mechanism to the mechanisms of a spec.

    If no mechanism of the spec has a known noise, the statements name the mechanism instead of its noise.

    Args:
        statements: statements of a guarantee that noise gives.
        spec: the description of the run.
        observer: the adversary.

    Returns:
        The statements in the same order. One more follows if the caller declared the guarantee of a mechanism.
    """
    restated = tuple(statements)
    if not adds_noise(spec):
        restated = tuple(_without_noise(statement, observer) for statement in statements)
    is_declared = any(isinstance(leaf.primitive, (BlackBox, DeclaredBounds)) for leaf in _mechanisms(spec))
    return (*restated, DECLARED) if is_declared else restated


def _without_noise(statement: Statement, observer: Observer) -> Statement:
    """Replace "this noise is added before …" by "the mechanism is run before …" in a statement.

    Args:
        statement: the statement; it is unchanged if it does not contain this phrase.
        observer: the adversary, on whom the exact phrases depend.

    Returns:
        The statement with the new text.
    """
    text = statement.text.replace(NOISE_ADDED_BEFORE[observer], RUN_BEFORE[observer])
    return Statement(about=statement.about, text=text)


def _mechanisms(spec: Spec) -> Iterator[Spec]:
    """Yield the single mechanisms of a spec, including those inside selections and shuffled reports.

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
