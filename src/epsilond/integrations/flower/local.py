"""The status of a client that Flower's `LocalDpMod` protects. No Flower is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.integrations.flower.pitfalls import ABOVE_ONE, TOO_SENSITIVE, certified_local_epsilon, local_noise_std
from epsilond.questions.account import account
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import CLIPPING, NOISE, RELEASES, ROUNDS
from epsilond.runs.statement import RunStatement, state_run

if TYPE_CHECKING:
    from flwr.clientapp.mod import LocalDpMod

LOCAL: Final = (CLIPPING, NOISE, ROUNDS, RELEASES)
"""Premises of the theorem about one client that adds its own noise."""
OUTSIDE: Final = (
    "Each client represents one protected person.",
    "The mod is the last that changes the update, and runs on the client's own machine.",
    "Other runs with this client are accounted for elsewhere.",
)

RUNS_ELSEWHERE: Final = "the mod runs at the client; its parameters are all that is known here"
SEEDED: Final = "numpy's global generator draws the noise, and the program may have seeded it"
COUNTED: Final = "the number of rounds is the caller's"
METRICS: Final = "metrics that the client sends next to its update get no noise"
FIX_EPSILON: Final = 'Take the noise of epsilond.calibrate("gaussian", …), or state the ε of certified_local_epsilon.'
FIX_SENSITIVITY: Final = "Set sensitivity to twice the clipping norm."


def local_statement(mod: LocalDpMod, *, rounds: int, delta: float | None = None) -> RunStatement:
    """State the ε, against the server, of the rounds of a client that adds noise to its own updates.

    The mod (Flower's hook for a client's messages) runs on the client's machine and cannot be observed here. The
    statement therefore has the status `declared`, not `certified`.

    Args:
        mod: Flower's `LocalDpMod`.
        rounds: number of rounds in which the client took part.
        delta: δ of the statement; None for the δ of the mod.

    Returns:
        ε [nat] at δ, with the conditions that the caller must ensure.

    Raises:
        InvalidInput: `rounds` is below 1, or the noise of the mod is 0 or not finite.
        RunDiffers: the ε that the mod states is too small for the noise that it adds.
    """
    if rounds < 1:
        raise InvalidInput.at("/rounds", "is out of range", allowed="≥ 1")
    evidence = _local_evidence(mod, rounds)
    # The noise multiplier is the standard deviation of the noise over the clipping norm.
    mechanism = Gaussian(noise_multiplier=local_noise_std(mod) / mod.clipping_norm)
    run = mechanism if rounds == 1 else Repeated(times=rounds, mechanism=mechanism)
    delta = mod.delta if delta is None else delta
    curve = account(run, relation="replace-one", unit="client", observer="server").guarantee.curve
    return state_run(
        evidence, curve.epsilon(delta=delta), delta=delta, relation="replace-one", unit="client", observer="server"
    )


def _local_evidence(mod: LocalDpMod, rounds: int) -> Evidence:
    """Record for a client's rounds that the caller must ensure every condition of the privacy theorem.

    It also records a contradiction if the ε that the mod states is too small for the noise that it adds.

    Args:
        mod: Flower's `LocalDpMod`.
        rounds: number of rounds in which the client took part.

    Returns:
        The record of the conditions, and of observations that contradict one of them.
    """
    evidence = Evidence(LOCAL, outside=OUTSIDE)
    evidence.count_step(count=rounds)
    reasons = {CLIPPING: RUNS_ELSEWHERE, NOISE: SEEDED, ROUNDS: COUNTED, RELEASES: METRICS}
    for premise, reason in reasons.items():
        evidence.rest_on_caller(premise, reason)

    certified = certified_local_epsilon(mod)
    true_epsilon = f"its noise gives ε ≤ {certified.upper:.6g}"
    parameters = {name: getattr(mod, name) for name in ("epsilon", "delta", "sensitivity", "clipping_norm")}
    if mod.sensitivity < 2.0 * mod.clipping_norm:
        message = f"{TOO_SENSITIVE.format(**parameters)}; {true_epsilon}"
        evidence.contradict(NOISE, message, remedy=FIX_SENSITIVITY)
    elif certified.lower > mod.epsilon:
        message = f"{ABOVE_ONE.format(**parameters)}; {true_epsilon}"
        evidence.contradict(NOISE, message, remedy=FIX_EPSILON)
    return evidence
