"""From a certified guarantee to the parts of the answer that every calibrator shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.structure import Draw, in_words, own_level
from epsilond.calibrators.answer import (
    Claims,
    ConditionAnswer,
    DeclaredCondition,
    Ends,
    GuaranteeAnswer,
    NumericalAnswer,
    TargetAnswer,
    TrueFigures,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Condition, ConditionResult
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Certified


def true_figures(guarantee: Guarantee, target: Target) -> TrueFigures:
    """What is known of ε at the target δ and of δ at the target ε."""
    log_delta = guarantee.curve.log_delta(target.epsilon)
    return TrueFigures(
        epsilon=Ends.of(guarantee.curve.epsilon(target.log_delta)),
        delta=Ends.delta(log_delta),
        log10_delta=Ends.log10(log_delta),
    )


def guarantee_answer(
    certified: Certified,
    target: Target,
    *,
    definition: Definition,
    sampling: Sampling,
    sensitivity: float,
    draws: Sequence[Draw] | None = None,
) -> GuaranteeAnswer:
    """The guarantee part of a calibration: the certified parameter meets the target on the upper ends.

    `draws` are those of the run, by default one by `sampling` of what is protected.

    As δ(ε) was evaluated to be at most δ, ε(δ) is at most ε: what inverting the curve adds is only its rounding.
    """
    guarantee = certified.guarantee
    true = true_figures(guarantee, target)
    epsilon = Ends(min(true.epsilon.lower, target.epsilon), min(true.epsilon.upper, target.epsilon))
    setting = guarantee.setting
    drawn = (Draw(sampling, own_level(setting.unit)),) if draws is None else draws
    return GuaranteeAnswer(
        definition=definition,
        in_words=in_words(
            definition=definition,
            observer=setting.observer,
            unit=setting.unit,
            relation=setting.relation,
            draws=drawn,
            declared=guarantee.declared,
        ),
        unit=setting.unit,
        relation=setting.relation,
        observer=setting.observer,
        sampling=sampling,
        sensitivity=sensitivity,
        target=target_answer(target),
        epsilon=epsilon,
        delta=true.delta,
        log10_delta=true.log10_delta,
        tight=guarantee.tight,
        minimal=certified.minimal,
    ).read_from(guarantee.curve)


def target_answer(target: Target) -> TargetAnswer:
    """The target, echoed."""
    return TargetAnswer(epsilon=target.epsilon, delta=target.delta, log10_delta=target.log10_delta)


def claims(target: Target, excess_risk: float | None = None) -> Claims:
    """A printed statement that claims the target itself."""
    return Claims(epsilon=target.epsilon, delta=target.delta, log10_delta=target.log10_delta, excess_risk=excess_risk)


def numerical_answer(guarantee: Guarantee, target: Target) -> NumericalAnswer:
    """How exactly the bound on δ was computed at the target ε."""
    lower, upper = guarantee.curve.bound_log_delta(target.epsilon)
    return NumericalAnswer(relative_width=0.0 if upper == lower else -math.expm1(lower - upper))


def condition_answers(results: Iterable[ConditionResult]) -> tuple[ConditionAnswer, ...]:
    """Evaluated conditions, in the answer's form."""
    return tuple(
        ConditionAnswer(id=one.id, statement=one.statement, holds=one.holds, left=one.left, right=one.right)
        for one in results
    )


def declared_answers(conditions: Iterable[Condition]) -> tuple[DeclaredCondition, ...]:
    """Conditions only the caller can vouch for."""
    return tuple(DeclaredCondition(id=one.id, statement=one.statement) for one in conditions if not one.checked)
