"""The explicit excess-risk bound of `explicit_bound.py` for clients that differ, and for losses that are not smooth.

Clients. Client i has n_i records and draws K_i of them. Its losses are L_i-Lipschitz after multiplication by its weight
p_i N (Appendix B). Its noise has standard deviation σ_i. The server averages the messages of M uniform clients, where M
may be random. Let w_i² be the variance within client i, and h_i its mean gradient. Conditioning on the clients gives
exactly

    V² = E[1/M] · mean_i(a_i w_i²)  +  c · mean_i|h_i − h̄|²  +  E[1/M] · d · mean_i(σ_i²)

with a_i = (n_i − K_i)/((n_i − 1)K_i) and c = (1 − (E[1/M]⁻¹ − 1)/(N − 1))E[1/M]. As w_i² + |h_i|² ≤ L_i², the sum of
the first two terms is at most mean_i(L_i² max{a_i E[1/M], c}). A record of client i is drawn with probability
(M/N)(K_i/n_i), and then shifts the step by at most 2L_iη/(MK_i). Its influence on its own client's loss is thus
2L_i²η/(Nn_i), and the stability has mean_i(L_i²/n_i)/N in place of L²/(Nn). The rest of the proof depends on the mean
loss only, which is β-smooth for any weights. However, two runs on the same batch stay together only if ηβ_i ≤ 1 for the
smoothness β_i = p_i N β of each weighted loss.

Envelope. The bound is applied to the envelope f_b of every record's loss (b-smooth, L_i-Lipschitz, `envelope.py`), with
u a minimiser of F itself. It uses F̂_b(u) ≤ F̂(u) and F ≤ F_b + mean_i(L_i²)/(2b). At x = ηb in (0, 1) and μ = 0, the
variance and this gap are (η/2)(V²/(1 − x) + G²/x) with G² = mean_i(L_i²). The sum is least at x = G/(G + V), where it
is (η/2)(V + G)².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    ClientGroup,
    ParticipationCount,
    ParticipationMoments,
    group_count_faults,
    loss_scales,
    participation_counts,
    participation_faults,
    read_members,
)
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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    EnvelopeChoice,
    best_envelope,
    enveloped_excess_risk,
    on_envelope,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import (
    EXCESS_RISK_BOUND,
    ExcessRisk,
    ExcessRiskProblem,
    best_step_size,
    excess_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import (
    Variance,
    client_factor,
    largest_variance,
    sampling_factor,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import averaging_ratio
from epsilond.accountants.verdict import Verdict


def unequal_variance(
    groups: Sequence[ClientGroup],
    *,
    participants: float,
    dimension: int,
    noise_std: float,
    used_once: bool = False,
    **bounds: float,
) -> Variance:
    """Return an upper bound on the variance of one averaged noisy gradient, by its parts.

    Args:
        groups: the clients, with the Lipschitz constants of their weighted losses.
        participants: M = 1/E[1/M_r] for the number M_r of participants in a round.
        dimension: number d of coordinates.
        noise_std: root mean square over clients of the noise per coordinate.
        used_once: whether every record is used once (a_i = 1/K_i); otherwise batches of the same data are drawn.
        bounds: `largest_within`, `largest_between` and `largest_total` of `largest_variance`.
    """
    if used_once:
        factors = [1.0 / group.batch_size for group in groups]
    else:
        factors = [sampling_factor(population=group.samples_per_client, drawn=group.batch_size) for group in groups]
    count = sum(group.clients for group in groups)
    sampling, clients = largest_variance(
        groups,
        factors=[factor / participants for factor in factors],
        between=client_factor(clients=count, participants=participants),
        **bounds,
    )
    return Variance(sampling=sampling, clients=clients, noise=dimension * noise_std * noise_std / participants)


@dataclass(frozen=True, kw_only=True)
class UnequalProblem(ExcessRiskProblem):
    """A problem with clients that differ.

    The inherited counts are the smallest ones; the Lipschitz constant is the largest. `noise_std` is the root mean
    square over clients. The gradient statistics have their largest values.
    """

    groups: tuple[ClientGroup, ...]

    @classmethod
    def of(cls, groups: Sequence[ClientGroup], **fields: Any) -> UnequalProblem:
        """Return the problem of groups of clients.

        Args:
            groups: the clients, with the Lipschitz constants of their weighted losses.
            fields: the fields of an equal problem that do not follow from the groups. `smoothness` is that of the mean
                of the weighted losses; it is infinite if the loss is not smooth, and `best_envelope` replaces it.
                `steepest` is the largest smoothness of one weighted loss, and `strong_convexity` the smallest.
        """
        fewest_samples = min(group.samples_per_client for group in groups)
        smallest_batch = min(group.batch_size for group in groups)
        return cls(
            clients=sum(group.clients for group in groups),
            samples_per_client=fewest_samples,
            batch_size=smallest_batch,
            lipschitz=max(group.lipschitz for group in groups),
            groups=tuple(groups),
            **fields,
        )

    def variance(self, noise_std: float) -> Variance:
        """Return the bound of the module text on the variance V² of one averaged noisy gradient, by its parts.

        A client's L_i² counts as variance within clients or between clients, according to the larger factor.
        """
        return unequal_variance(
            self.groups, participants=self.participants, dimension=self.dimension, noise_std=noise_std
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


@request
class GroupRun:
    """Clients of one kind, and the noise per coordinate of the mean of their weighted gradients."""

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: BatchSize
    noise_std: NoiseStd
    lipschitz: Lipschitz
    weight: Annotated[float, WEIGHT] = 1.0


@request
class FederatedRun:
    """A run of clients that may differ, of which a random number report in a round.

    If `smoothness` is absent, the run descends on the envelope.
    """

    client_groups: Annotated[tuple[GroupRun, ...], CLIENT_GROUPS]
    participation: Annotated[tuple[ParticipationCount, ...], PARTICIPATION]
    rounds: Rounds
    dimension: Dimension
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    envelope_smoothness: Annotated[float | None, ENVELOPE_SMOOTHNESS] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    def check(self) -> None:
        """Reject batches with K > n, an invalid distribution of participants, and an envelope of a smooth loss.

        Raises:
            InvalidInput: with every fault.
        """
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
        """Return the faults of a subclass."""
        return []

    @property
    def scales(self) -> tuple[float, ...]:
        """The factors p_i N of the groups' losses: weight times number of clients, 1 for equal weights."""
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
        """M = 1/E[1/M_r]."""
        return ParticipationMoments.of(participation_counts(self.participation)).mean

    @property
    def noise_std(self) -> float:
        """Root mean square over clients of the noise per coordinate."""
        clients = sum(group.clients for group in self.client_groups)
        return math.sqrt(math.fsum(group.clients / clients * group.noise_std**2 for group in self.client_groups))


@request
class FederatedInputs(FederatedRun):
    """A run of Algorithm 1 with a constant step size.

    If `smoothness` is absent, the run descends on the envelope. Other absent fields have nearly the best values.
    """

    initial_distance: InitialDistance
    step_size: Annotated[float | None, STEP_SIZE] = None

    def _more_faults(self) -> list[Fault]:
        """Return a fault if there is a step size but neither a smoothness nor an envelope."""
        if self.envelope_smoothness is None and self.smoothness is None and self.step_size is not None:
            return [Fault("/envelope_smoothness", "is needed where the step size is given")]
        return []

    @property
    def problem(self) -> UnequalProblem:
        """The run and its loss, except for the noise, the rounds, the step size and the envelope."""
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
        """The step size and the envelope, of the request or nearly the best; a smooth loss has its own smoothness."""
        problem = self.problem
        if self.smoothness is None and self.envelope_smoothness is None:
            return best_envelope(problem, noise_std=self.noise_std, rounds=self.rounds)
        smooth = problem if self.envelope_smoothness is None else on_envelope(problem, self.envelope_smoothness)
        step = self.step_size
        if step is None:
            step = best_step_size(smooth, noise_std=self.noise_std, rounds=self.rounds)
        return EnvelopeChoice(envelope_smoothness=smooth.smoothness, step_size=step)

    @property
    def descended(self) -> UnequalProblem | ExcessRiskProblem:
        """The problem that the run descends on: on the envelope, or for a smooth loss the loss itself."""
        if self.smoothness is not None:
            return self.problem
        return on_envelope(self.problem, self.choice.envelope_smoothness)

    @property
    def risk(self) -> ExcessRisk:
        """The bound at this choice."""
        step = self.choice.step_size
        if self.smoothness is not None:
            return excess_risk(self.problem, noise_std=self.noise_std, rounds=self.rounds, step_size=step)
        return enveloped_excess_risk(
            self.problem,
            envelope_smoothness=self.choice.envelope_smoothness,
            noise_std=self.noise_std,
            rounds=self.rounds,
            step_size=step,
        )


def bound(inputs: FederatedInputs) -> Outputs:
    """Return the bound, its terms, the step size, the envelope, and the growth of the weights of the output."""
    choice = inputs.choice
    envelope = {"envelope_smoothness": choice.envelope_smoothness} if inputs.smoothness is None else {}
    return {
        **inputs.risk.outputs,
        "step_size": choice.step_size,
        **envelope,
        "averaging_ratio": averaging_ratio(choice.step_size * inputs.descended.strong_convexity),
    }


EXACT_PROXIMAL_STEP = Condition(
    "exact-proximal-step",
    (
        "Without smoothness, gradients are those of the Moreau envelope at exact proximal points, evaluated inside "
        "the domain. An error of e in such a point shifts the gradient by at most b·e, which is not included"
    ),
)


def _step(inputs: FederatedInputs) -> Sides:
    """Check that ηβ_i ≤ 1 for every client's weighted loss, and that ηβ < 1 for the mean loss."""
    step, descended = inputs.choice.step_size, inputs.descended
    ratio = step / descended.largest_step
    return Sides(Verdict.of(ratio <= 1.0 and step * descended.smoothness < 1.0), ratio, 1.0)


FEDERATED_RISK = Theorem(
    id="epsilond.federated-sgd-excess-risk",
    title="Excess risk of noisy mini-batch SGD for clients that differ, smooth or not",
    statement=(
        "The bound is that of epsilond.mini-batch-sgd-excess-risk with V² ≤ mean_i(L_i² max{a_i/M, c}) + d "
        "mean_i(σ_i²)/M. The term mean_i(L_i²/n_i)/N replaces L²/(Nn). The L_i are weighted, and 1/M is "
        "averaged. Without smoothness it is on the Moreau envelope, with b for β and mean_i(L_i²)/(2b) more"
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
