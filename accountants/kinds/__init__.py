"""The theorems and the description of each kind of mechanism.

Every kind of `accountants/specs/mechanisms.py` has a file here, at the same place as its spec in `accountants/specs`.
The file holds the kind's `THEOREMS`, `RULES` and `KIND`, and is imported when one of them is first read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, get_args

from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.specs.mechanisms import Mechanism

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec

_SPECS = "epsilond.accountants.specs."
PLACES: dict[str, str] = {spec.kind: spec.__module__.removeprefix(_SPECS) for spec in get_args(Mechanism)}
"""Path of each kind's module within this package, with dots, by the kind's name in the order of the list of specs."""
NAMES: tuple[str, ...] = tuple(PLACES)
"""Names of all kinds."""


def kind_named(name: str) -> MechanismKind:
    """Return the facts about the kind with this name."""
    kind: MechanismKind = import_module(f"{__name__}.{PLACES[name]}").KIND
    return kind


def concentration_of(spec: Spec) -> Concentration | None:
    """Return zero-concentrated privacy of one mechanism by a theorem of its kind; None if there is no such theorem."""
    find = kind_named(spec.kind).concentration if spec.kind in PLACES else None
    return None if find is None else find(spec)
