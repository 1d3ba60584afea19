"""A calibration within what is left of a ledger: the least noise with which the job still fits into a Gaussian slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from epsilond.accountants.errors import Fault, InvalidInput, LedgerExhausted

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.ledgers.client.ledgers import Ledger

ALGORITHM: Final = "gaussian"
UNKNOWN: Final = "noise_multiplier"
_LEDGERS: Final = ("epsilon", "delta", "log10_delta", UNKNOWN)
_SETTING: Final = ("relation", "unit", "observer")
_FIRST: Final = 1.0
_LEAST: Final = 2.0**-10
"""The noise multipliers at which the search begins and below which it does not go."""
_STEPS: Final = 6
_STEP: Final = 1.005
"""How often, and by how much, more noise is tried than the refusal says."""


def within(ledger: Ledger, algorithm: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a calibration for ε at the least noise multiplier whose job fits into the ledger's Gaussian slot.

    The noise is within a few hundredths of the least, and what it would be charged was certified by the ledger. Nothing
    is reserved: until that is done others may take what is left.

    Raises:
        InvalidInput: the algorithm has no such form, or a field is the ledger's to say.
        LedgerExhausted: no noise makes the job fit.
    """
    if algorithm != ALGORITHM:
        message = "has no form within a ledger: its noise is for a target of its own; account for its spec instead"
        raise InvalidInput.at("/algorithm", message, allowed=ALGORITHM)
    told = ledger.show()
    _require_ours(fields, told)
    asked = {**fields, **{name: told[name] for name in _SETTING}, "solve_for": "epsilon"}
    asked["log10_delta"] = told["target"]["log10_delta"]
    noise = _least(ledger, asked)
    return asked | {UNKNOWN: noise}


def _require_ours(fields: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    faults = [
        Fault(f"/{name}", "is what the ledger says: leave it out") for name in _LEDGERS if fields.get(name) is not None
    ]
    faults += [
        Fault(f"/{name}", "is not the ledger's", told[name])
        for name in _SETTING
        if fields.get(name) not in (None, told[name])
    ]
    if fields.get("solve_for", UNKNOWN) != UNKNOWN:
        faults.append(Fault("/solve_for", "is not what a ledger can be asked for", UNKNOWN))
    if all(slot["kind"] != "gdp" for slot in told["slots"]):
        faults.append(Fault("/given", "has no Gaussian slot"))
    if faults:
        raise InvalidInput(*faults)


def _least(ledger: Ledger, asked: Mapping[str, Any]) -> float:
    """The noise at which the slot's own charge fits; the ledger's refusal of less says where to look."""
    noise = _FIRST
    found = ledger.what_if(spec=_job(asked, noise), slot="gdp")
    while found["fits"] and noise > _LEAST:
        noise /= 2.0
        found = ledger.what_if(spec=_job(asked, noise), slot="gdp")
    if found["fits"]:
        return noise
    nearest = found.get("nearest", {}).get("smallest_noise_multiplier")
    for step in range(_STEPS if nearest is not None else 0):
        noise = float(nearest) * _STEP**step  # what would pay for it may be more than the search for its price finds
        if ledger.what_if(spec=_job(asked, noise), slot="gdp")["fits"]:
            return noise
    raise LedgerExhausted(f"No noise makes the job fit into what is left: {found.get('reason', 'it has gone')}.")


def _job(asked: Mapping[str, Any], noise: float) -> Spec:
    from epsilond.calibrators.gaussian.calibrator import spec_of  # noqa: PLC0415  only where a ledger is given
    from epsilond.calibrators.gaussian.problem import GaussianProblem  # noqa: PLC0415
    from epsilond.reading import read  # noqa: PLC0415

    return spec_of(read(GaussianProblem, {**asked, UNKNOWN: noise}))
