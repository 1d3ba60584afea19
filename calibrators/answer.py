"""The one envelope every calibration answers in, and its JSON form.

Parts an algorithm does not have are None here and absent in JSON. An infinite value is the string "unbounded". A δ is
always accompanied by log10_delta, so that one below every double survives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, Literal, Self

from typing_extensions import TypeVar

from epsilond.accountants.curve import Curve, Interval
from epsilond.accountants.guarantee import PrivacyCurve, Tightness, delta_ends, log10_ends
from epsilond.accountants.quantities import Observer, Quantity, Relation, Sampling, Unit
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.accountants.theorem import Status, Step, Verdict
from epsilond.calibrators.notebooks import ShownInNotebooks

UNBOUNDED = "unbounded"
LARGEST_EXACT = 2**53
Parameters = TypeVar("Parameters", default=Any)
"""What to run an algorithm with: a class of its own for each."""


@dataclass(frozen=True)
class Served:
    """The JSON schema of an answered value: its description, and whether it may be the string "unbounded".

    `of_unit` is the description where it is known whose data is protected, with {unit} for "record" or "client".
    """

    @classmethod
    def like(cls, quantity: Quantity) -> Served:
        """Described as the quantity that may be asked."""
        return cls(quantity.description, of_unit=quantity.of_unit)

    description: str
    may_be_unbounded: bool = False
    of_unit: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """The plain schema of the type; an absent part is never null."""
        schema = dict(handler(source))
        return dict(schema["schema"]) if schema["type"] == "nullable" else schema

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Adds the description and the unbounded alternative."""
        plain = handler(schema)
        if self.may_be_unbounded:
            plain = {"anyOf": [plain, {"enum": [UNBOUNDED, f"-{UNBOUNDED}"], "type": "string"}]}
        told = {"description": self.description, "x-of-unit": self.of_unit}
        return {**plain, **{name: text for name, text in told.items() if text}}


Number = Annotated[float, Served("a number, or unbounded", may_be_unbounded=True)]
Objective = Literal["population", "empirical", "personalized"]
"""What a risk is of: the expected loss of one model, its mean loss on the data at hand, or that of personal models."""
OBJECTIVE = Served(
    "what the risk is of: the expected loss (population), the mean loss on the data at hand (empirical), or the "
    "expected loss of every client's own model (personalized); risks of different ones cannot be compared"
)


@dataclass(frozen=True)
class Ends:
    """A two-sided enclosure: lower ≤ truth ≤ upper."""

    lower: Number
    upper: Number

    @classmethod
    def of(cls, interval: Interval) -> Ends:
        """From the mathematics' own interval."""
        return cls(interval.lower, interval.upper)

    @classmethod
    def delta(cls, natural_log_delta: Interval) -> Ends:
        """δ from log δ, rounded outward; below the doubles the ends are 0 and the least positive double."""
        return cls.of(delta_ends(natural_log_delta))

    @classmethod
    def log10(cls, natural_log_delta: Interval) -> Ends:
        """log10 δ from log δ, rounded outward. −inf is answered as the unbounded string's negative: absent mass."""
        return cls.of(log10_ends(natural_log_delta))


@dataclass(frozen=True, kw_only=True)
class TargetAnswer:
    """What was asked for."""

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float


class ReadFromCurve(ShownInNotebooks):
    """An answer that remembers the curve its ends were read from: no part of its JSON form."""

    curve: ClassVar[PrivacyCurve | None] = None
    """For whoever asks at another ε or δ, or draws it: an instance's own."""

    def read_from(self, curve: Curve | PrivacyCurve | None) -> Self:
        """The same answer, which remembers its curve."""
        object.__setattr__(self, "curve", PrivacyCurve(curve) if isinstance(curve, Curve) else curve)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but the curve, which holds functions: an answer goes to other processes as what was answered."""
        return {name: value for name, value in vars(self).items() if name != "curve"}


@dataclass(frozen=True, kw_only=True)
class GuaranteeAnswer(ReadFromCurve):
    """What is guaranteed: for whom, against whom, and the enclosures of ε at the target δ and of δ at the target ε."""

    definition: Annotated[
        Literal["local", "shuffle", "central", "joint"], Served("the trust model the guarantee speaks of")
    ]
    in_words: Annotated[str, Served("what is protected, against whom, who is trusted and what the draws hide")]
    unit: Unit
    relation: Relation
    observer: Observer
    sampling: Sampling
    sensitivity: Annotated[
        float | None,
        Served(
            "most that one neighbour moves the noisy quantity in ℓ2 norm, in its units; absent where client groups "
            "differ in it, and each has its own in parameters.groups"
        ),
    ] = None
    target: TargetAnswer
    epsilon: Annotated[Ends, Served("what is known of ε at the target δ")]
    delta: Annotated[Ends, Served("what is known of δ at the target ε")]
    log10_delta: Annotated[Ends, Served("what is known of log10 δ at the target ε")]
    tight: Annotated[Tightness, Served("where the lower ends come from")]
    minimal: Annotated[
        Literal["proved", "searched"], Served("proved: a slightly smaller parameter fails the same bound")
    ]


@dataclass(frozen=True, kw_only=True)
class NumericalAnswer:
    """How exactly the bound itself was computed; not what is known of the mechanism."""

    relative_width: Annotated[float, Served("width of the bound's own δ enclosure, relative to its upper end")]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What doing nothing gives: a bound that holds for the start itself, before any training."""

    value: Number
    theorem: Annotated[str, Served("the theorem that gives it")]
    formula: Annotated[str, Served("what it is, in symbols")]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Baseline:
        """From its JSON form."""
        return cls(**{**told, "value": number_of(told["value"])})

    def __str__(self) -> str:
        return f"{self.formula} = {self.value:.6g}"

    def covers(self, bound: float) -> bool:
        """Whether a bound is no better, so that it says nothing."""
        return bound >= self.value


BASELINE = Served("what doing nothing gives: a bound on the same risk of the start itself")
VACUOUS = Served("whether the bound is no better than the baseline, and so says nothing")


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What the printed statement promises at its parameters. The last three stand where it claims a risk."""

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    excess_risk: Annotated[float | None, Served("excess-risk bound the statement claims")] = None
    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    vacuous: Annotated[bool | None, VACUOUS] = None


@dataclass(frozen=True, kw_only=True)
class TrueFigures:
    """What is really guaranteed at the printed parameters."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    log10_one_minus_delta: Annotated[float | None, Served("log10(1 − δ), where δ is near 1")] = None


@dataclass(frozen=True, kw_only=True)
class ConditionAnswer:
    """A condition of a printed statement, at these inputs, with both sides."""

    id: str
    statement: str
    holds: Verdict
    left: Annotated[Number | None, Served("left side", may_be_unbounded=True)] = None
    right: Annotated[Number | None, Served("right side", may_be_unbounded=True)] = None


@dataclass(frozen=True, kw_only=True)
class EvaluationAsked:
    """What to ask of `POST /v1/theorems/{theorem}/evaluations` for the same figures."""

    theorem: str
    reading: Annotated[TheoremReading, Served("which reading of the theorem's formula")]
    inputs: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PrintedReading:
    """One reading of the printed statement: its parameters, its claims, and the truth there."""

    theorem: str
    reading: Literal[
        "informal",
        "complete",
        "statement",
        "proof",
        "corrected",
        "experimental",
        "lipschitz",
        "smooth",
        "strongly-convex",
    ]
    status: Status
    parameters: Mapping[str, float]
    claims: Claims
    true: Annotated[TrueFigures | None, Served("absent where the statement prescribes nothing that can be run")] = None
    conditions: tuple[ConditionAnswer, ...]
    reason: Annotated[str | None, Served("why the status is not proved, where it depends on the request")] = None
    evaluations: Annotated[
        tuple[EvaluationAsked, ...],
        Served("the registered evaluations that the parameters and the claimed risk are of"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ConsideredBound:
    """A bound that was tried at the answer's parameters; the least of those for the answer's observer is returned."""

    theorem: str
    observer: Observer
    applies: bool
    reason: Annotated[str | None, Served("why it does not apply")] = None
    log10_delta: Annotated[Number | None, Served("its upper end at the target ε", may_be_unbounded=True)] = None
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    least: Annotated[bool, Served("whether no other bound for this observer is smaller")] = False


@dataclass(frozen=True, kw_only=True)
class RiskBound:
    """One side of the excess risk. A `hidden` constant makes the value a rate, never a bound, and never vacuous."""

    value: Number
    constant: Literal["explicit", "hidden"]
    theorem: str
    terms: Mapping[str, float]
    vacuous: Annotated[
        bool | None, Served("of an upper bound with explicit constants: whether it is no better than the baseline")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PrescribedRisk:
    """Our bound on the risk of the run that the theorem's corrected reading prescribes at the answer's batch size."""

    theorem: str
    reading: Annotated[TheoremReading, Served("of the theorem; as_printed has the printed one")]
    batch_size: int
    rounds: int
    step_size: float
    envelope_smoothness: Annotated[float | None, Served("of the envelope it runs on")] = None
    within_budget: Annotated[bool, Served("whether the request's budgets pay for its rounds")]
    certified_noise: Annotated[float, Served("bound at its certified noise", may_be_unbounded=True)]
    printed_noise: Annotated[float, Served("bound at the noise that the reading prescribes", may_be_unbounded=True)]
    ratio: Annotated[float, Served("bound at its certified noise over the answer's bound", may_be_unbounded=True)]
    vacuous: Annotated[
        bool | None, Served("whether the bound at its certified noise is no better than the baseline")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Excess risk to expect: of which objective, and beside what doing nothing gives."""

    objective: Annotated[Objective | None, OBJECTIVE] = None
    baseline: Annotated[Baseline | None, BASELINE] = None
    upper: Annotated[RiskBound | None, Served("upper bound")] = None
    lower: Annotated[RiskBound | None, Served("lower bound")] = None
    as_prescribed: Annotated[
        PrescribedRisk | None,
        Served("our bound at the run that the theorem's corrected reading prescribes, where a run was chosen"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CommunicationBeside:
    """What other encodings of the same run would send."""

    float32_total_bits: Annotated[int, Served("with 32-bit floating-point coordinates, without any privacy")]
    printed_bits_per_coordinate: Annotated[int | None, Served("with the printed noise")] = None
    printed_total_bits: Annotated[int | None, Served("with the printed noise")] = None
    binomial_bits_per_coordinate: Annotated[
        int | None, Served("with Binomial noise by agarwal-2018.1; absent where that proves nothing")
    ] = None
    binomial_total_bits: Annotated[int | None, Served("with Binomial noise; absent where it proves nothing")] = None


@dataclass(frozen=True, kw_only=True)
class Communication:
    """What is sent."""

    bits_per_coordinate: float
    extra_bits_per_coordinate: Annotated[float | None, Served("beyond what the noiseless update needs")] = None
    bits_per_round_per_client: int
    total_bits: Annotated[int, Served("at most, if the number of participants is random")]
    expected_total_bits: Annotated[float | None, Served("where the number of participants is random")] = None
    beside: Annotated[CommunicationBeside | None, Served("what other encodings would send")] = None


@dataclass(frozen=True, kw_only=True)
class FrontierRun:
    """A run beside the answer: no other run listed is at least as good in rounds, batch size and risk."""

    rounds: int
    batch_size: int
    risk: Annotated[Number, Served("explicit upper bound on the excess risk at noise_std", may_be_unbounded=True)]
    vacuous: Annotated[bool | None, VACUOUS] = None
    noise_std: Annotated[
        float,
        Served(
            "σ per coordinate, root mean square over clients; an estimate unless certified, and then not to be run "
            "with: calibrate at these rounds and this batch_size"
        ),
    ]
    certified: Annotated[bool, Served("whether noise_std, and with it the risk, is certified to meet the target")]
    chosen: Annotated[bool, Served("whether it is the run that is answered")]
    bits_per_client: Annotated[int, Served("of a client that reports in every round")]
    total_bits: Annotated[int, Served("of all clients, at most")]


@dataclass(frozen=True, kw_only=True)
class DerivationStep:
    """A theorem used, its inputs, and the places in this list of the steps it rests on."""

    theorem: str
    inputs: Mapping[str, Any]
    premises: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DeclaredCondition:
    """A premise that only the caller can vouch for."""

    id: str
    statement: str


@dataclass(frozen=True, kw_only=True)
class Caution:
    """Something the caller should know before relying on the answer."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Calibration(ShownInNotebooks, Generic[Parameters]):
    """The whole answer. `parameters` is what to run with."""

    problem: ClassVar[Any] = None
    """The request that was answered: no part of the JSON form, absent where an answer was put together otherwise."""

    algorithm: str
    parameters: Parameters
    guarantee: GuaranteeAnswer
    numerical: NumericalAnswer
    as_printed: tuple[PrintedReading, ...]
    risk: Annotated[Risk | None, Served("excess risk to expect")] = None
    communication: Annotated[Communication | None, Served("what is sent")] = None
    frontier: Annotated[
        tuple[FrontierRun, ...] | None,
        Served("where rounds or batch_size were open: risk against rounds and traffic, fewest rounds first"),
    ] = None
    considered: Annotated[tuple[ConsideredBound, ...] | None, Served("bounds set side by side")] = None
    derivation: tuple[DerivationStep, ...]
    declared_conditions: tuple[DeclaredCondition, ...]
    warnings: tuple[Caution, ...]
    engine_version: str


def number_of(told: float | str) -> float:
    """A number from its JSON form."""
    return float(told) if isinstance(told, int | float) else -math.inf if told.startswith("-") else math.inf


def derivation_of(*derivations: Step) -> tuple[DerivationStep, ...]:
    """Derivation trees as one list, premises before conclusions, equal steps once."""
    listed: dict[str, int] = {}
    met: dict[int, int] = {}
    steps: list[DerivationStep] = []

    def place(node: Step) -> int:
        if id(node) in met:
            return met[id(node)]
        premises = tuple([place(premise) for premise in node.premises])
        key = repr((node.theorem, sorted(node.inputs.items()), premises))
        if key not in listed:
            listed[key] = len(steps)
            steps.append(DerivationStep(theorem=node.theorem, inputs=dict(node.inputs), premises=premises))
        return met.setdefault(id(node), listed[key])

    if len(derivations) == 1 and (chain := _chain(derivations[0])) is not None:
        return chain
    for derivation in derivations:
        place(derivation)
    return tuple(steps)


def _chain(node: Step) -> tuple[DerivationStep, ...] | None:
    """Of steps that rest on one other each, of which no two are equal; None of any others."""
    nodes = [node]
    while nodes[-1].premises:
        if len(nodes[-1].premises) > 1:
            return None
        nodes.append(nodes[-1].premises[0])
    return tuple(
        [
            DerivationStep(theorem=one.theorem, inputs=dict(one.inputs), premises=(place - 1,) if place else ())
            for place, one in enumerate(reversed(nodes))
        ]
    )


def as_json(value: Any) -> Any:
    """The JSON form of an answer: absent parts dropped, infinities spelled out, huge integers with an exact sibling.

    Raises:
        ValueError: on a NaN, which no answer may hold.
    """
    kind: Any = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("an answer held a NaN")
        return value if math.isfinite(value) else UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        named = [(name, getattr(value, name)) for name in field_names(kind)]
        return _members([(name, item) for name, item in named if item is not None])
    if isinstance(value, Mapping):
        return _members(value.items())
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    return value


@cache
def field_names(kind: Hashable) -> tuple[str, ...]:
    """The fields of a dataclass, in their order."""
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]


def _members(items: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, item in items:
        kind = type(item)
        if kind is str or kind is bool or ((kind is float or kind is int) and -LARGEST_EXACT < item < LARGEST_EXACT):
            members[name] = item
            continue
        inexact = kind is not bool and isinstance(item, int) and abs(item) >= LARGEST_EXACT
        if inexact:
            members[f"{name}_exact"] = str(item)
        members[name] = _rounded_up(item) if inexact else as_json(item)
    return members


def _rounded_up(count: int) -> float:
    """The least double at or above an integer: counts that cost or protect less are never understated."""
    rounded = float(count)
    return rounded if int(rounded) >= count else math.nextafter(rounded, math.inf)
