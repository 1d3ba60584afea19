"""The common form of the answers of all calibrators, and its JSON form.

Parts that an algorithm does not have are None here and absent in JSON. An infinite value is the string "unbounded". A δ
is always accompanied by log10_delta, so that a δ below every double is represented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal

from typing_extensions import TypeVar

from epsilond.accountants.guarantee import PrivacyCurve, Tightness
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, Sampling
from epsilond.accountants.statements.statement import Statement
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
from epsilond.calibrators.serving.risk import PrescribedRisk, Risk, RiskBound
from epsilond.calibrators.serving.traffic import Communication, CommunicationBeside, FrontierRun
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
    delta: Annotated[float | None, Served("target δ; absent if it is too small for a double")] = None
    log10_delta: float
    advantage: Annotated[
        float | None,
        Served("requested bound on the advantage of an attacker; absent unless the target is an advantage"),
    ] = None
    true_positive_rate: Annotated[
        float | None,
        Served(
            "requested bound on the true positive rate of an attacker; absent unless the target is a true positive rate"
        ),
    ] = None
    false_positive_rate: Annotated[
        float | None,
        Served(
            "false positive rate at which the target bounds the true positive rate; absent unless the "
            "target is a true positive rate"
        ),
    ] = None
    gaussian_dp_mu: Annotated[
        float | None, Served("requested parameter μ of Gaussian differential privacy; absent unless the target is μ")
    ] = None
    rho: Annotated[
        float | None,
        Served("requested parameter ρ of zero-concentrated differential privacy; absent unless the target is ρ"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReadFromCurve(ShownInNotebooks, PartlyServed):
    """An answer with the curve that its bounds were read from."""

    curve: PrivacyCurve | None = field(default=None, compare=False, repr=False, metadata=UNSERVED)
    """The privacy curve, for other ε or δ; None if no single curve gives the answer, or if the answer was unpickled."""

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without the curve, which holds functions that cannot be pickled."""
        return {**vars(self), "curve": None}


@dataclass(frozen=True, kw_only=True)
class GuaranteeAnswer(ReadFromCurve):
    """The guarantee: protected unit, adversary, and enclosures of ε at the target δ and of δ at the target ε."""

    definition: Annotated[
        Literal["local", "shuffle", "central", "joint"],
        Served(
            "trust model of the guarantee. local: no other party is trusted. shuffle: a shuffler is "
            "trusted. central: the server is trusted, and others see models only. joint: the server is "
            "trusted, and a client's own model stays with the client"
        ),
    ]
    in_words: Annotated[
        str,
        Served(
            "the guarantee in plain sentences: protected unit, adversary, trusted parties, and batches "
            "that must stay secret"
        ),
    ]
    statements: Annotated[tuple[Statement, ...], Served("the sentences of in_words, each with a word for its subject")]
    unit: ProtectedUnit
    relation: Relation
    observer: Observer
    sampling: Sampling
    sensitivity: Annotated[
        float | None,
        Served(
            "ℓ2 sensitivity of the quantity to which the noise is added, in the units of that quantity. "
            "Absent if client groups differ in it; parameters.groups then has the sensitivity of each "
            "group"
        ),
    ] = None
    target: TargetAnswer
    epsilon: Annotated[Ends, Served("lower and upper bound on ε at the target δ")]
    delta: Annotated[Ends, Served("lower and upper bound on δ at the target ε")]
    log10_delta: Annotated[Ends, Served("lower and upper bound on the base-10 logarithm of δ at the target ε")]
    tight: Annotated[
        Tightness,
        Served(
            "evidence for the lower bounds. proved: the upper bounds are attained. witnessed: two "
            "neighbouring data sets attain the lower bounds. unknown: no such data sets are known"
        ),
    ]
    minimal: Annotated[
        Literal["proved", "searched"],
        Served(
            "proved: with a slightly smaller parameter, the same theorem provably misses the target. "
            "searched: the search found no smaller parameter, and there is no proof"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class NumericalAnswer:
    """Numerical error of the computed bound. It does not say how close the bound is to the truth."""

    relative_width: Annotated[
        float, Served("width of the numerical enclosure of the theorem's δ, divided by its upper bound")
    ]


@dataclass(frozen=True, kw_only=True)
class ConsideredBound:
    """A theorem on δ at the answer's parameters, with its bound if it applies. The least for the observer is used."""

    theorem: str
    observer: Observer
    applies: Verdict
    reason: Annotated[str | None, Served("why the theorem does not apply to this run; absent if it applies")] = None
    log10_delta: Annotated[
        Number | None,
        Served(
            "upper bound on the base-10 logarithm of δ at the target ε; absent if the theorem does not apply",
            may_be_unbounded=True,
        ),
    ] = None
    delta: Annotated[
        float | None,
        Served(
            "upper bound on δ at the target ε; absent if it is too small for a double, or if the bound does not apply"
        ),
    ] = None
    least: Annotated[bool, Served("whether this bound is the smallest one for the observer of the guarantee")] = False


@dataclass(frozen=True, kw_only=True)
class DerivationStep:
    """A step of the proof: a theorem, its inputs, and the indices in this list of the steps that it uses."""

    theorem: str
    inputs: Annotated[
        JsonObject | None,
        Served("inputs of the theorem. Absent in a calibration, where they follow from the parameters"),
    ] = None
    premises: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DeclaredCondition:
    """A premise that only the caller can vouch for."""

    id: str
    statement: str


@dataclass(frozen=True, kw_only=True)
class Calibration(ShownInNotebooks, PartlyServed, Generic[Parameters]):
    """The answer to a calibration: the parameters to run with, their certified guarantee, and its proof."""

    algorithm: str
    parameters: Parameters
    guarantee: GuaranteeAnswer
    numerical: NumericalAnswer
    as_printed: tuple[PrintedEntry, ...]
    risk: Annotated[Risk | None, Served("bounds on the excess risk of the run; absent if no theorem gives one")] = None
    communication: Annotated[Communication | None, Served("content and size of the messages")] = None
    frontier: Annotated[
        tuple[FrontierRun, ...] | None,
        Served(
            "alternative runs with their risk and traffic, fewest rounds first. Absent unless rounds or "
            "batch_size was chosen"
        ),
    ] = None
    considered: Annotated[
        tuple[ConsideredBound, ...] | None, Served("theorems that bound δ at these parameters, for comparison")
    ] = None
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
    """Return proofs as one list of steps, in which each step follows the steps that give the results it uses.

    A proof is a tree: its last step, with the steps before it ("premises"). Equal steps are listed once.

    Args:
        derivations: the last step of each proof, with its premises.

    Returns:
        The steps, each with the indices of its premises in the list.
    """
    if len(derivations) == 1:
        chain = _chain(derivations[0])
        if chain is not None:
            return chain
    listed = _ListedSteps()
    for derivation in derivations:
        listed.add(derivation)
    return tuple(listed.steps)


class _ListedSteps:
    """A list of the steps of proofs, in which each step follows the steps that give the results it uses.

    A step is one use of a theorem, with its inputs. The steps that give the results it uses are its premises. The list
    has their indices in place of the steps themselves. Equal steps are listed once.

    Attributes:
        steps: the steps so far, in the order of the list.
    """

    def __init__(self) -> None:
        """Start with an empty list."""
        self.steps: list[DerivationStep] = []
        # Indices of the steps, by their content and by the identity of the step objects.
        self._index_of_content: dict[str, int] = {}
        self._index_of_node: dict[int, int] = {}

    def add(self, node: Step) -> int:
        """Append a step of a proof after its premises, unless an equal step is in the list.

        Premises are the earlier steps on which the step depends; they are appended recursively.

        Args:
            node: the step with its premises, a node of the proof tree ("derivation").

        Returns:
            The index of the step, or of the equal one, in the list.
        """
        # The same node may be a premise of several steps: do not walk its subtree again.
        if id(node) in self._index_of_node:
            return self._index_of_node[id(node)]
        premises = tuple([self.add(premise) for premise in node.premises])

        # Steps are equal if they apply the same theorem to the same inputs and premises.
        content = repr((node.theorem, sorted(node.inputs.items()), premises))
        if content not in self._index_of_content:
            self._index_of_content[content] = len(self.steps)
            self.steps.append(DerivationStep(theorem=node.theorem, inputs=dict(node.inputs), premises=premises))
        index = self._index_of_content[content]
        self._index_of_node[id(node)] = index
        return index


def without_inputs(steps: Sequence[DerivationStep]) -> tuple[DerivationStep, ...]:
    """Return the steps of a proof without their inputs; steps that become equal are merged.

    The theorems stay the same, and so do the premises of each step: the steps with the results that it uses. Only the
    indices of steps in the list change.

    Args:
        steps: the steps of the proof, premises first. Each names its premises by their indices.

    Returns:
        The merged steps, with premises before conclusions.
    """
    new_index_of: dict[tuple[str, tuple[int, ...]], int] = {}
    new_indices: list[int] = []  # new index of each step, by its old index
    for step in steps:
        premises = tuple(dict.fromkeys(new_indices[premise] for premise in step.premises))
        # A step that is equal to an earlier one gets the index of that step.
        next_index = len(new_index_of)
        new_indices.append(new_index_of.setdefault((step.theorem, premises), next_index))
    return tuple(DerivationStep(theorem=theorem, premises=premises) for theorem, premises in new_index_of)


def _chain(node: Step) -> tuple[DerivationStep, ...] | None:
    """List the steps of a proof, in order, if each step uses the result of at most one other step.

    The premise of a step is the step with the result that it uses. Without recursion, such a chain may be of any
    length.

    Args:
        node: the last step, the conclusion of the proof.

    Returns:
        The steps, each with the index of its premise; None if some step has several premises.
    """
    # Collect the steps from the conclusion to the first premise.
    nodes = [node]
    while nodes[-1].premises:
        if len(nodes[-1].premises) > 1:
            return None
        nodes.append(nodes[-1].premises[0])

    # List them in the opposite order. Each step uses the one before it.
    steps = []
    for index, step in enumerate(reversed(nodes)):
        premises = (index - 1,) if index else ()
        steps.append(DerivationStep(theorem=step.theorem, inputs=dict(step.inputs), premises=premises))
    return tuple(steps)
