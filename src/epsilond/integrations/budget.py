"""A ledger in a training loop: every step is committed before it is taken, until the budget is spent."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict

from epsilond.accountants.errors import (
    EpsilondError,
    InvalidInput,
    LedgerExhausted,
    Observation,
    ReservationEnded,
    RunDiffers,
)
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation, require_unit
from epsilond.accountants.specs import Spec
from epsilond.ledgers.mathematics.state import SlotKind

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.client.running import HeldRun
    from epsilond.ledgers.log.receipts import Receipt


class _ChargeArguments(TypedDict):
    """Arguments of `Ledger.reserve` and `Ledger.what_if` that all reservations of a budget share."""

    slot: SlotKind | None
    eta: AmountTold | None
    delta: AmountTold | None


class LedgerBudget:
    """Budget of a training loop, with steps that are paid for in a ledger before they are taken.

    `pay(step)` returns when the step may be taken, and raises `LedgerExhausted` if it may not. Steps are reserved
    `hold` at a time, and then committed `chunk` at a time, which spends their budget. A crash loses the steps that
    were committed and not taken. The budget comes from an item of the ledger's plan, or from a slot, a share for runs
    that are not planned. If a slot charges all runs of a reservation together, set `hold` to the number of steps of the
    whole loop. Use the object in a `with` statement, or `close` it. Steps that were only reserved then return to the
    ledger.

    Guarantees: the steps that were paid for stay within the ledger's ε and δ, as long as its declared conditions hold.
    The loop may do anything between two payments.

    Attributes:
        receipts: receipts of the commits, in order.
        taken: number of steps that `pay` has allowed so far.
        refused: error of the last rejected payment; None if there was none.
        observations: observed differences between the run and its recorded steps; empty if there are none.

    Example:
        >>> import epsilond, tempfile
        >>> from epsilond.integrations.budget import LedgerBudget
        >>> books = epsilond.ledger(tempfile.mkdtemp() + "/ledger.db")
        >>> step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
        >>> ledger = books.open(
        ...     name="survey", dataset="survey",
        ...     unit="record", relation="add-or-remove-one", observer="released-models",
        ...     epsilon=2.0, delta=1e-6, plan={"train": epsilond.Repeated(times=25, mechanism=step)}, sealed=True,
        ... )
        >>> with LedgerBudget(ledger, "train", chunk=10) as budget:
        ...     while not budget.would_exceed(step):
        ...         budget.pay(step)  # and then the step is taken
        >>> budget.taken, [receipt.entry["count"] for receipt in budget.receipts]
        (25, [10, 10, 5])
        >>> books.close()
    """

    def __init__(
        self,
        ledger: Ledger,
        item: str | None = None,
        *,
        slot: SlotKind | None = None,
        hold: int | None = None,
        chunk: int = 1,
        eta: AmountTold | None = None,
        delta: AmountTold | None = None,
        expires_in: float | None = None,
    ) -> None:
        """Use an item of a ledger's plan, or a slot (a share of its budget for runs that are not planned).

        Args:
            ledger: the ledger that is charged.
            item: name of an item of the plan; excludes `slot`.
            slot: kind of slot; excludes `item`.
            hold: number of steps that are reserved at a time, at least 1; `chunk` if absent.
            chunk: number of steps that are committed at a time, at least 1.
            eta: amount that a charge to a slot may add to δ; see `Ledger.reserve`.
            delta: δ of a charge to a slot; see `Ledger.reserve`.
            expires_in: lifetime of a reservation in seconds, after which uncommitted steps return to the ledger; None
                for the ledger's default.

        Raises:
            InvalidInput: neither or both of `item` and `slot` are given, or `hold` or `chunk` is below 1.
        """
        has_one_source = (item is None) != (slot is None)
        if not has_one_source:
            raise InvalidInput.at("/item", "give either the plan's item or a slot")
        if hold is None:
            hold = chunk
        for name, value in (("chunk", chunk), ("hold", hold)):
            if value < 1:
                raise InvalidInput.at(f"/{name}", "is out of range", allowed="≥ 1")

        self.ledger = ledger
        self.receipts: list[Receipt] = []
        self.taken = 0
        self.refused: LedgerExhausted | None = None
        self.observations: tuple[Observation, ...] = ()
        self._charge: _ChargeArguments = {"slot": slot, "eta": eta, "delta": delta}
        self._item = item
        self._hold = hold
        self._chunk = min(chunk, hold)
        self._expires_in = expires_in

        # Steps that are committed and not handed out yet, and the ids of the reservations with commits.
        self._paid: Counter[Spec] = Counter()
        self._paid_by: dict[str, None] = {}
        # Observations that the ledger has not got yet, by an idempotency key.
        self._unsent: dict[str, tuple[Observation, ...]] = {}
        # The present reservation, its step, and the number of its steps that are not committed.
        self._run: HeldRun | None = None
        self._reserved: tuple[Spec | None, int] = (None, 0)

    @property
    def relation(self) -> Relation:
        """Neighbouring relation of the ledger, in which every charge is counted."""
        relation: Relation = self.ledger.told["relation"]
        return relation

    @property
    def unit(self) -> ProtectedUnit:
        """Unit that the ledger protects."""
        return require_unit(self.ledger.told["unit"])

    @property
    def observer(self) -> Observer:
        """Adversary of the ledger's guarantee."""
        observer: Observer = self.ledger.told["observer"]
        return observer

    def pay(self, step: Spec, count: int = 1) -> None:
        """Pay for runs of a step, which may start when this method returns.

        Runs that an earlier commit has already paid for are used first.

        Args:
            step: mechanism of one run.
            count: number of runs.

        Raises:
            LedgerExhausted: too little is left in the ledger. Runs that were committed before remain paid for.
            NotInPlan: the item of the plan is for another mechanism.
            ConditionViolated: the slot has no rule for the cost of this mechanism.
            RunDiffers: this run, or another run of the ledger, was observed to differ from its recorded steps.
        """
        self._require_consistent()
        while self._paid[step] < count:
            try:
                self._commit(step, count - self._paid[step])
            except LedgerExhausted as error:
                self.refused = error
                raise
        self._paid[step] -= count
        self.taken += count

    def reserve(self, step: Spec, count: int) -> int:
        """Reserve the budget of runs of a step ahead of their payment, as far as the ledger has room for them.

        Args:
            step: mechanism of one run.
            count: number of runs, including those that are paid for and not used yet.

        Returns:
            The number of runs, at most `count`, that are now reserved or paid for.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._require_consistent()
        paid = self._paid[step]
        reserved_step, left = self._reserved
        reservation_suffices = reserved_step == step and paid + left >= count
        if not reservation_suffices:
            # Only one reservation is used at a time, so it is given back before a new one.
            self.close()
            left = 0
            if count > paid:
                with suppress(LedgerExhausted):
                    self._run, left = self._reserve_available(step, count - paid)
                    self._reserved = (step, left)
        return min(paid + left, count)

    def would_exceed(self, step: Spec, count: int = 1) -> bool:
        """Return whether the ledger would reject further runs of a mechanism now. Nothing is changed.

        Only runs that are neither paid for nor reserved yet need room in the ledger.

        Args:
            step: the mechanism of one run.
            count: number of runs.

        Returns:
            True if an observation has contradicted the run, or if the ledger has no room for the missing runs.
        """
        if self.observations:
            return True
        missing = count - self._paid[step]
        reserved_step, left = self._reserved
        if reserved_step == step:
            missing -= left
        if missing <= 0:
            return False
        charge = self.ledger.what_if(self._item, spec=step, count=missing, **self._charge)
        return not charge.fits

    def contradict(self, observations: Sequence[Observation]) -> None:
        """Reject all further payments, because the run was observed to differ from its recorded steps.

        The observations are sent to the ledger, which marks the commits of this budget. Steps that were only reserved
        return to the ledger.

        Args:
            observations: one or more observations. A later payment raises `RunDiffers` with them.

        Raises:
            Unanswered: the ledger's service does not answer. Payments are rejected nevertheless, and `close` sends the
                observations again.
        """
        self.observations = (*self.observations, *observations)
        idempotency_key = secrets.token_urlsafe(24)  # by it the ledger recognises a report that is sent again
        self._unsent[idempotency_key] = tuple(observations)
        self.close()

    def close(self) -> None:
        """Give back the runs that are reserved and not committed, and send observations that the ledger has not got.

        Raises:
            Unanswered: the ledger's service does not answer; the runs that were not committed expire by themselves.
        """
        for key, observations in list(self._unsent.items()):
            self.ledger.contradict(observations, list(self._paid_by), key=key)
            del self._unsent[key]
        run = self._run
        self._run = None
        self._reserved = (None, 0)
        if run is not None:
            run.cancel()

    def _require_consistent(self) -> None:
        """Reject further payments of a run that an observation contradicts.

        Raises:
            RunDiffers: there is such an observation.
        """
        if self.observations:
            raise RunDiffers.of(self.observations)

    def _commit(self, step: Spec, wanted: int) -> None:
        """Commit runs of a step, from the present reservation or, if it cannot be used, from a new one.

        If the reservation has expired, nothing is committed, and the next call makes a new one.

        Args:
            step: mechanism of one run.
            wanted: number of runs. At least the chunk size is committed, but at most the rest of the reservation.

        Raises:
            LedgerExhausted: there is no room for a single run.
        """
        reserved_step, left = self._reserved
        if self._run is None or reserved_step != step or left == 0:
            self.close()
            self._run, left = self._reserve_available(step, max(wanted, self._hold))
        # Commit a whole chunk at a time, so that there are fewer requests to the ledger.
        count = min(max(wanted, self._chunk), left)
        try:
            self.receipts.append(self._run.commit(count))
            self._paid_by[self._run.id] = None
        except ReservationEnded:
            self._run = None
            self._reserved = (None, 0)
            return
        self._paid[step] += count
        self._reserved = (step, left - count)

    def _reserve_available(self, step: Spec, count: int) -> tuple[HeldRun, int]:
        """Reserve runs of a step in the ledger: `count` of them, or as many as there is room for.

        Args:
            step: mechanism of one run.
            count: requested number of runs, at least 1.

        Returns:
            The reservation, and the number of runs that it holds.

        Raises:
            LedgerExhausted: there is no room for a single run.
        """
        try:
            return self._reserve(step, count), count
        except LedgerExhausted as error:
            available = int(error.nearest.get("largest_count", 0))
            if not 0 < available < count:
                raise
        # The smaller request may fail too, if another client takes the room in the meantime. So the same steps apply.
        return self._reserve_available(step, available)

    def _reserve(self, step: Spec, count: int) -> HeldRun:
        """Reserve exactly `count` runs of a mechanism in the ledger.

        Args:
            step: the mechanism of one run.
            count: number of runs.

        Returns:
            The reservation.

        Raises:
            LedgerExhausted: there is no room for all of them.
        """
        return self.ledger.reserve(self._item, spec=step, count=count, expires_in=self._expires_in, **self._charge)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        with suppress(EpsilondError):  # the first error is raised; the reservation expires by itself
            self.close()
