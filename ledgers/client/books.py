"""Books: all ledgers of a file or of a service, with the same methods for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.quantities.units import unit_json
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client import bodies
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.bodies import AmountTold
from epsilond.ledgers.client.ledgers import Ledger
from epsilond.ledgers.client.place import Answer, Place
from epsilond.ledgers.client.running import HeldRun
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.mathematics.state import SlotKind

Inputs = Literal["functions-of-releases", "independent-of-outputs"]


class Books:
    """All ledgers of one place.

    Use it in a `with` block or `close` it, because only one process at a time has a file.
    """

    def __init__(self, place: Place, runs: RunNotes) -> None:
        """Use the ledgers of a place: a file or a service. `runs` notes which receipts were used for runs."""
        self._place = place
        self._runs = runs

    @property
    def warnings(self) -> Mapping[str, str]:
        """Warnings in the answers of the place, by their codes, for example of ledgers that a service will lose."""
        return self._place.warnings

    @require_setting
    def open(
        self,
        *,
        name: str,
        dataset: str,
        block: str | None = None,
        unit: ProtectedUnit | JsonObject,
        relation: Relation,
        observer: Observer,
        epsilon: float | None = None,
        delta: float | None = None,
        log10_delta: float | None = None,
        advantage: float | None = None,
        true_positive_rate: float | None = None,
        false_positive_rate: float | None = None,
        gaussian_dp_mu: float | None = None,
        rho: float | None = None,
        plan: JsonObject | None = None,
        slots: JsonObject | Iterable[str] = (),
        sealed: bool = False,
        inputs: Inputs = "functions-of-releases",
        released_before: bool = False,
        approval: bool = False,
        by: str | None = None,
        key: str | None = None,
    ) -> Ledger:
        """Open a new ledger, with a certificate that all runs that it will ever allow stay within a target.

        The target is ε at δ, or one risk of an attacker.

        Args:
            name: name of the ledger.
            dataset: name of the data set.
            block: name of the block of the data set; None for all of it.
            unit: unit of the guarantee.
            relation: relation of the neighbours.
            observer: observer of the guarantee.
            epsilon: ε of the target, in nats, at least 0.
            delta: δ of the target; give it or `log10_delta`. With a μ or ρ it is the δ at which ε is stated.
            log10_delta: log10 δ of the target.
            advantage: largest advantage of an attacker, true minus false positive rate, as the target.
            true_positive_rate: largest true positive rate at `false_positive_rate`, as the target.
            false_positive_rate: false positive rate of that target.
            gaussian_dp_mu: μ of Gaussian differential privacy, as the target.
            rho: ρ of zero-concentrated differential privacy, as the target.
            plan: mechanisms, or their JSON forms, by the names of items. Each may be run as often as it states. The
                number of runs is fixed before any output is seen.
            slots: parts of the budget for mechanisms outside the plan: kinds (gdp, zcdp, rdp or pure), each as large as
                the target allows, or a mapping from kinds to "largest" or to amounts.
            sealed: whether you declare that it is fixed which records belong to the block.
            inputs: your declaration of the values that decisions depend on.
            released_before: whether you declare that something was released before.
            approval: whether a second person approves amendments, voids and reconciliations.
            by: your name in a file, which does not know its callers.
            key: idempotency key of the request; None makes a new one.

        Returns:
            The new ledger, with which runs are reserved and committed.

        Raises:
            Infeasible: plan and slots together lose more than the target; `nearest` has the ε or the risk that they
                need.
            BlockHasLedger: this block of this data set has a ledger already, open or closed.
            InvalidInput: a field is not valid.
        """
        target = {
            "epsilon": epsilon,
            "delta": delta,
            "log10_delta": log10_delta,
            "advantage": advantage,
            "true_positive_rate": true_positive_rate,
            "false_positive_rate": false_positive_rate,
            "gaussian_dp_mu": gaussian_dp_mu,
            "rho": rho,
        }
        items = [{"name": item_name, "spec": as_json(spec)} for item_name, spec in (plan or {}).items()]
        body: JsonRecord = {
            "name": name,
            "dataset": dataset,
            "block": block,
            "unit": unit_json(unit),
            "relation": relation,
            "observer": observer,
            "target": bodies.without_absent(target),
            "plan": items,
            "slots": bodies.slot_bodies(slots),
            "declared": {"inputs": inputs, "sealed": sealed, "released_before": released_before},
            "approval": approval or None,
        }
        answer = self._place.open(bodies.without_absent(body), bodies.key_or_new(key), by=by)
        return self._ledger(answer)

    def ledgers(self) -> list[Ledger]:
        """Return all ledgers in the order in which they were opened."""
        return [self._ledger(answer) for answer in self._place.ledgers()]

    def ledger(self, name: str) -> Ledger:
        """Return the ledger with this id or, if there is none, with this name.

        Args:
            name: id of a ledger, or its name, which need not be unique.

        Returns:
            The ledger, as it is now.

        Raises:
            InvalidInput: no ledger has the name or id, or several ledgers have the name.
        """
        ledgers = self._place.ledgers()
        matches = [ledger for ledger in ledgers if ledger["id"] == name]
        if not matches:
            matches = [ledger for ledger in ledgers if ledger["name"] == name]
        if len(matches) > 1:
            raise InvalidInput.at("/ledger", "several ledgers have this name: give an id")
        if not matches:
            distinct_names = dict.fromkeys(str(ledger["name"]) for ledger in ledgers)
            raise InvalidInput.at("/ledger", "there is no such ledger", allowed=", ".join(distinct_names) or "none yet")
        (match,) = matches
        return self._ledger(match)

    def reserve(
        self,
        ledgers: Sequence[Ledger],
        name: str | None = None,
        *,
        spec: object | None = None,
        slot: SlotKind | None = None,
        count: int | None = None,
        eta: AmountTold | None = None,
        delta: AmountTold | None = None,
        expires_in: float | None = None,
        key: str | None = None,
    ) -> HeldRun:
        """Reserve runs that read several blocks of a data set, in the ledgers of all these blocks or in none.

        A run is charged to an item of each ledger's plan, or to a slot, a part of the budget for other mechanisms.

        Args:
            ledgers: ledgers of the blocks.
            name: name of the plan's item, or a label if a slot is charged.
            spec: mechanism; needed for a slot.
            slot: kind of the slot that is charged.
            count: number of runs; None for all runs of the item or of the mechanism.
            eta: η, an increase of δ that is allowed if a mechanism that is not Gaussian is charged to a Gaussian slot.
            delta: δ of each run in a zcdp or pure slot.
            expires_in: seconds until the reservation expires; a day by default.
            key: idempotency key of the request; None makes a new one.

        Returns:
            The reservation, for use in a `with` block.

        Raises:
            NoCertificate: a ledger cannot hold the runs. The subclasses are those of `Ledger.reserve`, such as
                `LedgerExhausted`.
        """
        body = bodies.job(name, spec, slot, count, eta, delta, expires_in)
        reservation = self._place.reserve([ledger.id for ledger in ledgers], body, bodies.key_or_new(key))
        return HeldRun(self._place, self._runs, reservation)

    def run(self, reservation: str) -> HeldRun:
        """Return an earlier reservation by its id, to commit its remaining runs or to give them back."""
        return HeldRun(self._place, self._runs, self._place.reservation(reservation))

    def begin(self, *receipts: Receipt) -> None:
        """Mark receipts of committed runs as used, on the disk, because the runs begin now.

        This is for a process that executes runs which another process committed.

        Args:
            receipts: the receipts, each of which permits one run.

        Raises:
            ReceiptUsed: one of the receipts was used before.
        """
        self._runs.begin(receipts)

    def checkpoint(self) -> str:
        """Return the signed head of the log. Keep a copy elsewhere: it shows if the log is ever rewritten."""
        return self._place.checkpoint()

    def reconcile(
        self,
        checkpoint: str | None = None,
        *,
        declared: Literal["missing-entries-are-accounted-for"] | None = None,
        by: str | None = None,
    ) -> ReadableAnswer:
        """Compare the log with a checkpoint that was stored earlier, to permit changes again after a restore.

        A checkpoint is a signed head: the log's size and Merkle root at some time. A file accepts a log that continues
        the checkpoint and the newest stored head. Otherwise the log has lost entries, and the budget that they record
        as spent would be available again. Such a log is accepted only with your declaration, and ledgers with approval
        then wait for a second person. A service always requires the declaration.

        Args:
            checkpoint: the checkpoint; None means the newest that the place knows.
            declared: your declaration that the missing entries are accounted for: committed again, or their ledgers
                closed.
            by: your name in a file, which ledgers with approval record.

        Returns:
            The present head as `checkpoint`; `accepted` and `waiting` are as in the answer of `Place.reconcile`.

        Raises:
            Refused: the log is not a continuation, or there is nothing to compare it with.
            InvalidInput: another declaration.
        """
        if declared not in (None, ACCOUNTED_FOR):
            raise InvalidInput.at("/declared", "differs from the declaration", allowed=ACCOUNTED_FOR)
        return ReadableAnswer(self._place.reconcile(checkpoint, declared, by=by))

    def keys(self) -> ReadableAnswer:
        """Return the keys that verify signatures. Keep them at a place that the verifier trusts."""
        return ReadableAnswer(self._place.keys())

    def bundle(self, ledger: Ledger | None = None) -> Bundle:
        """Return the evidence that `epsilond ledger verify` checks: a file's whole log, or receipts of a service.

        Args:
            ledger: ledger of which a service returns the receipts; None means all of the organisation, for an auditor.
        """
        identifier = None if ledger is None else ledger.id
        return self._place.bundle(identifier)

    def close(self) -> None:
        """Release the file, so that another process may open it."""
        self._place.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ledger(self, answer: Answer) -> Ledger:
        """Return a ledger from its answer."""
        return Ledger(self._place, self._runs, answer)
