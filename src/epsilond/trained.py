"""Result of a training run, with the conditions of its guarantee that the run carried out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.quantities import base_unit
from epsilond.calibrators.answer import Caution, DeclaredCondition
from epsilond.runs.premises import OUTSIDE_CLIENTS, OUTSIDE_RECORDS
from epsilond.runs.report import describe_statement
from epsilond.runs.statement import RunStatement
from epsilond.runs.status import RunStatus
from epsilond.runs.training import GIVEN_RANDOMNESS, OF_DEPLOYMENT, OF_TABLES, ROWS_OF_FUNCTIONS, UNPROTECTED_LOG
from epsilond.training.loops.session import Round
from epsilond.witness.reports.make import make, request_json
from epsilond.witness.reports.questions import question

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration, GuaranteeAnswer
    from epsilond.ledgers.log.receipts import Receipt
    from epsilond.training.arrays import Floats

CARRIED_OUT: Final = frozenset(
    {
        "averaged-output",
        "bounded-coordinates",
        "bounded-messages",
        "client-clips",
        "clipped-messages",
        "clipped-updates",
        "closed-convex-domain",
        "disjoint-batches",
        "domain",
        "fixed-denominator",
        "fresh-batches",
        "fresh-noise",
        "fresh-randomness",
        "fresh-sampling",
        "fresh-selection",
        "fresh-server-noise",
        "last-output",
        "one-message-per-record",
        "planned-divisor",
        "projected",
        "released-models-only",
        "shifted-bits",
        "state-is-kept",
        "uniform-clients",
        "uniform-participation",
    }
)
"""Ids of the conditions of guarantees that the training loop ensures in every run."""
BY_CLIPPING = "bounded-gradients"
"""Id of a condition that the loop ensures if it gets the gradient of every record, which it then clips."""
BY_DEALING = "fresh-records"
"""Id of a condition that the loop ensures for mu2-sgd: it uses no record twice."""
BY_DRAWING = "oblivious-participation"
"""Id of a condition that the loop ensures for mu2-sgd if it draws the participants itself."""
RISK_RESTS_ON_GRADIENTS = "clipping-changes-gradients"
"""Code of the caution about bounds on the risk under clipping."""
INSECURE_RANDOMNESS = "randomness-is-not-secure"
"""Code of the caution about random bits that the caller gave."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A trained model, its guarantee, and the log of its run.

    Attributes:
        algorithm: name of the algorithm.
        model: released model, shape (d,); the shared part in ppsgd.
        personal_models: models of ppsgd, shape (N, d); None for other algorithms. Row i is for client i only, and no
            guarantee covers its release. Row i is w + θ_i, with the shared part w and the client's own part θ_i. With
            an `own_start`, it is w followed by θ_i.
        log: one entry per round.
        guarantee: guarantee of the calibration. A run that ended early has spent less, but the guarantee stays the
            same.
        carried_out: conditions of the guarantee and of the bounds that this run ensured.
        left_to_you: conditions for which only the caller can vouch.
        cautions: warnings about the run.
        tables: True if the library computed the gradients, from features and targets.
        receipt: receipt of the ledger for the commit before the first round; None without a ledger.
        calibration: the calibration of the run.
    """

    algorithm: str
    model: Floats
    personal_models: Floats | None
    log: tuple[Round, ...]
    guarantee: GuaranteeAnswer
    carried_out: tuple[DeclaredCondition, ...]
    left_to_you: tuple[DeclaredCondition, ...]
    cautions: tuple[Caution, ...]
    tables: bool
    receipt: Receipt | None
    calibration: Calibration

    def __repr__(self) -> str:
        """Return one line with the size of the run, its guarantee, and how far the guarantee is supported."""
        guarantee = self.guarantee
        bound = f"ε ≤ {guarantee.epsilon.upper:.6g} at δ = 10^{guarantee.target.log10_delta:g}"
        return (
            f"Trained({self.algorithm}: {len(self.model)} coordinates in {self.rounds} rounds; "
            f"one {guarantee.unit} against {guarantee.observer} has {bound}, {self.status})"
        )

    @property
    def statement(self) -> RunStatement:
        """Statement of the ε of this run, with the conditions on which it rests.

        Conditions that the training loop ensured count as observed in each round. The caller must vouch for the others.
        Conditions about the deployment accompany every ε, because no run shows them.
        """
        # Of the conditions left to the caller, some are of the guarantee, and the rest of bounds on the risk. Those of
        # the deployment are listed apart from the others.
        of_guarantee = {condition.id for condition in self.calibration.declared_conditions}
        unobserved = [condition for condition in self.left_to_you if condition.id in of_guarantee]
        deployment = [condition.statement for condition in unobserved if condition.id in OF_DEPLOYMENT]
        declared = self._list_declared(unobserved)
        status = RunStatus.DECLARED if declared else RunStatus.CERTIFIED

        guarantee = self.guarantee
        outside = OUTSIDE_CLIENTS if base_unit(guarantee.unit) == "client" else OUTSIDE_RECORDS
        return RunStatement(
            status=status,
            epsilon=Interval(guarantee.epsilon.lower, guarantee.epsilon.upper),
            delta=10.0**guarantee.target.log10_delta,
            relation=guarantee.relation,
            unit=guarantee.unit,
            observer=guarantee.observer,
            steps=self.rounds,
            shown={condition.id: self.rounds for condition in self.carried_out},
            declared=tuple(declared),
            outside=tuple(deployment) + outside,
        )

    def _list_declared(self, unobserved: Iterable[DeclaredCondition]) -> list[str]:
        """Return the conditions of the run's ε that only the caller can vouch for, as sentences.

        Such conditions come from the calibration, from given randomness, from clients as functions, and from the log.

        Args:
            unobserved: conditions of the guarantee that the run did not carry out.

        Returns:
            The sentences. The list is empty if the run itself ensured every condition.
        """
        declared = [condition.statement for condition in unobserved if condition.id not in OF_DEPLOYMENT]
        if any(caution.code == INSECURE_RANDOMNESS for caution in self.cautions):
            declared.append(GIVEN_RANDOMNESS)
        if not self.tables:
            declared.append(ROWS_OF_FUNCTIONS)
        if any(entry.unprotected is not None for entry in self.log):
            declared.append(UNPROTECTED_LOG)
        return declared

    def report(self, *, date: str | None = None) -> str:
        """Return a page of HTML to sign: the calibration, and how far the ε of this run is supported.

        Args:
            date: the caller's date, YYYY-MM-DD, because no clock is read; None for a page without a date.

        Returns:
            The page as HTML, which contains its data and needs no other file.

        Raises:
            InvalidInput: the text is not a date.
            MissingExtra: the packages of the extra `reports` are not installed.
        """
        problem = self.calibration.problem
        calibration = question("calibration", self.algorithm)
        return make(calibration, problem, request_json(problem), date, run=describe_statement(self.statement))

    @property
    def status(self) -> RunStatus:
        """`certified`, or `declared` where a premise of ε rests on the caller; a contradicted run returns no model."""
        return self.statement.status

    @property
    def rounds(self) -> int:
        """Number of rounds that were run."""
        return len(self.log)

    @property
    def bits(self) -> int | None:
        """Number of bits that clients sent in all rounds, as the calibration counts them; None if it is secret."""
        total = 0
        for entry in self.log:
            if entry.bits is None:
                return None
            total += entry.bits
        return total


def conditions(
    answer: Calibration, *, means_only: bool, tables: bool
) -> tuple[tuple[DeclaredCondition, ...], tuple[DeclaredCondition, ...]]:
    """Split the conditions of a guarantee into those that the training loop ensures, and those left to the caller.

    The loop ensures `CARRIED_OUT` in every run. It ensures further ones in some runs, such as `BY_CLIPPING` if it clips
    the gradient of each record.

    Args:
        answer: the calibration.
        means_only: whether clients return the mean of their gradients instead of one gradient for each record.
        tables: whether clients are features and targets, so that the library itself computes the gradients.

    Returns:
        The conditions that the loop ensures, and the conditions for which the caller must vouch.
    """
    # The identifiers of all conditions that this run ensures.
    observed = set(CARRIED_OUT)
    if tables:
        observed |= OF_TABLES
    if not means_only:
        observed.add(BY_CLIPPING)
    if answer.algorithm == "mu2-sgd":
        observed.add(BY_DEALING)
        if answer.problem.taking_part.kind == "uniform":
            observed.add(BY_DRAWING)
    carried_out = [condition for condition in answer.all_declared if condition.id in observed]
    left = [condition for condition in answer.all_declared if condition.id not in observed]
    return tuple(carried_out), tuple(left)


def cautions(answer: Calibration, *, means_only: bool, seeded: bool, own_steps: bool) -> Iterable[Caution]:
    """Yield the warnings about a training run that its calibration does not already have.

    The guarantee holds under the conditions of the calibration. These warnings say where a run in one process differs.

    Args:
        answer: the calibration.
        means_only: whether clients return means of gradients instead of one gradient a record.
        seeded: whether the randomness was given by the caller.
        own_steps: whether the caller gave step sizes.

    Yields:
        A warning with a fixed code, by which programs recognise it, and a message.
    """
    # Warnings about the protection of the data.
    if seeded:
        yield Caution(
            code=INSECURE_RANDOMNESS,
            message="batches and noise came from randomness that was given: a party that can repeat it can remove "
            "the noise, so that nothing is protected",
        )
    if answer.guarantee.definition != "central":
        yield Caution(
            code="one-process",
            message="clients, shuffler and server ran in one process, which saw all data. Against a server the "
            "guarantee covers only the messages: run each side where it belongs, or trust this process",
        )
    if means_only:
        yield Caution(
            code="means-are-declared",
            message="clients returned means: that every record's gradient is within the bound is your declaration, as "
            "only the mean could be clipped",
        )

    # Warnings about the bounds on the excess risk, which assume the calibration's steps and exact gradients.
    if getattr(answer.parameters, "envelope_smoothness", None) is not None:
        yield Caution(
            code="envelope-gradients",
            message="without smoothness the steps are for gradients of each record's Moreau envelope, of smoothness "
            f"{answer.parameters.envelope_smoothness:.6g}. The guarantee holds for any gradients, and bounds on the "
            "risk hold for these",
        )
    if own_steps:
        yield Caution(
            code="steps-are-yours",
            message="the step sizes were given: the guarantee holds, but bounds on the risk are for the "
            "calibration's step sizes",
        )
    if answer.algorithm not in ("norm-fedavg", "projected-sgd"):
        yield Caution(
            code=RISK_RESTS_ON_GRADIENTS,
            message="a gradient longer than its bound is scaled down, and the result is not a gradient of the loss. "
            "The guarantee holds, but bounds on the risk are for losses without clipping",
        )

    # How the arithmetic of the run differs from the arithmetic of the theorem.
    if answer.algorithm == "norm-fedavg":
        rounding = "messages have exactly the law that was calibrated; only the models' sums are rounded"
    else:
        rounding = "Gaussian noise, sums and models are double precision: leakage by rounding is not covered"
    yield Caution(code="floating-point", message=rounding)
