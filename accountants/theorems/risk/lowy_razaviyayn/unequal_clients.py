"""The explicit excess-risk bound of `lowy_excess_risk` for clients that differ, and for losses that are not smooth.

Clients. Client i has n_i records and draws K_i of them; its losses are L_i-Lipschitz, times its weight p_i N (Appendix
B); its noise has σ_i. The server averages the messages of M uniform clients, M perhaps random. With w_i²
the variance within client i and h_i its mean gradient, conditioning on the clients gives exactly

    V² = E[1/M] · mean_i(a_i w_i²)  +  c · mean_i|h_i − h̄|²  +  E[1/M] · d · mean_i(σ_i²)

a_i = (n_i − K_i)/((n_i − 1)K_i), c = (1 − (E[1/M]⁻¹ − 1)/(N − 1))E[1/M]. As w_i² + |h_i|² ≤ L_i², the first two are at
most mean_i(L_i² max{a_i E[1/M], c}). A record of client i is drawn with probability (M/N)(K_i/n_i), and then shifts the
step by at most 2L_iη/(MK_i): its influence on its own client's loss is 2L_i²η/(Nn_i), so that the stability has
mean_i(L_i²/n_i)/N for L²/(Nn). All else in the proof sees the mean loss only, which is β-smooth whatever the weights;
but two runs on the same batch stay together only if ηβ_i ≤ 1 for the smoothness p_i N β of each weighted loss.

Envelope. The bound for the envelope f_b of every record's loss (b-smooth, L_i-Lipschitz, `lowy_envelope`), with u a
minimiser of F itself: F̂_b(u) ≤ F̂(u), and F ≤ F_b + mean_i(L_i²)/(2b). At x = ηb in (0, 1) and μ = 0 the variance and
this gap are (η/2)(V²/(1 − x) + G²/x), G² = mean_i(L_i²): least at x = G/(G + V), where they are (η/2)(V + G)².
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import envelope_strong_convexity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.excess_risk import ExcessRisk, Problem, excess_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import golden_section
from epsilond.accountants.theorems.risk.lowy_razaviyayn.variance import (
    Variance,
    client_factor,
    sampling_factor,
)


def loss_scales(weights: Sequence[tuple[float, int]]) -> tuple[float, ...]:
    """p_i N of each group of clients, from (relative weight, clients) pairs; all 1 where the weights are equal.

    Σ p_i F_i is the plain mean of the losses p_i N f, and all that scales with a loss scales with it: Lipschitz
    constant, sensitivity and noise, smoothness, strong convexity (Appendix B, F-67, E-30).
    """
    clients = sum(count for _, count in weights)
    whole = math.fsum(weight * count for weight, count in weights)
    return tuple(weight * clients / whole for weight, _ in weights)


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Clients that are alike: how many, and each one's records, batch and (weighted) Lipschitz constant."""

    clients: int
    samples_per_client: int
    batch_size: int
    lipschitz: float


@dataclass(frozen=True, kw_only=True)
class UnequalProblem(Problem):
    """A problem whose clients differ. The inherited counts are the smallest, the Lipschitz constant the largest.

    `noise_std` is the root mean square over clients. The gradient statistics are not used: they are at their largest.
    """

    groups: tuple[Alike, ...]

    @classmethod
    def of(
        cls,
        groups: Sequence[Alike],
        *,
        participants: float,
        dimension: int,
        smoothness: float,
        strong_convexity: float,
        initial_distance: float,
        steepest: float | None = None,
    ) -> UnequalProblem:
        """From groups; `smoothness` is infinite where the loss has none, for `best_envelope` to replace.

        `smoothness` is that of the mean of the weighted losses, `steepest` the largest of one of them;
        `strong_convexity` the smallest of one of them.
        """
        return cls(
            clients=sum(group.clients for group in groups),
            participants=participants,
            samples_per_client=min(group.samples_per_client for group in groups),
            batch_size=min(group.batch_size for group in groups),
            dimension=dimension,
            lipschitz=max(group.lipschitz for group in groups),
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            steepest=steepest,
            groups=tuple(groups),
        )

    def variance(self, noise_std: float) -> Variance:
        """The bound of V² above. A client's L_i² counts as variance within or between clients, whichever is more."""
        between = client_factor(clients=self.clients, participants=self.participants)
        within: list[float] = []
        apart: list[float] = []
        for group in self.groups:
            factor = sampling_factor(population=group.samples_per_client, drawn=group.batch_size) / self.participants
            share = group.clients / self.clients * group.lipschitz * group.lipschitz
            within.append(share * factor if factor >= between else 0.0)
            apart.append(share * between if factor < between else 0.0)
        return Variance(
            sampling=math.fsum(within),
            clients=math.fsum(apart),
            noise=self.dimension * noise_std * noise_std / self.participants,
        )

    @property
    def influence(self) -> float:
        """mean_i(L_i²/n_i)/N."""
        parts = (
            group.clients / self.clients * group.lipschitz * group.lipschitz / group.samples_per_client
            for group in self.groups
        )
        return math.fsum(parts) / self.clients

    @property
    def squared_lipschitz(self) -> float:
        """mean_i(L_i²)."""
        return math.fsum(group.clients / self.clients * group.lipschitz**2 for group in self.groups)


@dataclass(frozen=True, kw_only=True)
class EnvelopedRisk(ExcessRisk):
    """The parts of the bound on the envelope, and by how much the loss may exceed it."""

    smoothing: float

    @property
    def terms(self) -> Mapping[str, float]:
        """The parts by name."""
        return {**super().terms, "smoothing": self.smoothing}


def on_envelope(problem: Problem, envelope_smoothness: float) -> Problem:
    """The problem that runs on the envelope: b-smooth, and less strongly convex."""
    kept = envelope_strong_convexity(strong_convexity=problem.strong_convexity, envelope_smoothness=envelope_smoothness)
    return replace(problem, smoothness=envelope_smoothness, strong_convexity=kept, steepest=None)


def enveloped_excess_risk(
    problem: Problem, *, envelope_smoothness: float, noise_std: float, rounds: int, step_size: float
) -> EnvelopedRisk:
    """The bound on E F(ŵ) − F* of a run on the envelope, for losses that need not be smooth, in loss units.

    Guarantees: the excess risk of the loss itself is at most `total`, if proximal points are exact.
    """
    seen = on_envelope(problem, envelope_smoothness)
    found = excess_risk(seen, noise_std=noise_std, rounds=rounds, step_size=step_size)
    return EnvelopedRisk(
        optimisation=found.optimisation,
        sampling=found.sampling,
        client_sampling=found.client_sampling,
        noise=found.noise,
        stability=found.stability,
        smoothing=problem.squared_lipschitz / (2.0 * envelope_smoothness),
    )


@dataclass(frozen=True, kw_only=True)
class EnvelopeChoice:
    """An envelope and a step size on it."""

    envelope_smoothness: float
    step_size: float


def best_envelope(problem: Problem, *, noise_std: float, rounds: int, quick: bool = False) -> EnvelopeChoice:
    """An envelope and a step size that make the bound small; for μ = 0 the least over both, to about 1e-4.

    The share x = ηb is the closed form above, and η is searched along it; if μ > 0, where b also sets the envelope's
    own strong convexity, x is searched too. `quick` takes closed forms only. Any choice is valid.
    """
    gradient = math.sqrt(problem.squared_lipschitz)
    spread = math.sqrt(problem.variance(noise_std).total)
    closed = min(gradient / (gradient + spread), 1.0 - 1e-6)
    slope = problem.influence * (rounds + 1) if problem.objective == "population" else 0.0
    start = problem.initial_distance / math.sqrt(rounds * ((gradient + spread) ** 2 + 2.0 * slope))
    reach = 0.5 * problem.strong_convexity * rounds * start
    if reach > 0.0:
        start *= math.asinh(reach) / reach

    def total(log_step: float, share: float) -> float:
        step = math.exp(log_step)
        return enveloped_excess_risk(
            problem, envelope_smoothness=share / step, noise_std=noise_std, rounds=rounds, step_size=step
        ).total

    def best_step(share: float) -> float:
        middle = math.log(start)
        return golden_section(lambda log_step: total(log_step, share), middle - 4.0, middle + 4.0)

    def chosen(share: float, step: float) -> EnvelopeChoice:
        return EnvelopeChoice(envelope_smoothness=share / step, step_size=step)

    if quick:
        return chosen(closed, start)
    candidates = [(closed, math.log(start)), (closed, best_step(closed))]
    if problem.strong_convexity > 0.0:
        middle = math.log(closed / (1.0 - closed))
        share = _share(golden_section(lambda x: total(best_step(_share(x)), _share(x)), middle - 6.0, middle + 3.0))
        candidates.append((share, best_step(share)))
    share, log_step = min(candidates, key=lambda pair: total(pair[1], pair[0]))
    return chosen(share, math.exp(log_step))


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))
