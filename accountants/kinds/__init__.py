"""The theorems and the description of each kind of mechanism.

Every kind of `accountants/specs/mechanisms.py` has a file here with its name, which holds its `THEOREMS`, `RULES` and
`KIND`. The file is imported when one of them is first read.
"""

from __future__ import annotations

from importlib import import_module
from typing import get_args

from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.specs.mechanisms import Mechanism

NAMES: tuple[str, ...] = tuple(spec.kind for spec in get_args(Mechanism))
"""Names of all kinds, in the order of the list of specs."""


def kind_named(name: str) -> MechanismKind:
    """Return the facts about the kind with this name."""
    kind: MechanismKind = import_module(f"{__name__}.{name}").KIND
    return kind
