"""The explicit excess-risk bound of `explicit_bound.py` for clients that differ, and for losses that are not smooth.

Clients. Client i has n_i records and draws K_i of them; its losses are L_i-Lipschitz, times its weight p_i N (Appendix
B); its noise has σ_i. The server averages the messages of M uniform clients, M perhaps random. With w_i²
the variance within client i and h_i its mean gradient, conditioning on the clients gives exactly

    V² = E[1/M] · mean_i(a_i w_i²)  +  c · mean_i|h_i − h̄|²  +  E[1/M] · d · mean_i(σ_i²)

a_i = (n_i − K_i)/((n_i − 1)K_i), c = (1 − (E[1/M]⁻¹ − 1)/(N − 1))E[1/M]. As w_i² + |h_i|² ≤ L_i², the first two are at
most mean_i(L_i² max{a_i E[1/M], c}). A record of client i is drawn with probability (M/N)(K_i/n_i), and then shifts the
step by at most 2L_iη/(MK_i): its influence on its own client's loss is 2L_i²η/(Nn_i), so that the stability has
mean_i(L_i²/n_i)/N for L²/(Nn). All else in the proof sees the mean loss only, which is β-smooth whatever the weights;
but two runs on the same batch stay together only if ηβ_i ≤ 1 for the smoothness p_i N β of each weighted loss.

Envelope. The bound for the envelope f_b of every record's loss (b-smooth, L_i-Lipschitz, `envelope.py`), with u a
minimiser of F itself: F̂_b(u) ≤ F̂(u), and F ≤ F_b + mean_i(L_i²)/(2b). At x = ηb in (0, 1) and μ = 0 the variance and
this gap are (η/2)(V²/(1 − x) + G²/x), G² = mean_i(L_i²): least at x = G/(G + V), where they are (η/2)(V + G)².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    ClientGroup,
    Participation,
    ParticipationCount,
    group_count_faults,
    loss_scales,
    participation_counts,
    participation_faults,
    read_members,
)
from epsilond.accountants.numerics.golden_section import golden_section
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    CONVEXITY_WITHIN_SMOOTHNESS,
    ENVELOPE_SMOOTHNESS,
    PARTICIPATION,
    SMOOTHNESS,
    STEP_SIZE,
    WEIGHT,
    BatchSize,
    Checks,
    Clients,
    Dimension,
    InitialDistance,
    Lipschitz,
    NoiseStd,
    Rounds,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import envelope_strong_convexity
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import (
    EXCESS_RISK_BOUND,
    ExcessRisk,
    Problem,
    best_step_size,
    excess_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.gradient_variance import (
    Variance,
    client_factor,
    largest_variance,
    sampling_factor,
)


@dataclass(frozen=True, kw_only=True)
class UnequalProblem(Problem):
    """A problem whose clients differ. The inherited counts are the smallest, the Lipschitz constant the largest.

    `noise_std` is the root mean square over clients. The gradient statistics are not used: they are at their largest.
    """

    groups: tuple[ClientGroup, ...]

    @classmethod
    def of(
        cls,
        groups: Sequence[ClientGroup],
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
        sampling, clients = largest_variance(
            self.groups,
            factors=[
                sampling_factor(population=group.samples_per_client, drawn=group.batch_size) / self.participants
                for group in self.groups
            ],
            between=client_factor(clients=self.clients, participants=self.participants),
        )
        return Variance(
            sampling=sampling,
            clients=clients,
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
        """The mean over clients of L_i²."""
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
        return _least(lambda log_step: total(log_step, share), middle - 4.0, middle + 4.0)

    def chosen(share: float, step: float) -> EnvelopeChoice:
        return EnvelopeChoice(envelope_smoothness=share / step, step_size=step)

    if quick:
        return chosen(closed, start)
    candidates = [(closed, math.log(start)), (closed, best_step(closed))]
    if problem.strong_convexity > 0.0:
        middle = math.log(closed / (1.0 - closed))
        share = _share(_least(lambda x: total(best_step(_share(x)), _share(x)), middle - 6.0, middle + 3.0))
        candidates.append((share, best_step(share)))
    share, log_step = min(candidates, key=lambda pair: total(pair[1], pair[0]))
    return chosen(share, math.exp(log_step))


def _least(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where `cost` is least, to about 1e-5 of the interval."""
    return golden_section(cost, low, high, width=0.0, most=24)


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


@request
class GroupRun:
    """Clients that are alike, and their noise per coordinate of the mean of their (weighted) gradients."""

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: BatchSize
    noise_std: NoiseStd
    lipschitz: Lipschitz
    weight: Annotated[float, WEIGHT] = 1.0


@request
class FederatedRun:
    """A run of clients that may differ, a random number of which report. Absent: smoothness means the envelope."""

    client_groups: Annotated[tuple[GroupRun, ...], CLIENT_GROUPS]
    participation: Annotated[tuple[ParticipationCount, ...], PARTICIPATION]
    rounds: Rounds
    dimension: Dimension
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    envelope_smoothness: Annotated[float | None, ENVELOPE_SMOOTHNESS] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    def check(self) -> None:
        """K ≤ n in every group, a law of participation, an envelope or a smooth loss."""
        read_members(self, "client_groups", GroupRun)
        read_members(self, "participation", ParticipationCount)
        faults = group_count_faults(self.client_groups)
        faults += [
            Fault(f"/client_groups/{place}/batch_size", "exceeds the client's records", f"≤ {group.samples_per_client}")
            for place, group in enumerate(self.client_groups)
            if group.batch_size > group.samples_per_client
        ]
        clients = sum(group.clients for group in self.client_groups)
        faults += participation_faults(self.participation, clients=clients)
        if self.smoothness is not None and self.envelope_smoothness is not None:
            faults.append(Fault("/envelope_smoothness", "a smooth loss needs no envelope"))
        faults += self._more_faults()
        if faults:
            raise InvalidInput(*faults)

    def _more_faults(self) -> list[Fault]:
        return []

    @property
    def scales(self) -> tuple[float, ...]:
        """p_i N of each group."""
        return loss_scales([(group.weight, group.clients) for group in self.client_groups])

    @property
    def groups(self) -> list[ClientGroup]:
        """The clients, with the Lipschitz constants of their weighted losses."""
        return [
            ClientGroup(
                clients=group.clients,
                samples_per_client=group.samples_per_client,
                batch_size=group.batch_size,
                lipschitz=scale * group.lipschitz,
            )
            for group, scale in zip(self.client_groups, self.scales, strict=True)
        ]

    @property
    def mean_participants(self) -> float:
        """1/E[1/M_r]."""
        return Participation.of(participation_counts(self.participation)).mean

    @property
    def noise_std(self) -> float:
        """Root mean square over clients."""
        clients = sum(group.clients for group in self.client_groups)
        return math.sqrt(math.fsum(group.clients / clients * group.noise_std**2 for group in self.client_groups))


@request
class FederatedInputs(FederatedRun):
    """A run of Algorithm 1 with a constant step size. Absent: smoothness means the envelope, the rest is the best."""

    initial_distance: InitialDistance
    step_size: Annotated[float | None, STEP_SIZE] = None

    def _more_faults(self) -> list[Fault]:
        if self.envelope_smoothness is None and self.smoothness is None and self.step_size is not None:
            return [Fault("/envelope_smoothness", "is needed where the step size is given")]
        return []

    @property
    def problem(self) -> UnequalProblem:
        """Everything but noise, rounds, step size and envelope."""
        return UnequalProblem.of(
            self.groups,
            participants=self.mean_participants,
            dimension=self.dimension,
            smoothness=math.inf if self.smoothness is None else self.smoothness,
            strong_convexity=min(self.scales) * self.strong_convexity,
            initial_distance=self.initial_distance,
            steepest=None if self.smoothness is None else max(self.scales) * self.smoothness,
        )

    @property
    def choice(self) -> EnvelopeChoice:
        """Step size and envelope, those not given being the best; for a smooth loss its own smoothness."""
        problem = self.problem
        if self.smoothness is None and self.envelope_smoothness is None:
            return best_envelope(problem, noise_std=self.noise_std, rounds=self.rounds)
        seen = problem if self.envelope_smoothness is None else on_envelope(problem, self.envelope_smoothness)
        step = self.step_size
        if step is None:
            step = best_step_size(seen, noise_std=self.noise_std, rounds=self.rounds)
        return EnvelopeChoice(envelope_smoothness=seen.smoothness, step_size=step)

    @property
    def risk(self) -> ExcessRisk:
        """The bound at that choice."""
        choice = self.choice
        if self.smoothness is not None:
            return excess_risk(self.problem, noise_std=self.noise_std, rounds=self.rounds, step_size=choice.step_size)
        return enveloped_excess_risk(
            self.problem,
            envelope_smoothness=choice.envelope_smoothness,
            noise_std=self.noise_std,
            rounds=self.rounds,
            step_size=choice.step_size,
        )


def bound(inputs: FederatedInputs) -> Outputs:
    """The bound, its terms, the step size, the envelope and the ratio of successive weights of the output's average."""
    choice, risk = inputs.choice, inputs.risk
    seen = inputs.problem if inputs.smoothness is not None else on_envelope(inputs.problem, choice.envelope_smoothness)
    left = 1.0 - choice.step_size * seen.strong_convexity
    envelope = {} if inputs.smoothness is not None else {"envelope_smoothness": choice.envelope_smoothness}
    return {
        "excess_risk": risk.total,
        **{f"{name}_term": value for name, value in risk.terms.items()},
        "step_size": choice.step_size,
        **envelope,
        "averaging_ratio": 1.0 / left if left > 0.0 else math.inf,
    }


EXACT_PROXIMAL_STEP = Condition(
    "exact-proximal-step",
    "without smoothness: gradients are those of the Moreau envelope, at exact proximal points (an error of e in one "
    "shifts the gradient by at most b·e, which is not charged), evaluated inside the domain",
)


def _step(inputs: FederatedInputs) -> Sides:
    """The largest ηβ_i, which may be 1 only where that of the mean loss is below."""
    choice = inputs.choice
    seen = inputs.problem if inputs.smoothness is not None else on_envelope(inputs.problem, choice.envelope_smoothness)
    left = choice.step_size / seen.largest_step
    return Sides(left <= 1.0 and choice.step_size * seen.smoothness < 1.0, left, 1.0)


FEDERATED_RISK = Theorem(
    id="epsilond.federated-sgd-excess-risk",
    title="Excess risk of noisy mini-batch SGD for clients that differ, smooth or not",
    statement=(
        "the bound of epsilond.mini-batch-sgd-excess-risk with V² ≤ mean_i(L_i² max{a_i/M, c}) + d mean_i(σ_i²)/M and "
        "mean_i(L_i²/n_i)/N for L²/(Nn), L_i weighted, 1/M averaged; without smoothness on the Moreau envelope, b for "
        "β, and mean_i(L_i²)/(2b) more"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/unequal_clients.py"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-size", "η β < 1, β that of the envelope if there is one, and η p_i N β ≤ 1 for every weight", _step
        ),
        *(condition for condition in EXCESS_RISK_BOUND.conditions if not condition.checked and condition.id != "loss"),
        Condition(
            "loss",
            "every record's loss is μ-strongly convex (μ may be 0) and L_i-Lipschitz on the domain, and β-smooth where "
            "a smoothness is given",
        ),
        EXACT_PROXIMAL_STEP,
    ),
    inputs=FederatedInputs,
    formula=bound,
    examples=(
        {
            "client_groups": [
                {"clients": 900, "samples_per_client": 100, "batch_size": 10, "noise_std": 0.3, "lipschitz": 1.0},
                {
                    "clients": 100,
                    "samples_per_client": 1000,
                    "batch_size": 100,
                    "noise_std": 0.05,
                    "lipschitz": 1.0,
                    "weight": 3.0,
                },
            ],
            "participation": [
                {"participants": 50, "probability": 0.5},
                {"participants": 100, "probability": 0.5},
            ],
            "rounds": 200,
            "dimension": 20,
            "initial_distance": 1.0,
        },
    ),
)


THEOREMS: tuple[Theorem, ...] = (FEDERATED_RISK,)
