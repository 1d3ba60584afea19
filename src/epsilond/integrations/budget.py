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
    """Steps of a loop, paid for from a plan's item or a slot of a ledger before they are taken.

    `pay(step)` returns when the step may be taken, and raises `LedgerExhausted` if it may not. Steps are reserved
    `hold` at a time and committed `chunk` at a time, so a crash loses at most one chunk. A slot may charge a job as a
    whole: then set `hold` to the number of steps of the whole loop. Use the object in a `with` statement, or `close`
    it. Steps that were reserved and not committed then return to the ledger.

    Guarantees: the steps that were paid for stay within the ledger's ε and δ, as long as its declared conditions hold.
    The loop may do anything between two payments.

    Attributes:
        receipts: receipts of the commits, in order.
        taken: number of steps that were paid for and handed out.
        refused: error of the last rejected payment; None if there was none.
        observations: observations that contradict the record of the run; empty if there are none.

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
        """Make a budget that pays from a ledger: from an item of its plan, or from a slot (a share of its budget).

        Args:
            ledger: the ledger that is charged.
            item: name of an item of the plan; excludes `slot`.
            slot: kind of slot; excludes `item`.
            hold: number of steps that are reserved at a time, at least 1; `chunk` if absent.
            chunk: number of steps that are committed at a time, at least 1.
            eta: amount that a charge may add to δ; see `Ledger.reserve`.
            delta: δ of the charge; see `Ledger.reserve`.
            expires_in: lifetime of a reservation [s]; after it, steps that are not committed return to the ledger.

        Raises:
            InvalidInput: neither item nor slot, both, or a count below 1.
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
            count: number of runs.

        Returns:
            The number of runs, at most `count`, that are reserved or paid for.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._require_consistent()
        paid = self._paid[step]
        reserved_step, left = self._reserved
        # Runs that were paid for count first, then the present reservation of this step.
        has_enough = reserved_step == step and paid + left >= count
        if not has_enough:
            # Otherwise give the reservation back, and make a new one for the missing runs.
            self.close()
            left = 0
            if count > paid:
                with suppress(LedgerExhausted):
                    self._run, left = self._reserve_available(step, count - paid)
                    self._reserved = (step, left)
        return min(paid + left, count)

    def would_exceed(self, step: Spec, count: int = 1) -> bool:
        """Return whether the ledger would reject further runs of a mechanism now, without any change.

        Runs that were paid for or reserved before, and not used yet, are counted first.

        Args:
            step: the mechanism of one run.
            count: number of runs.

        Returns:
            True if an observation has contradicted the run, or if the missing runs do not fit into the ledger.
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

        The observations are sent to the ledger, which marks the commits of this budget. Reserved steps that were not
        committed return to the ledger.

        Args:
            observations: at least one observation; each later `RunDiffers` of this budget lists them.

        Raises:
            Unanswered: the ledger's service does not answer. Payments are rejected nevertheless, and `close` sends the
                observations again.
        """
        self.observations = (*self.observations, *observations)
        # A random key of 24 bytes, by which the ledger recognises a report that is sent again.
        self._unsent[secrets.token_urlsafe(24)] = tuple(observations)
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
        """Spend the budget of some runs of a step.

        It comes from the present reservation, or from a new one if the present one is used up. If the reservation has
        expired, nothing is committed, and the next call makes a new one.

        Args:
            step: mechanism of one run.
            wanted: number of runs. At least the chunk size is committed, but at most the rest of the reservation.
        """
        reserved_step, left = self._reserved
        # A reservation is for one step, and may be used up. Then a new one is made.
        if self._run is None or reserved_step != step or left == 0:
            self.close()
            self._run, left = self._reserve_available(step, max(wanted, self._hold))
        # Commit a whole chunk at a time, so that there are fewer requests to the ledger.
        count = min(max(wanted, self._chunk), left)
        try:
            self.receipts.append(self._run.commit(count))
            self._paid_by[self._run.id] = None
        except ReservationEnded:  # the reservation expired: the rest of it went back, and is reserved anew
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
        # Another client may have taken the room in the meantime, so that the smaller request can fail, too.
        return self._reserve_available(step, available)

    def _reserve(self, step: Spec, count: int) -> HeldRun:
        """Reserve exactly `count` runs of a mechanism in the ledger.

        Args:
            step: the mechanism of one run.
            count: number of runs.

        Returns:
            The reservation, of which the runs can be committed.

        Raises:
            LedgerExhausted: there is room for fewer runs.
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
