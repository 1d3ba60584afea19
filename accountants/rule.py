"""A rule is a theorem put to work: it reads one kind of Spec and returns a guarantee, or says why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee, Refusal, Setting
    from epsilond.accountants.theorem import Theorem

Effort = Literal["coarse", "default", "fine"]
"""How much work a composition may take, as fixed numbers of cells; certified at every effort, narrower with more."""


@dataclass(frozen=True)
class Case:
    """What is asked of a rule: the setting, the effort, and how to account for an inner spec in some setting.

    `whole` is the spec that was asked about, of which the one that the rule reads is a part.
    """

    setting: Setting
    effort: Effort
    account: Callable[[Any, Setting], Guarantee]
    whole: Any


@dataclass(frozen=True)
class Rule:
    """`apply(spec, case)` proves something of every spec of this `kind`, or refuses with a reason.

    The first rule that applies stands, unless it `joins`: then the kind's later rules are tried too, and the least of
    all bounds is answered.
    """

    theorem: Theorem
    kind: str
    apply: Callable[[Any, Case], Guarantee | Refusal]
    joins: bool = False
