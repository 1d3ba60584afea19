"""Rules: applications of theorems to specs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorem import Theorem

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec

Effort = Literal["coarse", "default", "fine"]
"""Work that a composition may take, as fixed numbers of cells; every effort is certified, and more work is tighter."""


@dataclass(frozen=True)
class Refusal:
    """The answer of a theorem that gives no guarantee for a mechanism.

    Attributes:
        theorem: the theorem.
        reason: the reason why it does not apply, in words for the caller.
    """

    theorem: Theorem
    reason: str


@dataclass(frozen=True)
class Case:
    """The request that a rule answers, with access to the guarantees of inner mechanisms.

    A rule applies one theorem to a spec, the description of a mechanism. A spec may contain inner specs, for example
    those of composed mechanisms.

    Attributes:
        setting: neighbouring relation, unit of protection and observer.
        effort: the work that a composition may take.
        account: function from an inner spec and a setting to the guarantee of the inner mechanism.
        root: spec of the whole request, of which the rule reads a part.
    """

    setting: Setting
    effort: Effort
    account: Callable[[Spec, Setting], Guarantee]
    root: Spec


@dataclass(frozen=True)
class Rule:
    """A theorem that gives guarantees for the specs of one kind of mechanism.

    A spec is the description of a mechanism. The rules of a kind are tried in order, and the first that applies
    decides. If it `combines`, the later rules are tried too, and the answer is the least of all bounds.

    Attributes:
        theorem: the theorem that is applied.
        kind: kind of the specs.
        apply: function from a spec and a `Case` to a guarantee, or to a refusal with its reason.
        combines: whether later rules are tried too.
        inner_effort: effort at which the guarantees of inner mechanisms are computed; None for that of the request. A
            theorem that makes a table of an inner guarantee fixes it, so that the table is the same at every effort.
    """

    theorem: Theorem
    kind: str
    apply: Callable[[Any, Case], Guarantee | Refusal]
    combines: bool = False
    inner_effort: Effort | None = None
