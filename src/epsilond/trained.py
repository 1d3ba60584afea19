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
        left_to_you: conditions that the run cannot ensure. The caller must make sure that they hold.
        cautions: warnings about the run.
        tables: True if the library computed the gradients, from features and targets.
        receipt: receipt of the ledger that recorded the run before its first round; None without a ledger.
        calibration: the calibration from which the run took its noise and its other parameters.
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
        """Return one line with the size of the run, its ε at δ, and the status of this ε."""
        guarantee = self.guarantee
        bound = f"ε ≤ {guarantee.epsilon.upper:.6g} at δ = 10^{guarantee.target.log10_delta:g}"
        return (
            f"Trained({self.algorithm}: {len(self.model)} coordinates in {self.rounds} rounds; "
            f"one {guarantee.unit} against {guarantee.observer} has {bound}, {self.status})"
        )

    @property
    def statement(self) -> RunStatement:
        """Statement of the ε of this run, with the conditions under which it holds.

        Conditions that the training loop ensured count as observed in each round. The caller declares that the others
        hold. Conditions about the deployment are listed with every ε, because no run can show them.
        """
        # Conditions that only bounds on the risk need are left out, because the statement is about ε.
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
        """List the conditions of the run's ε that hold only if the caller is right about them.

        They are conditions of the calibration, and further ones if the caller gave the randomness, if clients are
        gradient functions, or if the log has values that no noise protects.

        Args:
            unobserved: conditions of the guarantee that the run did not ensure.

        Returns:
            One sentence for each condition; none if the run itself ensured every condition.
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
        """Return a report of this run as a page of HTML, which shows its calibration and its ε, and can be signed.

        Args:
            date: the date on the page, YYYY-MM-DD; None for a page without a date.

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
        """Status of ε: `certified` if the run ensured all of its conditions, otherwise `declared`."""
        return self.statement.status

    @property
    def rounds(self) -> int:
        """Number of rounds that were run."""
        return len(self.log)

    @property
    def bits(self) -> int | None:
        """Number of bits that clients sent in all rounds, as the calibration counts them; None if it must be secret."""
        total = 0
        for entry in self.log:
            if entry.bits is None:
                return None
            total += entry.bits
        return total


def conditions(
    answer: Calibration, *, means_only: bool, tables: bool
) -> tuple[tuple[DeclaredCondition, ...], tuple[DeclaredCondition, ...]]:
    """Split the conditions of a calibration into those that the training loop ensures, and those left to the caller.

    The loop ensures some conditions in every run. It ensures others only in some runs, for example bounded gradients if
    it clips the gradient of each record.

    Args:
        answer: the calibration.
        means_only: whether clients return the mean of their gradients instead of one gradient for each record.
        tables: whether clients are features and targets, so that the library itself computes the gradients.

    Returns:
        The conditions that the loop ensures, and those that the caller must ensure.
    """
    ensured_ids = set(CARRIED_OUT)  # in every run
    if tables:
        ensured_ids |= OF_TABLES
    if not means_only:
        ensured_ids.add(BY_CLIPPING)
    if answer.algorithm == "mu2-sgd":
        ensured_ids.add(BY_DEALING)
        if answer.problem.taking_part.kind == "uniform":
            ensured_ids.add(BY_DRAWING)
    ensured = [condition for condition in answer.all_declared if condition.id in ensured_ids]
    left_to_caller = [condition for condition in answer.all_declared if condition.id not in ensured_ids]
    return tuple(ensured), tuple(left_to_caller)


def cautions(answer: Calibration, *, means_only: bool, seeded: bool, own_steps: bool) -> Iterable[Caution]:
    """Yield the warnings about a training run that its calibration does not already have.

    They say where a run in one process differs from the setting of the guarantee, or of the bounds on the risk.

    Args:
        answer: the calibration.
        means_only: whether some client returns the mean of its gradients instead of one gradient for each record.
        seeded: whether the caller gave the randomness.
        own_steps: whether the caller gave the step sizes.

    Yields:
        Warnings, each with a fixed code for programs and a message.
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
