"""The parts of an answer that every calibrator shares: what is guaranteed, and what printed theorems say beside it.

A printed reading shows what `POST /v1/theorems/{id}/evaluations` answers for the inputs that stand in its
`evaluations`; nothing is worked out a second time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from epsilond.accountants.curve import Interval, Pair, upper_end_of
from epsilond.accountants.near_tests import UpperEnds
from epsilond.accountants.numerics.crossing import Guess
from epsilond.accountants.structure import Draw, in_words, own_level
from epsilond.accountants.theorem import ConditionResult, Evaluation, Outputs, Theorem
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorems.composition.least_of import sparing_epsilon
from epsilond.calibrators.answer import (
    Claims,
    ConditionAnswer,
    DeclaredCondition,
    Ends,
    EvaluationAsked,
    GuaranteeAnswer,
    NumericalAnswer,
    PrintedReading,
    TargetAnswer,
    TrueFigures,
    field_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from epsilond.accountants.curve import Curve
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Certified


T = TypeVar("T")

SPARE = 1e-6
"""Share of log δ by which a target may be exceeded and ε still be the target's: both are known no better."""
FLAT = 1e-3
"""Share of ε that must tell where the target's ε is given without a search."""
MOST_SQUARE = 1e6
"""To the start of a search, log δ below minus this is as good as −∞."""
POISSON_BATCHES = ConditionResult(
    "fixed-batch-size", "every batch holds exactly K distinct records: that of a Poisson batch is random", False
)
REASONS = {
    "poisson": "the printed proof is for batches of exactly K distinct records; Poisson batches vary in size, and it "
    "says nothing of them",
    "with-replacement": "the printed proof takes 2L/K for the sensitivity, which a record drawn twice exceeds (E-02)",
}
"""Why nothing is proved of a sampling that the proofs of Lowy and Razaviyayn do not cover."""


def true_figures(guarantee: Guarantee, target: Target) -> TrueFigures:
    """What is known of ε at the target δ and of δ at the target ε."""
    log_delta = guarantee.curve.log_delta(target.epsilon)
    return TrueFigures(
        epsilon=Ends.of(known_epsilon(guarantee.curve, target)),
        delta=Ends.delta(log_delta),
        log10_delta=Ends.log10(log_delta),
    )


def known_epsilon(curve: Curve, target: Target) -> Interval:
    """`Curve.epsilon` at the target δ, with few evaluations: searches without a start of their own begin at the target.

    Guarantees: both ends have been evaluated, and each lies on its side of the truth.
    """
    if curve.tight:
        lower, upper = _epsilon_of(curve.upper, target)
    else:  # nobody reads the lower end of a bound that no neighbours attain
        lower, upper = 0.0, _upper_epsilon_of(curve.upper, target)
    if upper > 0.0:
        lower = max(lower, _realised_epsilon([pair for pair in curve.witnesses if pair is not curve.upper], target))
    return Interval(min(lower, upper), upper)


def _realised_epsilon(witnesses: Iterable[Pair], target: Target) -> float:
    """The largest lower end that is found; a witness that is likely to attain no more than one before is not searched.

    It is taken to attain no more where its log δ at the target ε falls short of the target twice as far as that of the
    one before. A witness that is left out may cost some of the lower end, never its truth.
    """
    found, attained = 0.0, -math.inf
    for pair in witnesses:
        if found > 0.0 and _falls_short(pair, target, attained, found):
            continue
        found = max(found, _lower_epsilon_of(pair, target))
        attained = max(attained, pair.lower_end(target.epsilon))
    return found


def _falls_short(pair: Pair, target: Target, attained: float, found: float) -> bool:
    """Whether a witness is seen to attain no more than one of the log δ and ε given, as above."""
    if pair.likely_meets(found, target.log_delta):
        return True
    least = target.log_delta - 2.0 * (target.log_delta - attained)
    return attained < target.log_delta and (
        pair.likely_meets(target.epsilon, least) or pair.lower_end(target.epsilon) <= least
    )


def _upper_epsilon_of(pair: Pair, target: Target) -> float:
    """The upper end alone: the target ε where that meets the target δ by next to nothing, as calibrated noise does.

    A little less must miss it: where δ hardly falls with ε, a much smaller ε may meet it too, and is searched.
    """
    near = target.log_delta * (1.0 + SPARE) <= pair.upper_end(target.epsilon) <= target.log_delta
    if near and _end_beside(pair, target.epsilon) > target.log_delta:
        return target.epsilon
    if type(pair).upper_epsilon is not Pair.upper_epsilon:
        return pair.upper_epsilon(target.log_delta)
    return _epsilon_of(pair, target).upper


def _end_beside(pair: Pair, epsilon: float) -> float:
    """An upper end of log δ at a little less than an ε: from the same evaluation, where several cost what one does."""
    beside = epsilon * (1.0 - FLAT)
    if type(pair).upper_end is not Pair.upper_end:
        return pair.upper_end(beside)
    return max(
        order.upper_ends([beside, epsilon])[0] if isinstance(order, UpperEnds) else upper_end_of(order, beside)
        for order in pair.orders()
    )


def _lower_epsilon_of(pair: Pair, target: Target) -> float:
    """The lower end alone."""
    if type(pair).lower_epsilon is not Pair.lower_epsilon:
        return pair.lower_epsilon(target.log_delta, target.epsilon)
    return _epsilon_of(pair, target).lower


def _epsilon_of(pair: Pair, target: Target) -> Interval:
    """Of a pair that has no search of its own: from the line of √−log δ through ε = 0 and the target ε."""
    if type(pair).epsilon is not Pair.epsilon or target.epsilon <= 0.0:
        return pair.epsilon(target.log_delta)
    wanted, at_zero, at_target = (
        math.sqrt(min(max(-log_delta, 0.0), MOST_SQUARE))
        for log_delta in (target.log_delta, pair.ends(0.0).upper, pair.ends(target.epsilon).upper)
    )
    rise = (at_target - at_zero) / target.epsilon
    if not rise > 0.0:
        return pair.epsilon(target.log_delta)
    near = max((wanted - at_zero) / rise, 0.0)
    return sparing_epsilon(pair, target.log_delta, Guess(near, max(2.0 * wanted * rise, 1e-9)))


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
    ).read_from((certified.whole or guarantee).curve)


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
    return tuple([_declared(one.id, one.statement) for one in conditions if not one.checked])


@functools.lru_cache(maxsize=256)
def _declared(identifier: str, statement: str) -> DeclaredCondition:
    """The same few again and again; plain data, which nobody changes."""
    return DeclaredCondition(id=identifier, statement=statement)


# Printed readings ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Asked:
    """A registered theorem's formula at inputs, in a reading."""

    theorem: Theorem
    inputs: Any
    reading: TheoremReading = "printed"

    @classmethod
    def of(cls, theorem: Theorem, record: Any, reading: TheoremReading = "printed", **others: Any) -> Asked:
        """At the inputs that the record gives."""
        assert theorem.inputs is not None
        return cls(theorem, inputs_of(theorem.inputs, record, **others), reading)

    @cached_property
    def evaluation(self) -> Evaluation:
        """What the formula and the conditions give, worked out once."""
        return self.theorem.evaluate(self.inputs, self.reading)

    @property
    def outputs(self) -> Outputs:
        """What the formula gives."""
        return self.evaluation.outputs

    def conditions(self, *, without: tuple[str, ...] = ()) -> tuple[ConditionResult, ...]:
        """The checked conditions at these inputs in this reading, apart from some."""
        own = {one.id for one in self.theorem.conditions if one.checked and one.id not in without}
        return tuple(one for one in self.evaluation.conditions if one.id in own)

    @property
    def served(self) -> EvaluationAsked:
        """The question, as it stands in the answer."""
        return EvaluationAsked(theorem=self.theorem.id, reading=self.reading, inputs=given_fields(self.inputs))


def inputs_of(kind: Callable[..., T], record: Any, **others: Any) -> T:
    """Inputs of a class: those that the record has under the same names are the record's, but for `others`."""
    own = {name: getattr(record, name) for name in field_names(kind) if name not in others and hasattr(record, name)}
    return kind(**own, **others)


def shown(
    question: Asked, *further: Asked, claims: Claims, parameters: Mapping[str, float], **parts: Any
) -> PrintedReading:
    """A reading in the answer; by default the theorem's `statement`, with its own status."""
    theorem = question.theorem
    named: dict[str, Any] = {"reading": "statement", "status": theorem.status, "parameters": parameters, **parts}
    return PrintedReading(
        theorem=theorem.id,
        claims=claims,
        conditions=condition_answers(question.conditions()),
        evaluations=tuple(one.served for one in (question, *further)),
        **named,
    )


def given_fields(inputs: Any) -> Mapping[str, Any]:
    """A request as the mapping that gives it: fields that are as they are by default are left out."""
    return {
        field.name: _plain(getattr(inputs, field.name))
        for field in fields(inputs)
        if getattr(inputs, field.name) is not None and getattr(inputs, field.name) != field.default
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return given_fields(value)
    return tuple(map(_plain, value)) if isinstance(value, tuple | list) else value
