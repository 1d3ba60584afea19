"""The one envelope every calibration answers in, and its JSON form.

Parts an algorithm does not have are None here and absent in JSON. An infinite value is the string "unbounded". A δ is
always accompanied by log10_delta, so that one below every double survives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

from accountants.curve import Curve, Interval
from accountants.guarantee import Tightness
from accountants.quantities import Observer, Relation, Sampling, Unit
from accountants.theorem import Status, Step, Verdict

UNBOUNDED = "unbounded"
LARGEST_EXACT = 2**53
LOG_10 = math.log(10.0)


@dataclass(frozen=True)
class Served:
    """The JSON schema of an answered value: its description, and whether it may be the string "unbounded"."""

    description: str
    may_be_unbounded: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """The plain schema of the type; an absent part is never null."""
        schema = dict(handler(source))
        return dict(schema["schema"]) if schema["type"] == "nullable" else schema

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Adds the description and the unbounded alternative."""
        plain = handler(schema)
        if self.may_be_unbounded:
            plain = {"anyOf": [plain, {"enum": [UNBOUNDED, f"-{UNBOUNDED}"], "type": "string"}]}
        return {**plain, "description": self.description}


Number = Annotated[float, Served("a number, or unbounded", may_be_unbounded=True)]


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
    def delta(cls, log_delta: Interval) -> Ends:
        """δ from log δ, rounded outward; below the doubles the ends are 0 and the least positive double."""
        low, high = (math.exp(end) for end in log_delta)
        most = 0.0 if log_delta.upper == -math.inf else min(math.nextafter(high, 1.0), 1.0)
        return cls(math.nextafter(low, 0.0), most)

    @classmethod
    def log10(cls, log_delta: Interval) -> Ends:
        """log10 δ from log δ, rounded outward. −inf is answered as the unbounded string's negative: absent mass."""
        low, high = (end / LOG_10 for end in log_delta)
        most = high if high == -math.inf else min(math.nextafter(high, 0.0), 0.0)
        return cls(math.nextafter(low, -math.inf), most)


@dataclass(frozen=True, kw_only=True)
class TargetAnswer:
    """What was asked for."""

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float


@dataclass(frozen=True, kw_only=True)
class GuaranteeAnswer:
    """What is guaranteed: for whom, against whom, and the enclosures of ε at the target δ and of δ at the target ε."""

    definition: Annotated[
        Literal["local", "shuffle", "central", "joint"], Served("the trust model the guarantee speaks of")
    ]
    unit: Unit
    relation: Relation
    observer: Observer
    sampling: Sampling
    sensitivity: Annotated[float, Served("most that one neighbour moves the noisy quantity in ℓ2 norm, in its units")]
    target: TargetAnswer
    epsilon: Annotated[Ends, Served("what is known of ε at the target δ")]
    delta: Annotated[Ends, Served("what is known of δ at the target ε")]
    log10_delta: Annotated[Ends, Served("what is known of log10 δ at the target ε")]
    tight: Annotated[Tightness, Served("where the lower ends come from")]
    minimal: Annotated[
        Literal["proved", "searched"], Served("proved: a slightly smaller parameter fails the same bound")
    ]
    curve: ClassVar[Curve | None] = None
    """What the ends were read from, for whoever draws it: an instance's own, and no part of the JSON form."""

    def read_from(self, curve: Curve | None) -> GuaranteeAnswer:
        """The same answer, which remembers its curve."""
        object.__setattr__(self, "curve", curve)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but the curve, which holds functions: an answer goes to other processes as what was answered."""
        return {name: value for name, value in vars(self).items() if name != "curve"}


@dataclass(frozen=True, kw_only=True)
class NumericalAnswer:
    """How exactly the bound itself was computed; not what is known of the mechanism."""

    relative_width: Annotated[float, Served("width of the bound's own δ enclosure, relative to its upper end")]


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What the printed statement promises at its parameters."""

    epsilon: float
    delta: Annotated[float | None, Served("absent where it is below every double")] = None
    log10_delta: float
    excess_risk: Annotated[float | None, Served("excess-risk bound the statement claims")] = None


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
    """One side of the excess risk. A `hidden` constant makes the value a rate, never a bound."""

    value: Number
    constant: Literal["explicit", "hidden"]
    theorem: str
    terms: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class PrescribedRisk:
    """Our bound on the excess risk of the run that the printed theorem prescribes at the answer's batch size."""

    theorem: str
    batch_size: int
    rounds: int
    step_size: float
    envelope_smoothness: Annotated[float | None, Served("of the envelope it runs on")] = None
    within_budget: Annotated[bool, Served("whether the request's budgets pay for its rounds")]
    certified_noise: Annotated[float, Served("bound at its certified noise", may_be_unbounded=True)]
    printed_noise: Annotated[float, Served("bound at the printed noise", may_be_unbounded=True)]
    ratio: Annotated[float, Served("bound at its certified noise over the answer's bound", may_be_unbounded=True)]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Excess risk to expect."""

    upper: Annotated[RiskBound | None, Served("upper bound")] = None
    lower: Annotated[RiskBound | None, Served("lower bound")] = None
    as_prescribed: Annotated[PrescribedRisk | None, Served("the printed prescription, where a run was chosen")] = None


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
class Warning_:
    """Something the caller should know before relying on the answer."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The whole answer. `parameters` is what to run with."""

    algorithm: str
    parameters: Any
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
    warnings: tuple[Warning_, ...]
    engine_version: str


def derivation_of(*derivations: Step) -> tuple[DerivationStep, ...]:
    """Derivation trees as one list, premises before conclusions, equal steps once."""
    listed: dict[str, int] = {}
    steps: list[DerivationStep] = []

    def place(node: Step) -> int:
        premises = tuple(place(premise) for premise in node.premises)
        key = repr((node.theorem, sorted(node.inputs.items()), premises))
        if key not in listed:
            listed[key] = len(steps)
            steps.append(DerivationStep(theorem=node.theorem, inputs=dict(node.inputs), premises=premises))
        return listed[key]

    for derivation in derivations:
        place(derivation)
    return tuple(steps)


def as_json(value: Any) -> Any:
    """The JSON form of an answer: absent parts dropped, infinities spelled out, huge integers with an exact sibling.

    Raises:
        ValueError: on a NaN, which no answer may hold.
    """
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("an answer held a NaN")
        return value if math.isfinite(value) else UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return _members((name, item) for name, item in named if item is not None)
    if isinstance(value, Mapping):
        return _members(value.items())
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    return value


def _members(items: Any) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, item in items:
        inexact = isinstance(item, int) and not isinstance(item, bool) and abs(item) >= LARGEST_EXACT
        if inexact:
            members[f"{name}_exact"] = str(item)
        members[name] = _rounded_up(item) if inexact else as_json(item)
    return members


def _rounded_up(count: int) -> float:
    """The least double at or above an integer: counts that cost or protect less are never understated."""
    rounded = float(count)
    return rounded if int(rounded) >= count else math.nextafter(rounded, math.inf)
