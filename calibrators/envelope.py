"""The parts of an answer that all calibrators share: the guarantee, and the readings of printed theorems.

A printed reading shows the answer of `POST /v1/theorems/{id}/evaluations` for the inputs in its `evaluations`. Nothing
is computed a second time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.json_types import Fields, JsonObject, JsonRecord
from epsilond.accountants.numerics.outward import round_to_digits
from epsilond.accountants.statements.settings import join_statements, state_guarantee
from epsilond.accountants.structure import own_level
from epsilond.accountants.structure.random_draws import Draw
from epsilond.accountants.theorem import Evaluation, Outputs, Theorem
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.verdict import Verdict
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

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.structure import Definition
    from epsilond.accountants.target import Target
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.search import Certified


T = TypeVar("T")

POISSON_BATCHES = ConditionResult(
    "fixed-batch-size", "every batch holds exactly K distinct records: that of a Poisson batch is random", Verdict.NO
)
REASONS = {
    "poisson": "the printed proof is for batches of exactly K distinct records; Poisson batches vary in size, and it "
    "says nothing of them",
    "with-replacement": "the printed proof takes 2L/K for the sensitivity, which a record drawn twice exceeds (E-02)",
}
"""Reason, by sampling, for which the proofs of Lowy and Razaviyayn do not cover it."""


def true_figures(guarantee: Guarantee, target: Target) -> TrueFigures:
    """Return certified bounds on ε at the target δ, and on δ at the target ε.

    Args:
        guarantee: the guarantee of a run, with its privacy curve δ(ε).
        target: the target (ε, δ).

    Returns:
        Lower and upper bounds on ε, on δ and on the base-10 logarithm of δ.
    """
    log_delta = guarantee.curve.log_delta(target.epsilon)
    return TrueFigures(
        epsilon=Ends.of(guarantee.curve.epsilon_of_target(target)),
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
    noise_party_known: bool = True,
) -> GuaranteeAnswer:
    """Return the guarantee at a certified noise, in the form of a calibration's answer.

    The bounds on ε at the target's δ are capped at the target's ε. This is valid because the certified noise meets the
    target, and it removes the rounding error of inverting the curve.

    Args:
        certified: the noise and its guarantee.
        target: the requested (ε, δ). For a requested risk, its δ and the ε that is certified there.
        definition: the trust model.
        sampling: how batches are drawn.
        sensitivity: largest change of the noisy quantity between two neighbours, in its units.
        draws: random draws of the run; None for a single draw of protected units by `sampling`.
        noise_party_known: whether the algorithm states who adds the noise. If not, the sentences leave it open.

    Returns:
        The guarantee with its sentences, its bounds on ε and δ, and its privacy curve.
    """
    guarantee = certified.guarantee
    setting = guarantee.setting
    bounds = true_figures(guarantee, target)
    epsilon = Ends(min(bounds.epsilon.lower, target.epsilon), min(bounds.epsilon.upper, target.epsilon))

    draws_of_run = (Draw(sampling, own_level(setting.unit)),) if draws is None else draws
    statements = state_guarantee(
        definition=definition if noise_party_known else None,
        observer=setting.observer,
        unit=setting.protected_unit,
        relation=setting.relation,
        draws=draws_of_run,
        declared=guarantee.declared,
    )

    return GuaranteeAnswer(
        definition=definition,
        in_words=join_statements(statements),
        statements=statements,
        unit=setting.protected_unit,
        relation=setting.relation,
        observer=setting.observer,
        sampling=sampling,
        sensitivity=sensitivity,
        target=target_answer(target),
        epsilon=epsilon,
        delta=bounds.delta,
        log10_delta=bounds.log10_delta,
        tight=guarantee.tight,
        minimal=certified.minimal,
        curve=PrivacyCurve((certified.full_guarantee or guarantee).curve),
    )


def target_answer(target: Target) -> TargetAnswer:
    """Return the target in the form of the answer."""
    requested = {} if target.risk is None else target.risk.members
    return TargetAnswer(epsilon=target.epsilon, delta=target.delta, log10_delta=target.log10_delta, **requested)


def claims(target: Target, excess_risk: float | None = None) -> Claims:
    """Return a claim of the target's ε and δ, with a claimed excess risk if there is one.

    Args:
        target: the target (ε, δ), which a printed theorem claims to meet.
        excess_risk: bound on the excess risk that it claims; None if it claims none.
    """
    return Claims(epsilon=target.epsilon, delta=target.delta, log10_delta=target.log10_delta, excess_risk=excess_risk)


def numerical_answer(guarantee: Guarantee, target: Target) -> NumericalAnswer:
    """Return the relative width of the bounds on δ at the target ε.

    The width is 1 − δ_low/δ_up, for the lower bound δ_low and the upper bound δ_up. It measures the numerical error.

    Args:
        guarantee: the guarantee, with its computed privacy curve δ(ε).
        target: the target, of which only ε is used.

    Returns:
        The width, from 0 to 1, rounded up to three significant digits.
    """
    lower, upper = guarantee.curve.bound_log_delta(target.epsilon)
    # Equal bounds may both be −∞, of which the difference is undefined. `expm1` avoids cancellation.
    width = 0.0 if upper == lower else -math.expm1(lower - upper)
    return NumericalAnswer(relative_width=round_to_digits(width, 3, up=True))


def condition_answers(results: Iterable[ConditionResult]) -> tuple[ConditionAnswer, ...]:
    """Convert evaluated conditions of a theorem to the form of an answer.

    Args:
        results: conditions with their verdicts and, for inequalities, with both sides.

    Returns:
        The conditions in the same order. `left` and `right` are the sides of an inequality, and None for other
        conditions.
    """
    return tuple(
        ConditionAnswer(
            id=result.id, statement=result.statement, holds=result.holds, left=result.left, right=result.right
        )
        for result in results
    )


def declared_answers(conditions: Iterable[Condition]) -> tuple[DeclaredCondition, ...]:
    """Return the conditions that only the caller can vouch for, in the form of the answer.

    Args:
        conditions: conditions of theorems. Those that can be checked are left out.
    """
    declared = [condition for condition in conditions if not condition.checked]
    return tuple([_declared_condition(condition.id, condition.statement) for condition in declared])


@functools.lru_cache(maxsize=256)
def _declared_condition(identifier: str, statement: str) -> DeclaredCondition:
    """Return a condition in the form of the answer; results are cached, as few conditions occur and none is changed."""
    return DeclaredCondition(id=identifier, statement=statement)


# Printed readings ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TheoremAtInputs:
    """A registered theorem at given inputs: the values of its formula, and whether its conditions hold.

    Attributes:
        theorem: the registered theorem.
        inputs: an instance of the theorem's class of inputs.
        reading: the interpretation of the paper's text, such as `printed` or `corrected`.
    """

    theorem: Theorem
    inputs: Any
    reading: TheoremReading = "printed"

    @classmethod
    def of(
        cls, theorem: Theorem, record: object, reading: TheoremReading = "printed", **others: object
    ) -> TheoremAtInputs:
        """Take the inputs of a theorem from attributes of an object with the same names.

        Args:
            theorem: the registered theorem, which must have a formula with inputs.
            record: object with the attributes. Inputs that it lacks get their defaults.
            reading: the interpretation of the theorem, for example `printed` or `corrected`.
            others: inputs that replace those of the object.

        Returns:
            The theorem at these inputs. Nothing is evaluated yet.
        """
        assert theorem.inputs is not None
        return cls(theorem, inputs_of(theorem.inputs, record, **others), reading)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The values of the formula and the conditions, computed once."""
        return self.theorem.evaluate(self.inputs, self.reading)

    @property
    def outputs(self) -> Outputs:
        """The values of the formula."""
        return self.evaluation.outputs

    def conditions(self, *, without: tuple[str, ...] = ()) -> tuple[ConditionResult, ...]:
        """Evaluate the conditions of the theorem that can be checked from its inputs.

        Args:
            without: ids of conditions that are left out.

        Returns:
            The evaluated conditions, in the order of the theorem.
        """
        checked_ids = {condition.id for condition in self.theorem.conditions if condition.checked}
        selected_ids = checked_ids.difference(without)
        return tuple(result for result in self.evaluation.conditions if result.id in selected_ids)

    @property
    def served(self) -> EvaluationAsked:
        """The HTTP request that repeats this evaluation: theorem, interpretation, and the inputs that were given."""
        return EvaluationAsked(theorem=self.theorem.id, reading=self.reading, inputs=given_fields(self.inputs))


def inputs_of(kind: Callable[..., T], record: object, **others: object) -> T:
    """Make an instance of a data class from the attributes of an object that have the names of its fields.

    Args:
        kind: the data class.
        record: object with the attributes. Fields that it lacks get their defaults.
        others: values of fields that replace those of the object.
    """
    copied_names = [name for name in field_names(kind) if name not in others and hasattr(record, name)]
    return kind(**{name: getattr(record, name) for name in copied_names}, **others)


def make_reading(
    main: TheoremAtInputs,
    *further: TheoremAtInputs,
    claims: Claims,
    parameters: Mapping[str, float],
    conditions: Iterable[ConditionResult] | None = None,
    **parts: object,
) -> PrintedReading:
    """Describe what a paper's theorem claims in one interpretation ("reading") of its text, for an answer.

    Args:
        main: the theorem, at the inputs of the reading.
        further: other evaluated theorems that the reading also uses.
        claims: the ε, δ and excess risk that the reading claims for its parameters.
        parameters: the parameters that the reading prescribes, by name.
        conditions: the evaluated conditions; by default those of `main` that can be checked from its inputs.
        parts: other fields of `PrintedReading`. By default `reading` is `statement`, and `status` is the theorem's.

    Returns:
        The reading, with the requests that repeat the evaluations of `main` and `further`.
    """
    theorem = main.theorem
    results = main.conditions() if conditions is None else conditions
    fields_of_reading: Fields = {"reading": "statement", "status": theorem.status, "parameters": parameters, **parts}
    return PrintedReading(
        theorem=theorem.id,
        claims=claims,
        conditions=condition_answers(results),
        evaluations=tuple(theorem_at_inputs.served for theorem_at_inputs in (main, *further)),
        **fields_of_reading,
    )


def given_fields(inputs: Any) -> JsonObject:
    """Return a request as a mapping, without fields that are absent or have their default value.

    Args:
        inputs: the request, a data class.

    Returns:
        JSON values by the names of the fields that were given.
    """
    members: JsonRecord = {}
    for field in fields(inputs):
        value = getattr(inputs, field.name)
        if value is not None and value != field.default:
            members[field.name] = _to_json_value(value)
    return members


def _to_json_value(value: object) -> object:
    """Convert data classes to mappings of their given fields, also inside sequences; other values are unchanged."""
    if is_dataclass(value):
        return given_fields(value)
    if isinstance(value, tuple | list):
        return tuple(map(_to_json_value, value))
    return value
