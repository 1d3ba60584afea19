"""The noise of PPSGD: Theorem 4.1 of Bietti et al. with an explicit constant, and the least sufficient noise.

Every client's clipped message enters every round's mean. So n rounds are exactly μ-Gaussian differentially private with
μ = kC√n/(Nσ_ζ). Here k = 2 if a client is replaced, and k = 1 if it is zeroed, or removed with divisor N. The least σ_ζ
is the inverse of that curve. Joint privacy follows by the billboard lemma (`billboard`).
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.formula import formula
from epsilond.accountants.json_types import Fields
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    DELTA,
    EPSILON,
    LOG10_DELTA,
    RELATION,
    SQUARES,
    Checks,
    Clients,
    Epsilon,
    GivenLogDelta,
    Relation,
    Rounds,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import NOISE_CONSTANT, SHARED_NOISE_STD, ClippingNorm
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import natural_log_delta
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std
from epsilond.accountants.theorems.papers.bietti.closed_forms import (
    full_participation_mu,
    sharp_constant,
    sufficient_noise_std,
)
from epsilond.accountants.theorems.papers.bietti.errata import NO_CONSTANT, PROOF_LOSES, SENSITIVITY

# Formulas -----------------------------------------------------------------------------------------------------------


def least_noise_std(
    *, clipping_norm: float, clients: int, rounds: int, epsilon: float, log_delta: float, sensitivity_factor: float
) -> float:
    """Compute the least noise σ_ζ on the mean with which n rounds of all clients are (ε, δ)-private, rounded up.

    It is that of the Gaussian mechanism with the sensitivity kC√n/N of all rounds together.

    Args:
        clipping_norm: bound C on the ℓ2 norm of a message; σ_ζ has its unit.
        clients: number N of clients.
        rounds: number n of rounds.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        sensitivity_factor: k, 2 for replace-one and 1 for the other relations.

    Returns:
        The standard deviation σ_ζ per coordinate of the mean.
    """
    sensitivity = sensitivity_factor * clipping_norm * math.sqrt(rounds) / clients
    return gaussian_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity)


def noise_with_constant(
    *, constant: float, clipping_norm: float, contributions: float, rounds: int, epsilon: float, log_delta: float
) -> float:
    """Compute the noise σ_ζ = c C √(n ln(1/δ))/(Wε) on the mean message that Bietti et al. prescribe.

    Args:
        constant: c of Theorem 4.1, or c₂ of Theorem 5.1.
        clipping_norm: bound C on the ℓ2 norm of a message; the noise has its unit.
        contributions: total weight W of the clients: their number N, or in Theorem 5.1 possibly that of all records in
            their batches.
        rounds: number n of rounds.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.

    Returns:
        The standard deviation σ_ζ per coordinate of the mean.
    """
    root = math.sqrt(rounds * -log_delta)  # √(n ln(1/δ))
    return constant * clipping_norm * root / (contributions * epsilon)


def implied_constant(
    *, noise_std: float, clipping_norm: float, contributions: float, rounds: int, epsilon: float, log_delta: float
) -> float:
    """Compute the constant c with which the formula σ_ζ = c C √(n ln(1/δ))/(Wε) of Bietti et al. gives a noise σ_ζ.

    Args:
        noise_std: σ_ζ, standard deviation of the noise on the mean.
        clipping_norm: bound C on the ℓ2 norm of a message, in the unit of σ_ζ.
        contributions: total weight W of the clients; see `noise_with_constant`.
        rounds: number n of rounds.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.

    Returns:
        The constant c, without unit.
    """
    noise_at_constant_1 = noise_with_constant(
        constant=1.0,
        clipping_norm=clipping_norm,
        contributions=contributions,
        rounds=rounds,
        epsilon=epsilon,
        log_delta=log_delta,
    )
    return noise_std / noise_at_constant_1


def least_constant(*, epsilon: float, log_delta: float, sensitivity_factor: float) -> float:
    """Compute the least constant c with which the noise of Theorem 4.1 of Bietti et al. meets the target (ε, δ).

    Let μ* be the largest μ for which μ-Gaussian differential privacy implies (ε, δ)-differential privacy. Then
    c = kε/(μ* √ln(1/δ)). It is computed with a lower bound on μ*, and is therefore rounded up.

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        sensitivity_factor: k, 2 for replace-one and 1 for the other relations.

    Returns:
        The constant c, without unit.
    """
    std = gaussian_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity_factor)  # k/μ*
    return epsilon * std / math.sqrt(-log_delta)


def figures_at(mu: float, *, epsilon: float | None, log_delta: float | None, prefix: str = "") -> dict[str, float]:
    """Compute δ at ε, and ε at δ, of μ-Gaussian differential privacy, as outputs; both are rounded up.

    Args:
        mu: μ ≥ 0; if infinite, δ is 1 and ε is infinite.
        epsilon: ε at which δ is computed; None to leave out this δ.
        log_delta: ln δ at which ε is computed; None to leave out this ε.
        prefix: prefix of the names of the outputs.

    Returns:
        `delta` and its decimal logarithm if ε is given, and `epsilon` if ln δ is given, each with the prefix.
    """
    upper_log_delta, upper_epsilon = 0.0, math.inf  # for an infinite μ
    is_private = math.isfinite(mu)
    outputs: dict[str, float] = {}
    if epsilon is not None:
        if is_private:
            upper_log_delta = gaussian_pair(mu).log_delta_bounds(epsilon).upper
        outputs |= delta_outputs(upper_log_delta, f"{prefix}delta")
    if log_delta is not None:
        if is_private:
            upper_epsilon = gaussian_pair(mu).epsilon(log_delta).upper
        outputs[f"{prefix}epsilon"] = upper_epsilon
    return outputs


# At a target --------------------------------------------------------------------------------------------------------
def constants_at(*, epsilon: float, log_delta: float, relation: Relation) -> dict[str, float]:
    """Compute the least constants c with which the noise of Theorem 4.1 of Bietti et al. meets a target.

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        relation: neighbouring relation of the clients.

    Returns:
        `least_constant` for this target, and `sharp_constant` for all targets with at most its ratio ε/ln(1/δ).
    """
    factor = sensitivity_factor(relation)
    return {
        "least_constant": least_constant(epsilon=epsilon, log_delta=log_delta, sensitivity_factor=factor),
        "sharp_constant": sharp_constant(ratio=epsilon / -log_delta, sensitivity_factor=factor),
    }


@formula(given="A run with all clients in every round, its target, and the constant to print (4) with.")
def printed_noise(
    *,
    clients: Clients,
    rounds: Rounds,
    clipping_norm: ClippingNorm,
    epsilon: Annotated[Epsilon, SQUARES],
    log_delta: GivenLogDelta,
    noise_constant: Annotated[float, NOISE_CONSTANT],
    relation: Annotated[Relation, RELATION] = "replace-one",
    reading: Reading = "printed",
) -> Outputs:
    """Compute the noise σ_ζ on the mean that Bietti et al. prescribe for a target, and the privacy that it gives.

    Args:
        clients: number N of clients.
        rounds: number n of rounds.
        clipping_norm: bound C on the ℓ2 norm of a message; σ_ζ has its unit.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        noise_constant: constant c of the printed noise, equation (4).
        relation: neighbouring relation of the clients.
        reading: `printed` for equation (4) of the paper, `corrected` for the least σ_ζ that is sufficient.

    Returns:
        `noise_std`: σ_ζ.
        `gaussian_dp_mu`: the parameter μ of Gaussian differential privacy of the run with this noise.
        `achieved_delta` at ε and `achieved_epsilon` at δ, and the least constants c (`constants_at`).
    """
    factor = sensitivity_factor(relation)
    target: Fields = {"epsilon": epsilon, "log_delta": log_delta}
    run: Fields = {"clipping_norm": clipping_norm, "rounds": rounds}
    if reading == "printed":
        std = noise_with_constant(constant=noise_constant, contributions=clients, **run, **target)
    else:
        std = least_noise_std(clients=clients, sensitivity_factor=factor, **run, **target)
    mu = full_participation_mu(noise_std=std, clients=clients, sensitivity_factor=factor, **run)
    figures = figures_at(mu, prefix="achieved_", **target)
    return {"noise_std": std, "gaussian_dp_mu": mu, **figures, **constants_at(relation=relation, **target)}


@formula(given="A run with all clients in every round, and its target.")
def least_noise(
    *,
    clients: Clients,
    rounds: Rounds,
    clipping_norm: ClippingNorm,
    epsilon: Annotated[Epsilon, SQUARES],
    log_delta: GivenLogDelta,
    relation: Annotated[Relation, RELATION] = "replace-one",
) -> Outputs:
    """Compute the least noise σ_ζ on the mean for the target, and a sufficient one in closed form.

    Args:
        clients: number N of clients.
        rounds: number n of rounds.
        clipping_norm: bound C on the ℓ2 norm of a message; σ_ζ has its unit.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        relation: neighbouring relation of the clients.

    Returns:
        `noise_std`: the least σ_ζ.
        `sufficient_noise_std`: a sufficient σ_ζ in closed form.
        `sensitivity`: the largest change of the mean by one client.
        `least_constant` and `sharp_constant`, with which the noise of Theorem 4.1 suffices.
    """
    factor = sensitivity_factor(relation)
    target: Fields = {"epsilon": epsilon, "log_delta": log_delta}
    run: Fields = {"clipping_norm": clipping_norm, "clients": clients, "rounds": rounds}
    run["sensitivity_factor"] = factor
    return {
        "noise_std": least_noise_std(**run, **target),
        "sufficient_noise_std": sufficient_noise_std(**run, **target),
        **constants_at(relation=relation, **target),
        "sensitivity": factor * clipping_norm / clients,
    }


# At a noise ---------------------------------------------------------------------------------------------------------
@request
class CurvePoint:
    """A point at which a privacy curve is evaluated: an ε, a δ (or log10 δ), or both."""

    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    checks: ClassVar[Checks] = (lambda point: point.log_delta,)  # raises an error for an invalid δ

    @property
    def log_delta(self) -> float | None:
        """Natural logarithm of δ, or None if only ε is given."""
        has_delta = self.delta is not None or self.log10_delta is not None
        if self.epsilon is not None and not has_delta:
            return None
        return natural_log_delta(self.delta, self.log10_delta)


@formula(given="A run with all clients in every round at its noise, and where to read its curve: at ε, at δ, or both.")
def privacy_at_noise(
    *,
    clients: Clients,
    rounds: Rounds,
    clipping_norm: ClippingNorm,
    noise_std: Annotated[float, SHARED_NOISE_STD],
    point: CurvePoint,
    relation: Annotated[Relation, RELATION] = "replace-one",
) -> Outputs:
    """Compute μ of Gaussian differential privacy of a run with all clients in every round, and δ at ε or ε at δ.

    Args:
        clients: number N of clients.
        rounds: number n of rounds.
        clipping_norm: bound C on the ℓ2 norm of a message, in the unit of σ_ζ.
        noise_std: σ_ζ, standard deviation of the noise on the mean.
        point: ε, δ or both, at which the privacy curve is evaluated.
        relation: neighbouring relation of the clients.

    Returns:
        `gaussian_dp_mu`, with δ at the given ε and ε at the given δ, rounded up.
    """
    mu = full_participation_mu(
        noise_std=noise_std,
        clipping_norm=clipping_norm,
        clients=clients,
        rounds=rounds,
        sensitivity_factor=sensitivity_factor(relation),
    )
    return {"gaussian_dp_mu": mu, **figures_at(mu, epsilon=point.epsilon, log_delta=point.log_delta)}


# Theorems -----------------------------------------------------------------------------------------------------------


def _compare_constant(*, noise_constant: float, epsilon: float, log_delta: float, relation: Relation) -> Sides:
    """Check that the constant c of the request is at least the least constant that is valid at the target.

    Args:
        noise_constant: the constant c of the request.
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        relation: neighbouring relation of the clients.

    Returns:
        c, the least valid constant, and whether c is at least this constant.
    """
    factor = sensitivity_factor(relation)
    least = least_constant(epsilon=epsilon, log_delta=log_delta, sensitivity_factor=factor)
    return Sides.at_least(noise_constant, least)


CONSTANT_SUFFICES = Condition(
    "constant-suffices",
    (
        "The noise constant c is at least kε/(μ*√ln(1/δ)), the least one that is valid at the target (ε, δ). Here k is "
        "2 for a client that is replaced, and 1 for one that is zeroed. μ* is the largest parameter of Gaussian "
        "differential privacy that gives (ε, δ)"
    ),
    _compare_constant,
)
NORM_BOUNDED = Condition(
    "clipped-messages", "every client's message is clipped to the ℓ2 norm C before the server averages the messages"
)

THEOREM_4_1 = Theorem(
    id="bietti.4.1",
    title="The noise of PPSGD, all clients in every round",
    statement=(
        "Noise σ_ζ ≥ cC√(n ln(1/δ))/(Nε) makes PPSGD (ε, δ)-jointly private, with an absolute constant c. Here N "
        "clients take part in each of n rounds, and C is the clipping norm. We read it for ε ≤ r ln(1/δ). There "
        "c = k(1 + √(1 + r))/√2 suffices, where k is 2 for a client that is replaced, and 1 for one that is zeroed"
    ),
    source=Source("bietti2022", "Theorem 4.1, (4)"),
    status=Status.PROVED,
    conditions=(CONSTANT_SUFFICES, NORM_BOUNDED),
    errata=(NO_CONSTANT, PROOF_LOSES, SENSITIVITY),
    constants="hidden",
    formula=printed_noise,
    examples=(
        {
            "clients": 100,
            "rounds": 10,
            "clipping_norm": 1.0,
            "epsilon": 5.0,
            "delta": 1e-5,
            "noise_constant": 3.414213562373096,
        },
    ),
)
LEAST_NOISE = Theorem(
    id="epsilond.personalized-sgd-noise",
    title="The least noise of PPSGD, all clients in every round",
    statement=(
        "The least noise for (ε, δ) is σ_ζ = kC√n/(N μ*(ε, δ)), for N clients in each of n rounds and the clipping "
        "norm C. Here μ* is the largest parameter of Gaussian differential privacy that gives (ε, δ). The factor k is "
        "2 for a client that is replaced, and 1 for one that is zeroed. Clients with messages that differ by the same "
        "vector in every round attain the bound, so no smaller noise is sufficient"
    ),
    source=Source("epsilond", "accountants/theorems/papers/bietti/noise.py"),
    status=Status.PROVED,
    conditions=(NORM_BOUNDED,),
    formula=least_noise,
    examples=({"clients": 1000, "rounds": 100, "clipping_norm": 1.0, "epsilon": 1.0, "delta": 1e-5},),
)
ACHIEVED = Theorem(
    id="epsilond.personalized-sgd-privacy",
    title="The privacy of PPSGD at its noise, all clients in every round",
    statement=(
        "n rounds of N clients with noise σ_ζ are exactly kC√n/(Nσ_ζ)-Gaussian differentially private against all "
        "other clients. Here C is the clipping norm. The factor k is 2 for a client that is replaced, and 1 for one "
        "that is zeroed"
    ),
    source=Source("epsilond", "accountants/theorems/papers/bietti/noise.py"),
    status=Status.PROVED,
    conditions=(NORM_BOUNDED,),
    formula=privacy_at_noise,
    examples=({"clients": 1000, "rounds": 300, "clipping_norm": 1.0, "noise_std": 0.01, "delta": 1e-4},),
)
THEOREMS: tuple[Theorem, ...] = (THEOREM_4_1, LEAST_NOISE, ACHIEVED)
