"""The theorem of the explicit excess-risk bound for clients that differ, smooth or on the envelope."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    ENVELOPE_SMOOTHNESS,
    PARTICIPATION,
    SMOOTHNESS,
    STEP_SIZE,
    WEIGHT,
    BatchSize,
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
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import (
    Participation,
    ParticipationCount,
    participation_counts,
    participation_faults,
    read_members,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.excess_risk import ExcessRisk, excess_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.step_size import EXCESS_RISK_BOUND, best_step_size
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import (
    Alike,
    EnvelopeChoice,
    UnequalProblem,
    best_envelope,
    enveloped_excess_risk,
    loss_scales,
    on_envelope,
)

MOST_GROUPS = 1000


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
class FederatedInputs:
    """A run of Algorithm 1 with a constant step size. Absent: smoothness means the envelope, the rest is the best."""

    client_groups: Annotated[tuple[GroupRun, ...], CLIENT_GROUPS]
    participation: Annotated[tuple[ParticipationCount, ...], PARTICIPATION]
    rounds: Rounds
    dimension: Dimension
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    initial_distance: InitialDistance
    step_size: Annotated[float | None, STEP_SIZE] = None
    envelope_smoothness: Annotated[float | None, ENVELOPE_SMOOTHNESS] = None

    def check(self) -> None:
        """K ≤ n in every group, a law of participation, μ ≤ β, an envelope or a smooth loss."""
        read_members(self, "client_groups", GroupRun)
        read_members(self, "participation", ParticipationCount)
        if not 1 <= len(self.client_groups) <= MOST_GROUPS:
            raise InvalidInput.at("/client_groups", "has too few or too many groups", allowed=f"1 to {MOST_GROUPS}")
        check_scales(
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            initial_distance=self.initial_distance,
            step_size=self.step_size,
            envelope_smoothness=self.envelope_smoothness,
        )
        faults = [
            Fault(f"/client_groups/{place}/batch_size", "exceeds the client's records", f"≤ {group.samples_per_client}")
            for place, group in enumerate(self.client_groups)
            if group.batch_size > group.samples_per_client
        ]
        clients = sum(group.clients for group in self.client_groups)
        faults += participation_faults(self.participation, clients=clients)
        if self.smoothness is not None and self.strong_convexity > self.smoothness:
            faults.append(Fault("/strong_convexity", "exceeds the smoothness", f"≤ {self.smoothness:g}"))
        if self.smoothness is not None and self.envelope_smoothness is not None:
            faults.append(Fault("/envelope_smoothness", "a smooth loss needs no envelope"))
        if self.envelope_smoothness is None and self.smoothness is None and self.step_size is not None:
            faults.append(Fault("/envelope_smoothness", "is needed where the step size is given"))
        if faults:
            raise InvalidInput(*faults)

    @property
    def problem(self) -> UnequalProblem:
        """Everything but noise, rounds, step size and envelope."""
        scales = loss_scales([(group.weight, group.clients) for group in self.client_groups])
        moments = Participation.of(participation_counts(self.participation))
        return UnequalProblem.of(
            [
                Alike(
                    clients=group.clients,
                    samples_per_client=group.samples_per_client,
                    batch_size=group.batch_size,
                    lipschitz=scale * group.lipschitz,
                )
                for group, scale in zip(self.client_groups, scales, strict=True)
            ],
            participants=moments.mean,
            dimension=self.dimension,
            smoothness=math.inf if self.smoothness is None else self.smoothness,
            strong_convexity=min(scales) * self.strong_convexity,
            initial_distance=self.initial_distance,
            steepest=None if self.smoothness is None else max(scales) * self.smoothness,
        )

    @property
    def noise_std(self) -> float:
        """Root mean square over clients."""
        clients = sum(group.clients for group in self.client_groups)
        return math.sqrt(math.fsum(group.clients / clients * group.noise_std**2 for group in self.client_groups))

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


@in_doubles
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
