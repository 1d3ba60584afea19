"""Requests for a price: a job's step, the number of steps, and the guarantee of one step in the ledger's setting."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorems.composition.rounds import flatten

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.guarantee import Guarantee, Setting
    from epsilond.ledgers.mathematics.amounts import Amount


@dataclass(frozen=True, kw_only=True)
class ChargeRequest:
    """A request for the cost of a job, a number of runs of one mechanism, in a slot: a part of a privacy budget.

    Attributes:
        setting: neighbouring relation, protected unit and observer of the budget's guarantee.
        spec: the mechanism of one run.
        count: number of runs.
        eta: η, the δ that the job may add to the profile of a Gaussian slot. None takes the slot's default share.
        delta: δ that each run may take from a slot in ε or ρ. None means 0.
        rough: whether a quick price, which may be a little too high, is enough.
    """

    setting: Setting
    spec: Spec
    count: int
    eta: Amount | None = None
    delta: Amount | None = None
    rough: bool = False
    _known: dict[Spec, Guarantee] = field(default_factory=dict, repr=False, compare=False)

    def guarantee(self, spec: Spec) -> Guarantee:
        """Return the proved guarantee of a mechanism, for the ledger's relation, unit and observer.

        It is computed once for each mechanism and then remembered.

        Args:
            spec: the mechanism, which is `self.spec` or a part of it.

        Raises:
            NoCertificate: no theorem covers the mechanism for this relation, unit and observer.
        """
        if spec not in self._known:
            setting = self.setting
            result = account(spec, relation=setting.relation, unit=setting.unit, observer=setting.observer)
            self._known[spec] = result.guarantee
        return self._known[spec]

    @cached_property
    def one(self) -> Pair:
        """The dominating pair of one run: two distributions with a δ at every ε of at least that of the run."""
        return self.guarantee(self.spec).curve.upper

    @cached_property
    def parts(self) -> list[tuple[Pair, int]]:
        """The dominating pairs of the mechanisms of which a run is composed, each with its number in the whole job.

        A dominating pair is two distributions with a δ at every ε of at least that of the mechanism.
        """
        mechanisms = flatten(self.spec)
        return [(self.guarantee(spec).curve.upper, repetitions * self.count) for spec, repetitions in mechanisms]
