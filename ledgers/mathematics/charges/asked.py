"""A job of which the price is asked: its step, how many, and what is known of one step under the ledger's setting."""

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
    """`count` runs of `spec`. `eta` and `delta` are what it may take of these parts; None leaves it to the slot.

    A `rough` price is quick and may be a little too high.
    """

    setting: Setting
    spec: Spec
    count: int
    eta: Amount | None = None
    delta: Amount | None = None
    rough: bool = False
    _known: dict[Spec, Guarantee] = field(default_factory=dict, repr=False, compare=False)

    def guarantee(self, spec: Spec) -> Guarantee:
        """Return the proved guarantee of a mechanism, for the ledger's relation, unit and observer."""
        if spec not in self._known:
            setting = self.setting
            found = account(spec, relation=setting.relation, unit=setting.unit, observer=setting.observer)
            self._known[spec] = found.guarantee
        return self._known[spec]

    @cached_property
    def one(self) -> Pair:
        """The dominating pair of one run."""
        return self.guarantee(self.spec).curve.upper

    @cached_property
    def parts(self) -> list[tuple[Pair, int]]:
        """The dominating pairs of the whole job with how often each is run."""
        return [(self.guarantee(one).curve.upper, times * self.count) for one, times in flatten(self.spec)]
