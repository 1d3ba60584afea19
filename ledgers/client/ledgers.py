"""Books of ledgers and ledgers, as a library has them: on a file or a service, with the same words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Literal, Self

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import require_setting
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client import bodies
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.bodies import AmountTold
from epsilond.ledgers.client.place import Answer, Place
from epsilond.ledgers.client.running import HeldRun
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.mathematics.state import SlotKind
from epsilond.ledgers.requests import Order

Inputs = Literal["functions-of-releases", "independent-of-outputs"]


class Books:
    """The ledgers of one place. Use it in a `with`, or `close` it: a file has one process at a time."""

    def __init__(self, place: Place, runs: RunNotes) -> None:
        """Use the ledgers of a place. The folder `runs` notes used receipts."""
        self._place = place
        self._runs = runs

    @property
    def warnings(self) -> Mapping[str, str]:
        """Warnings in the answers of the place, by their codes; one is about ledgers that a service will lose."""
        return self._place.warnings

    @require_setting
    def open(
        self,
        *,
        name: str,
        dataset: str,
        block: str | None = None,
        unit: Unit,
        relation: Relation,
        observer: Observer,
        epsilon: float,
        delta: float | None = None,
        log10_delta: float | None = None,
        plan: JsonObject | None = None,
        slots: JsonObject | Iterable[str] = (),
        sealed: bool = False,
        inputs: Inputs = "functions-of-releases",
        released_before: bool = False,
        approval: bool = False,
        by: str | None = None,
        key: str | None = None,
    ) -> Ledger:
        """Open a new ledger, certified: everything that it will ever allow stays within ε [nat] and δ.

        `plan` has a mechanism, or its JSON form, for each name; it may be run that often, whatever comes out. `slots`
        are names of kinds, gdp, zcdp, rdp or pure, each as large as the target allows beside the rest, or a mapping
        from kinds to "largest" or parts. `sealed`, `inputs` and `released_before` are what you declare. With `approval`
        a second person approves amendments, voids and reconciliations. `by` is your name in a file, which knows nobody.

        Raises:
            Infeasible: plan and slots lose more than the target; `nearest` says what would do.
            BlockHasLedger: this block of this data set has one, perhaps closed.
            InvalidInput: a field is at fault.
        """
        body: JsonRecord = {
            "name": name,
            "dataset": dataset,
            "block": block,
            "unit": unit,
            "relation": relation,
            "observer": observer,
            "target": bodies.without_absent({"epsilon": epsilon, "delta": delta, "log10_delta": log10_delta}),
            "plan": [{"name": each, "spec": as_json(spec)} for each, spec in (plan or {}).items()],
            "slots": bodies.slot_bodies(slots),
            "declared": {"inputs": inputs, "sealed": sealed, "released_before": released_before},
            "approval": approval or None,
        }
        return self._ledger(self._place.open(bodies.without_absent(body), bodies.key_or_new(key), by=by))

    def ledgers(self) -> list[Ledger]:
        """Return all ledgers in the order in which they were opened."""
        return [self._ledger(each) for each in self._place.ledgers()]

    def ledger(self, name: str) -> Ledger:
        """Return the ledger with this name or id.

        Raises:
            InvalidInput: no ledger has the name or id, or several ledgers have the name.
        """
        listed = self._place.ledgers()
        found = [each for each in listed if each["id"] == name] or [each for each in listed if each["name"] == name]
        if len(found) != 1:
            names = ", ".join(dict.fromkeys(str(each["name"]) for each in listed)) or "none yet"
            message = "several ledgers have this name: give an id" if found else "there is no such ledger"
            raise InvalidInput.at("/ledger", message, allowed=None if found else names)
        return self._ledger(found[0])

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
        """Hold runs that read several blocks: in all of their ledgers or in none; as `Ledger.reserve`."""
        asked = bodies.job(name, spec, slot, count, eta, delta, expires_in)
        made = self._place.reserve([each.id for each in ledgers], asked, bodies.key_or_new(key))
        return HeldRun(self._place, self._runs, made)

    def run(self, reservation: str) -> HeldRun:
        """Return an earlier reservation by its id, to commit its remaining runs or to give them back."""
        return HeldRun(self._place, self._runs, self._place.reservation(reservation))

    def begin(self, *receipts: Receipt) -> None:
        """Note durably that the run of these receipts begins now: for whoever runs what another has committed.

        Raises:
            ReceiptUsed: one was used before.
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
        """After a restore: compare the log with a checkpoint that was kept elsewhere, so that moves are made again.

        A log that continues it, and the newest that was noted beside a file, is taken as it is. One that does not has
        lost entries: what they debited would be free again. It is accepted only where you declare that they are
        accounted for: committed anew, or their ledgers closed. A service accepts nothing without that declaration.
        Ledgers with approval then wait for a second person. `by` is your name in a file, which such ledgers record.

        Raises:
            Refused: the log is no continuation, or there is nothing to compare it with.
            InvalidInput: another declaration.
        """
        if declared not in (None, ACCOUNTED_FOR):
            raise InvalidInput.at("/declared", "is not what is declared", allowed=ACCOUNTED_FOR)
        return ReadableAnswer(self._place.reconcile(checkpoint, declared, by=by))

    def keys(self) -> ReadableAnswer:
        """Return the keys that verify signatures. Keep them at a place that the verifier trusts."""
        return ReadableAnswer(self._place.keys())

    def bundle(self, ledger: Ledger | None = None) -> Bundle:
        """Return the input of `epsilond ledger verify`: a file's whole log, or receipts of a service.

        Args:
            ledger: of which the service gives receipts; None means all of the organisation, for an auditor.
        """
        return self._place.bundle(None if ledger is None else ledger.id)

    def close(self) -> None:
        """Let go of the file, so that another process may have it."""
        self._place.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ledger(self, told: Answer) -> Ledger:
        return Ledger(self._place, self._runs, told)


class Ledger:
    """The budget of one block of data over time."""

    def __init__(self, place: Place, runs: RunNotes, told: Answer) -> None:
        """Represent a ledger by the answer of its place."""
        self.id: str = told["id"]
        self.name: str = told["name"]
        self.told = ReadableAnswer(told)
        """The ledger when this object was made. `show` returns the present state."""
        self._place = place
        self._runs = runs

    def show(self) -> ReadableAnswer:
        """Return the ledger as it is now: target, balances, curve of the plan, and the conditions of its promise."""
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
        """Return the cost of `reserve` with these arguments, and whether the job fits; change nothing."""
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
        """Return the calibration whose run takes the remaining budget: `request`, `spec`, `charge`. Reserve nothing.

        `epsilond.calibrate(…, given=…)` gives the whole answer to that request. `slack` is a share of the noise: with
        so much less of it the ledger refuses the run.
        """
        asked = bodies.without_absent(
            {"fields": as_json(fields), "slot": slot, "item": item, "eta": bodies.amount_text(eta)}
        )
        return ReadableAnswer(self._place.calibrate(self.id, algorithm, asked))

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
        key: str | None = None,
    ) -> HeldRun:
        """Hold runs: `count` of the plan's item of this name, or of `spec` in a slot, where the name is free.

        `spec` is one mechanism, or a repeated one, held step by step. `eta` is what a charge that is no sum
        may add to δ, and `delta` the δ of each run in a zcdp or pure slot. It expires in `expires_in` [s], a day if
        absent. Use it in a `with`.

        Raises:
            LedgerExhausted: too little is left; `nearest` has the largest count and the smallest noise that fit.
            NotInPlan: the plan has no such item, or not for this mechanism.
            NotSealed, LedgerClosed: nothing is reserved at present.
            ConditionViolated: no charge is proved for the mechanism in this slot.
            RunDiffers: an observation contradicts a run that was paid from the ledger.
        """
        asked = bodies.job(name, spec, slot, count, eta, delta, expires_in)
        return HeldRun(self._place, self._runs, self._place.reserve([self.id], asked, bodies.key_or_new(key)))

    def seal(self, *, key: str | None = None) -> None:
        """Fix the membership of the block from now on. Nothing may read the block before."""
        self._place.seal(self.id, bodies.key_or_new(key))

    def close(self, *, key: str | None = None) -> None:
        """Nothing more is reserved, for ever; what is held may still be committed."""
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
        """Another plan: mechanisms are added, each under a new name; items fall to `lower` runs, not below those taken.

        Before the first commit that is free. Afterwards you declare that no output had a part in the decision, nor in
        its time, and the ledger's promise rests on that for ever. Slots stay; what was committed stays.

        `approval` turns the approval by a second person on or off. `by` is your name in a file.

        Returns:
            The pending move of a ledger with approval; None where the plan is amended.

        Raises:
            ConditionViolated: something was committed, and nothing is declared.
            Infeasible: the new plan and the slots lose more than the target; `nearest` says what would do.
            InvalidInput: a name is taken, or an item would fall below what is committed or held of it.
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
        """Take committed runs back, as you declare that nobody saw any output of them; the ledger says so for ever.

        Returns:
            The pending move of a ledger with approval; None where the runs are taken back. `by` is your name in a file.
        """
        body = {"reservation": run.id if isinstance(run, HeldRun) else run, "count": count, "declared": declared}
        return bodies.readable(self._place.void(self.id, body, bodies.key_or_new(key), by=by))

    def pending(self) -> list[ReadableAnswer]:
        """Return the moves that wait for a second person, oldest first."""
        return [ReadableAnswer(each) for each in self._place.pending(self.id)]

    def approve(self, move: str, *, by: str | None = None) -> ReadableAnswer:
        """Make a pending move that another person requested. It is judged again as the ledger is now.

        Args:
            move: id of the move.
            by: your name in a file, which knows nobody; on a service the key has it.

        Raises:
            SamePerson: you requested it.
            MoveEnded: it was rejected or withdrawn, or has expired.
        """
        return ReadableAnswer(self._place.approve(self.id, move, by=by))

    def reject(self, move: str, *, by: str | None = None) -> ReadableAnswer:
        """End a pending move without making it. Whoever requested it withdraws it.

        Args:
            move: id of the move.
            by: your name in a file.

        Raises:
            MoveEnded: it was approved, or has expired.
        """
        return ReadableAnswer(self._place.reject(self.id, move, by=by))

    def contradict(
        self,
        observations: Sequence[Observation],
        reservations: Iterable[HeldRun | str] | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Let nothing more be committed, because observations contradict a run that was paid from this ledger.

        The ledger then has no ε. Its reservations may still be cancelled, and it may be closed. A run that was paid
        from several ledgers contradicts each of them.

        Args:
            observations: at least one.
            reservations: those that paid for the run, or their ids; None means all with committed runs.
            key: idempotency key of the request.

        Raises:
            InvalidInput: no observation, or a reservation of another ledger.
        """
        body: JsonRecord = {"observations": [asdict(each) for each in observations]}
        if reservations is not None:
            body["reservations"] = [each.id if isinstance(each, HeldRun) else each for each in reservations]
        self._place.contradict(self.id, body, bodies.key_or_new(key))

    def entries(self, start: int = 0, *, order: Order = "oldest", limit: int | None = None) -> list[ReadableAnswer]:
        """Return the ledger's entries from this number of the log on: all, or the `limit` oldest or newest."""
        return [ReadableAnswer(each) for each in self._place.entries(self.id, start, order, limit)]

    def report(self) -> str:
        """Return the ledger as a page of HTML, with its data and a signature that `epsilond.verify` checks.

        Raises:
            MissingExtra: the packages of the extra `reports` are not installed.
        """
        return self._place.report(self.id)

    def curve(self) -> list[tuple[float, float]]:
        """Return upper bounds (ε, log10 δ) of the plan only, around the target's δ. They do not measure spending."""
        return [(point["epsilon"], point["log10_delta"]) for point in self.show().get("curve", ())]

    def __repr__(self) -> str:
        return f"Ledger({self.name!r}, {self.id!r})"

    def __str__(self) -> str:
        return str(self.show())

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()
