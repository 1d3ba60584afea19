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
    """Return the functions that describe a kind of mechanism. Its module is imported at the first call.

    Args:
        name: name of the kind, such as "gaussian", one of `NAMES`.

    Returns:
        Functions that describe a spec in words, give an example, and state its zero-concentrated privacy.
    """
    module = import_module(f"{__name__}.{PLACES[name]}")
    kind: MechanismKind = module.KIND
    return kind


def concentration_of(spec: Spec) -> Concentration | None:
    """Return the zero-concentrated differential privacy (zCDP) that a theorem proves for one mechanism.

    Args:
        spec: the description of a mechanism or of a composed run.

    Returns:
        ρ and δ of δ-approximate ρ-zCDP. None if the spec is not a single mechanism, or if no theorem covers it.
    """
    is_mechanism = spec.kind in PLACES
    if not is_mechanism:
        return None
    prove_concentration = kind_named(spec.kind).concentration
    return None if prove_concentration is None else prove_concentration(spec)
