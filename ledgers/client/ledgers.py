"""A ledger of a file or of a service, with the same methods for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from epsilond.accountants.errors import Observation
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import ProtectedUnit
from epsilond.accountants.quantities.units import unit_json
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.client import bodies
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.bodies import AmountTold
from epsilond.ledgers.client.place import Answer, Place
from epsilond.ledgers.client.running import HeldRun
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.mathematics.state import SlotKind
from epsilond.ledgers.requests import Order


class Ledger:
    """The privacy budget of one block of data (a data set or a part of it) over time, in a file or on a service.

    Attributes:
        id: id of the ledger.
        name: name of the ledger, for display.
        told: state of the ledger when this object was made; `show` returns the present state.
    """

    def __init__(self, place: Place, runs: RunNotes, answer: Answer) -> None:
        """Make the object from the answer of a file or a service that describes the ledger.

        Args:
            place: the file or the service.
            runs: notes on the receipts that were used for runs.
            answer: description of the ledger, a JSON object.
        """
        self.id: str = answer["id"]
        self.name: str = answer["name"]
        self.told = ReadableAnswer(answer)
        self._place = place
        self._runs = runs

    def show(self) -> ReadableAnswer:
        """Return the present state: target, balances, curve of the plan, and the conditions of the guarantee."""
        return ReadableAnswer(self._place.ledger(self.id))

    def what_if(
        self,
        name: str | None = None,
        *,
        spec: object | None = None,
        slot: SlotKind | None = None,
        count: int | None = None,
        eta: AmountTold | None = None,
        delta: AmountTold | None = None,
    ) -> ReadableAnswer:
        """Return the charge that `reserve` would make with these arguments, and whether it fits; change nothing.

        The runs are those of an item of the ledger's plan, or of a mechanism in a slot. A slot is a part of the budget
        for runs that are not planned.

        Args:
            name: name of the plan's item, or a label if a slot is charged.
            spec: one mechanism, or a repeated one; needed for a slot.
            slot: kind of the slot that would be charged.
            count: number of runs; None for all runs of the item or of the mechanism.
            eta: δ that the charge of a mechanism that is not Gaussian may add in a Gaussian slot.
            delta: δ of each run in a zcdp or pure slot.

        Returns:
            `fits`. If the runs fit, `charge`; otherwise the `reason`, and `nearest`, runs that would fit.
        """
        return ReadableAnswer(self._place.what_if(self.id, bodies.job(name, spec, slot, count, eta, delta)))

    def calibrate(
        self,
        algorithm: str,
        fields: JsonObject,
        *,
        slot: SlotKind | None = None,
        item: str | None = None,
        eta: AmountTold | None = None,
    ) -> ReadableAnswer:
        """Find the least noise with which a run of an algorithm fits into the remaining budget; reserve nothing.

        The budget is that of an item of the plan, or of a slot, that is, a part for runs that are not planned.
        `epsilond.calibrate(…, given=…)` returns the whole calibration.

        Args:
            algorithm: name of the algorithm.
            fields: fields of the algorithm's calibration, except for ε, δ and the others that the ledger sets.
            slot: kind of the slot that would be charged. If `item` is None too, it is the Gaussian or the only slot.
            item: name of the plan's item that would be charged.
            eta: increase of δ that is allowed if a mechanism that is not Gaussian is charged to a Gaussian slot.

        Returns:
            `request`, the calibration; `spec`, the mechanism to reserve; and `charge`. `slack` is the fraction by which
            less noise was shown to be rejected; it is absent if nothing was shown.
        """
        members = {"fields": as_json(fields), "slot": slot, "item": item, "eta": bodies.amount_text(eta)}
        return ReadableAnswer(self._place.calibrate(self.id, algorithm, bodies.without_absent(members)))

    def reserve(
        self,
        name: str | None = None,
        *,
        spec: object | None = None,
        slot: SlotKind | None = None,
        count: int | None = None,
        eta: AmountTold | None = None,
        delta: AmountTold | None = None,
        expires_in: float | None = None,
        unit: ProtectedUnit | JsonObject | None = None,
        key: str | None = None,
    ) -> HeldRun:
        """Reserve runs of an item of the plan, or of a mechanism in a slot. Use the result in a `with` block.

        An item of the plan is a mechanism with a number of runs. A slot is a part of the budget for other runs, in one
        notion of privacy: gdp (Gaussian), zcdp, rdp (Rényi) or pure. The charge is the part of it that the runs use.

        Args:
            name: name of the plan's item, or a label if a slot is charged.
            spec: one mechanism, or a repeated one with steps that are reserved; needed for a slot.
            slot: kind of the slot that is charged.
            count: number of runs; None for all runs of the item or of the mechanism.
            eta: increase of δ that is allowed if a mechanism that is not Gaussian is charged to a Gaussian slot.
            delta: δ of each run in a zcdp or pure slot.
            expires_in: seconds until the reservation expires; a day by default.
            unit: the protected unit of your analysis; another one than the ledger's is rejected.
            key: idempotency key of the request; None makes a new one.

        Returns:
            The reservation. Its uncommitted runs are given back at the end of the block.

        Raises:
            LedgerExhausted: too little is left; `nearest` has the largest count and the smallest noise that fit.
            NotInPlan: the plan has no such item, or not for this mechanism.
            NotSealed, LedgerClosed: the ledger takes no reservations at present.
            ConditionViolated: no charge is proved for the mechanism in this slot.
            RunDiffers: a run was observed to differ from the mechanism that was paid for.
        """
        body = bodies.job(name, spec, slot, count, eta, delta, expires_in)
        if unit is not None:
            body = {**body, "unit": unit_json(unit)}
        return HeldRun(self._place, self._runs, self._place.reserve([self.id], body, bodies.key_or_new(key)))

    def seal(self, *, key: str | None = None) -> None:
        """Fix the membership of the block from now on. Nothing may read the block before."""
        self._place.seal(self.id, bodies.key_or_new(key))

    def close(self, *, key: str | None = None) -> None:
        """Close the ledger permanently: no more runs can be reserved. Reserved runs may still be committed.

        Args:
            key: idempotency key of the request; None makes a new one.
        """
        self._place.close_ledger(self.id, bodies.key_or_new(key))

    def amend(
        self,
        *,
        add: Mapping[str, object] | None = None,
        lower: Mapping[str, int] | None = None,
        declared: Literal["independent-of-outputs"] | None = None,
        approval: bool | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> ReadableAnswer | None:
        """Change the plan: add mechanisms under new names, or lower the numbers of runs of items.

        Before the first commit no declaration is needed. Afterwards you declare that the decision and its time do not
        depend on outputs, and the ledger's guarantee is conditional on that from then on. Slots and committed runs do
        not change.

        Args:
            add: mechanisms by the names of new items.
            lower: new numbers of runs by the names of items, at least the committed and reserved runs.
            declared: the declaration.
            approval: whether a second person must approve changes from then on; None leaves this as it is.
            by: your name, for the log of a file; None on a service, which knows you by your key.
            key: idempotency key of the request; None makes a new one.

        Returns:
            The pending change, if a second person must approve it; None if the plan is amended.

        Raises:
            ConditionViolated: something was committed, and nothing is declared.
            Infeasible: the new plan and the slots lose more than the target; `nearest` says how much they lose.
            InvalidInput: a name is taken, or an item would fall below its committed and reserved runs.
        """
        body = bodies.amendment(add or {}, lower or {}, declared, approval)
        return bodies.readable(self._place.amend(self.id, body, bodies.key_or_new(key), by=by))

    def void(
        self,
        run: HeldRun | str,
        count: int,
        *,
        declared: Literal["no-output-observed"],
        by: str | None = None,
        key: str | None = None,
    ) -> ReadableAnswer | None:
        """Return committed runs to the budget, because you declare that no person saw an output of them.

        The ledger records the declaration permanently, and its guarantee depends on it.

        Args:
            run: the reservation or its id.
            count: number of runs.
            declared: the declaration.
            by: your name, for the log of a file; None on a service, which knows you by your key.
            key: idempotency key of the request; None makes a new one.

        Returns:
            The pending change, if a second person must approve it; None if the runs are returned.
        """
        reservation = run.id if isinstance(run, HeldRun) else run
        body = {"reservation": reservation, "count": count, "declared": declared}
        return bodies.readable(self._place.void(self.id, body, bodies.key_or_new(key), by=by))

    def pending(self) -> list[ReadableAnswer]:
        """Return the changes of the ledger that wait for the approval of a second person, oldest first."""
        return [ReadableAnswer(move) for move in self._place.pending(self.id)]

    def approve(self, move: str, *, by: str | None = None) -> ReadableAnswer:
        """Approve a change of the ledger that another person requested. It is checked again, and made.

        Args:
            move: id of the change.
            by: your name, for the log of a file; None on a service, which knows you by your key.

        Returns:
            The change in its final state.

        Raises:
            SamePerson: you requested the change.
            MoveEnded: the change was rejected or withdrawn, or has expired.
        """
        return ReadableAnswer(self._place.approve(self.id, move, by=by))

    def reject(self, move: str, *, by: str | None = None) -> ReadableAnswer:
        """End a pending change of the ledger without making it: its requester withdraws it, or an approver rejects it.

        Args:
            move: id of the change.
            by: your name, for the log of a file; None on a service, which knows you by your key.

        Returns:
            The change in its final state.

        Raises:
            MoveEnded: the change was approved, or has expired.
        """
        return ReadableAnswer(self._place.reject(self.id, move, by=by))

    def contradict(
        self,
        observations: Sequence[Observation],
        reservations: Iterable[HeldRun | str] | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Report that a run differed from the mechanism that was paid for. No further run can be committed then.

        The ledger then has no guarantee any more. Its reservations may still be cancelled, and it may be closed. If
        several ledgers were charged for the run, report it to each.

        Args:
            observations: at least one description of a difference.
            reservations: reservations of the run, or their ids; None means all reservations with committed runs.
            key: idempotency key of the request; None makes a new one.

        Raises:
            InvalidInput: no observation is given, or a reservation is of another ledger.
        """
        body: JsonRecord = {"observations": [asdict(item) for item in observations]}
        if reservations is not None:
            body["reservations"] = [item.id if isinstance(item, HeldRun) else item for item in reservations]
        self._place.contradict(self.id, body, bodies.key_or_new(key))

    def entries(self, start: int = 0, *, order: Order = "oldest", limit: int | None = None) -> list[ReadableAnswer]:
        """Return the ledger's entries in the log.

        Args:
            start: number in the log from which on entries are returned.
            order: whether the oldest or the newest come first.
            limit: largest number of entries; None means all.

        Returns:
            The entries as JSON objects, in the requested order.
        """
        return [ReadableAnswer(entry) for entry in self._place.entries(self.id, start, order, limit)]

    def report(self) -> str:
        """Return the ledger as a page of HTML, with its data and a signature that `epsilond.verify` checks.

        Raises:
            MissingExtra: the packages of the extra `reports` are not installed.
        """
        return self._place.report(self.id)

    def curve(self) -> list[tuple[float, float]]:
        """Return points (ε, log10 δ) of an upper bound for all runs of the plan together, near the target's δ.

        Slots are not included. The curve does not depend on the committed runs, so it does not measure spending.
        """
        return [(point["epsilon"], point["log10_delta"]) for point in self.show().get("curve", ())]

    def __repr__(self) -> str:
        return f"Ledger({self.name!r}, {self.id!r})"

    def __str__(self) -> str:
        return str(self.show())

    def _repr_html_(self) -> str:
        """Return the ledger as a table in HTML, which notebooks display."""
        return self.show()._repr_html_()
