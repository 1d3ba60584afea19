"""The common form of the answers of all calibrators, and its JSON form.

Parts that an algorithm does not have are None here and absent in JSON. An infinite value is the string "unbounded". A δ
is always accompanied by log10_delta, so that a δ below every double is represented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal

from typing_extensions import TypeVar

from epsilond.accountants.guarantee import PrivacyCurve, Tightness
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, Sampling
from epsilond.accountants.statements.statement import Statement
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Step
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.notebooks import ShownInNotebooks
from epsilond.calibrators.serving.json_form import LARGEST_EXACT, UNSERVED, PartlyServed, as_json, field_names
from epsilond.calibrators.serving.printed import (
    Claims,
    ConditionAnswer,
    EvaluationAsked,
    PrintedEntry,
    PrintedReading,
    TrueFigures,
)
from epsilond.calibrators.serving.values import (
    BASELINE,
    CONTRIBUTION_NORM,
    OBJECTIVE,
    UNBOUNDED,
    VACUOUS,
    Baseline,
    Caution,
    Ends,
    Number,
    Objective,
    Served,
    number_of,
)

__all__ = [
    "BASELINE",
    "CONTRIBUTION_NORM",
    "LARGEST_EXACT",
    "OBJECTIVE",
    "UNBOUNDED",
    "VACUOUS",
    "Baseline",
    "Calibration",
    "Caution",
    "Claims",
    "Communication",
    "CommunicationBeside",
    "ConditionAnswer",
    "ConsideredBound",
    "DeclaredCondition",
    "DerivationStep",
    "Ends",
    "EvaluationAsked",
    "FrontierRun",
    "GuaranteeAnswer",
    "Number",
    "NumericalAnswer",
    "Objective",
    "Parameters",
    "PrescribedRisk",
    "PrintedEntry",
    "PrintedReading",
    "ReadFromCurve",
    "Risk",
    "RiskBound",
    "Served",
    "TargetAnswer",
    "TrueFigures",
    "as_json",
    "derivation_of",
    "field_names",
    "number_of",
    "without_inputs",
]

Parameters = TypeVar("Parameters", default=Any)
"""The parameters of a run; each algorithm has its own class."""


@dataclass(frozen=True, kw_only=True)
class TargetAnswer:
    """The target: (ε, δ), or the risk that was requested, with the ε that is certified at δ."""

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    advantage: Annotated[float | None, Served("the target, if this was the target")] = None
    true_positive_rate: Annotated[float | None, Served("the target, if this was the target")] = None
    false_positive_rate: Annotated[float | None, Served("false positive rate of the target")] = None
    gaussian_dp_mu: Annotated[float | None, Served("the target, if this was the target")] = None
    rho: Annotated[float | None, Served("the target, if this was the target")] = None


@dataclass(frozen=True, kw_only=True)
class ReadFromCurve(ShownInNotebooks, PartlyServed):
    """An answer with the curve that its bounds were read from."""

    curve: PrivacyCurve | None = field(default=None, compare=False, repr=False, metadata=UNSERVED)
    """The curve, to read at another ε or δ; None where no curve is that of the answer, or in another process."""

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without the curve, which holds functions that cannot be pickled."""
        return {**vars(self), "curve": None}


@dataclass(frozen=True, kw_only=True)
class GuaranteeAnswer(ReadFromCurve):
    """The guarantee: protected unit, adversary, and enclosures of ε at the target δ and of δ at the target ε."""

    definition: Annotated[
        Literal["local", "shuffle", "central", "joint"], Served("the trust model the guarantee speaks of")
    ]
    in_words: Annotated[
        str, Served("plain statements: the protected unit, the adversary, the trusted parties and the secret batches")
    ]
    statements: Annotated[tuple[Statement, ...], Served("the sentences of in_words, with their subjects")]
    unit: ProtectedUnit
    relation: Relation
    observer: Observer
    sampling: Sampling
    sensitivity: Annotated[
        float | None,
        Served(
            "ℓ2 sensitivity of the quantity that gets noise, in its units. Absent where client groups differ in it: "
            "parameters.groups then has one for each"
        ),
    ] = None
    target: TargetAnswer
    epsilon: Annotated[Ends, Served("enclosure of ε at the target δ")]
    delta: Annotated[Ends, Served("enclosure of δ at the target ε")]
    log10_delta: Annotated[Ends, Served("enclosure of log10 δ at the target ε")]
    tight: Annotated[Tightness, Served("what proves the lower bounds, and whether they meet the upper ones")]
    minimal: Annotated[
        Literal["proved", "searched"], Served("proved: a slightly smaller parameter fails the same bound")
    ]


@dataclass(frozen=True, kw_only=True)
class NumericalAnswer:
    """Numerical error of the computed bound. It does not say how close the bound is to the truth."""

    relative_width: Annotated[float, Served("numerical width of the bound on δ, relative to its upper end")]


@dataclass(frozen=True, kw_only=True)
class ConsideredBound:
    """A bound that was tried at the answer's parameters; the least of those for the answer's observer is returned."""

    theorem: str
    observer: Observer
    applies: Verdict
    reason: Annotated[str | None, Served("why the bound does not apply to this run")] = None
    log10_delta: Annotated[Number | None, Served("upper bound on it at the target ε", may_be_unbounded=True)] = None
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    least: Annotated[bool, Served("whether no other bound for this observer is smaller")] = False


@dataclass(frozen=True, kw_only=True)
class RiskBound:
    """An upper or lower bound on the excess risk by a `theorem`, with the `terms` that it consists of.

    If the theorem leaves its constant factor open, `constant` is `hidden`. The value is then only an order of growth.
    """

    value: Number
    constant: Literal["explicit", "hidden"]
    theorem: str
    terms: Mapping[str, float]
    vacuous: Annotated[
        bool | None, Served("whether an upper bound with explicit constants is no better than the baseline")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PrescribedRisk:
    """Our bound on the risk of the run that the theorem's corrected reading prescribes at the answer's batch size."""

    theorem: str
    reading: Annotated[TheoremReading, Served("the theorem's reading; as_printed has the printed one")]
    batch_size: int
    rounds: int
    step_size: float
    envelope_smoothness: Annotated[float | None, Served("smoothness of the Moreau envelope")] = None
    within_budget: Annotated[bool, Served("whether the request's budgets pay for its rounds")]
    certified_noise: Annotated[float, Served("bound at its certified noise", may_be_unbounded=True)]
    printed_noise: Annotated[float, Served("bound at the noise that the reading prescribes", may_be_unbounded=True)]
    ratio: Annotated[float, Served("bound at its certified noise over the answer's bound", may_be_unbounded=True)]
    vacuous: Annotated[
        bool | None, Served("whether the bound at its certified noise is no better than the baseline")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Bounds on the excess risk of the run: their objective, and a bound for the start for comparison."""

    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    upper: Annotated[RiskBound | None, Served("upper bound")] = None
    lower: Annotated[RiskBound | None, Served("lower bound")] = None
    declared_conditions: Annotated[
        tuple[str, ...] | None,
        Served(
            "ids of premises of the bound, beyond those of the guarantee, that only you can vouch for. "
            "GET /v1/theorems/{theorem} has the statement of each"
        ),
    ] = None
    as_prescribed: Annotated[
        PrescribedRisk | None,
        Served("our bound at the run that the theorem's corrected reading prescribes, where a run was chosen"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CommunicationBeside:
    """What other encodings of the same run would send."""

    float32_total_bits: Annotated[int, Served("the same with 32-bit coordinates and no privacy")]
    printed_bits_per_coordinate: Annotated[int | None, Served("the same with the printed noise")] = None
    printed_total_bits: Annotated[int | None, Served("the same with the printed noise")] = None
    binomial_bits_per_coordinate: Annotated[
        int | None, Served("with Binomial noise by agarwal-2018.1; absent where that proves nothing")
    ] = None
    binomial_total_bits: Annotated[
        int | None, Served("the same with Binomial noise; absent where it proves nothing")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Communication:
    """Contents and size of the messages."""

    bits_per_coordinate: float
    extra_bits_per_coordinate: Annotated[float | None, Served("bits per coordinate due to noise")] = None
    bits_per_round_per_client: int
    total_bits: Annotated[int, Served("bits of all messages; the largest possible number")]
    expected_total_bits: Annotated[float | None, Served("expected bits, if participants are drawn")] = None
    beside: Annotated[CommunicationBeside | None, Served("costs of other encodings")] = None


@dataclass(frozen=True, kw_only=True)
class FrontierRun:
    """An alternative run: no other run listed is at least as good in rounds, batch size and risk."""

    rounds: int
    batch_size: int
    risk: Annotated[Number, Served("explicit upper bound on the excess risk at noise_std", may_be_unbounded=True)]
    vacuous: Annotated[bool | None, VACUOUS] = None
    noise_std: Annotated[
        float,
        Served(
            "σ per coordinate, root mean square over clients. Unless certified, it is an estimate and must not be "
            "used for a run: calibrate at these rounds and this batch_size"
        ),
    ]
    certified: Annotated[bool, Served("whether noise_std, and with it the risk, is certified to meet the target")]
    chosen: Annotated[bool, Served("whether this choice is the run of the answer")]
    bits_per_client: Annotated[int, Served("bits that a client sends if it reports in every round")]
    total_bits: Annotated[int, Served("largest number of bits that all clients together send")]


@dataclass(frozen=True, kw_only=True)
class DerivationStep:
    """A theorem used, its inputs, and the places in this list of the steps it rests on."""

    theorem: str
    inputs: Annotated[
        JsonObject | None, Served("inputs of an account's step; a calibration's follow from its parameters")
    ] = None
    premises: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DeclaredCondition:
    """A premise that only the caller can vouch for."""

    id: str
    statement: str


@dataclass(frozen=True, kw_only=True)
class Calibration(ShownInNotebooks, PartlyServed, Generic[Parameters]):
    """The whole answer. `parameters` is what to run with."""

    algorithm: str
    parameters: Parameters
    guarantee: GuaranteeAnswer
    numerical: NumericalAnswer
    as_printed: tuple[PrintedEntry, ...]
    risk: Annotated[Risk | None, Served("excess risk to expect")] = None
    communication: Annotated[Communication | None, Served("content of the message")] = None
    frontier: Annotated[
        tuple[FrontierRun, ...] | None,
        Served("choices of risk, rounds and traffic, if rounds or batch_size were open; fewest rounds first"),
    ] = None
    considered: Annotated[tuple[ConsideredBound, ...] | None, Served("bounds set side by side")] = None
    derivation: tuple[DerivationStep, ...]
    declared_conditions: tuple[DeclaredCondition, ...]
    warnings: tuple[Caution, ...]
    engine_version: str
    problem: Any = field(default=None, compare=False, repr=False, metadata=UNSERVED)
    """The request; None for an answer that no calibrator made. It is not served, nor are the fields below."""
    certified: tuple[object, ...] = field(default=(), compare=False, repr=False, metadata=UNSERVED)
    """Request, parameters and guarantee as they were computed, by which an edited copy of the answer is noticed."""
    readings: tuple[PrintedReading, ...] = field(default=(), compare=False, repr=False, metadata=UNSERVED)
    """Every printed reading with all its conditions and its evaluations; `as_printed` groups them."""
    all_steps: tuple[DerivationStep, ...] = field(default=(), compare=False, repr=False, metadata=UNSERVED)
    """The derivation with the inputs of every theorem."""
    all_declared: tuple[DeclaredCondition, ...] = field(default=(), compare=False, repr=False, metadata=UNSERVED)
    """Premises of the guarantee and of the risk bound that only the caller can vouch for."""


def derivation_of(*derivations: Step) -> tuple[DerivationStep, ...]:
    """Return derivation trees as one list, with premises before conclusions and equal steps once."""
    if len(derivations) == 1 and (chain := _chain(derivations[0])) is not None:
        return chain
    listed = _ListedSteps()
    for derivation in derivations:
        listed.add(derivation)
    return tuple(listed.steps)


class _ListedSteps:
    """The steps of derivation trees as a list, with premises before conclusions and equal steps once."""

    def __init__(self) -> None:
        self.steps: list[DerivationStep] = []
        self._index_of_content: dict[str, int] = {}
        self._index_of_node: dict[int, int] = {}

    def add(self, node: Step) -> int:
        """Append a step after its premises, unless an equal step is in the list.

        Returns:
            The index of the step, or of the equal one, in the list.
        """
        if id(node) in self._index_of_node:
            return self._index_of_node[id(node)]
        premises = tuple([self.add(premise) for premise in node.premises])
        content = repr((node.theorem, sorted(node.inputs.items()), premises))
        if content not in self._index_of_content:
            self._index_of_content[content] = len(self.steps)
            self.steps.append(DerivationStep(theorem=node.theorem, inputs=dict(node.inputs), premises=premises))
        self._index_of_node[id(node)] = self._index_of_content[content]
        return self._index_of_node[id(node)]


def without_inputs(steps: Sequence[DerivationStep]) -> tuple[DerivationStep, ...]:
    """Return the derivation without the inputs of its steps; steps that then are equal are merged.

    The theorems, and the premises of each theorem, stay the same. Only their indices in the list change.
    """
    new_index_of: dict[tuple[str, tuple[int, ...]], int] = {}
    new_indices: list[int] = []  # new index of each step, by its old index
    for step in steps:
        premises = tuple(dict.fromkeys(new_indices[premise] for premise in step.premises))
        new_indices.append(new_index_of.setdefault((step.theorem, premises), len(new_index_of)))
    return tuple(DerivationStep(theorem=theorem, premises=premises) for theorem, premises in new_index_of)


def _chain(node: Step) -> tuple[DerivationStep, ...] | None:
    """Return the list of steps of a derivation in which each step has at most one premise; None otherwise."""
    nodes = [node]
    while nodes[-1].premises:
        if len(nodes[-1].premises) > 1:
            return None
        nodes.append(nodes[-1].premises[0])
    return tuple(
        [
            DerivationStep(theorem=step.theorem, inputs=dict(step.inputs), premises=(index - 1,) if index else ())
            for index, step in enumerate(reversed(nodes))
        ]
    )
