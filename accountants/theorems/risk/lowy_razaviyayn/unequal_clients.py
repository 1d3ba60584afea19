"""The explicit excess-risk bound of `explicit_bound.py` for clients that differ, and for losses that are not smooth.

Clients. Client i has n_i records and draws K_i of them. Its losses are L_i-Lipschitz after multiplication by its weight
p_i N (Appendix B). Its noise has standard deviation σ_i. The server averages the messages of M uniform clients, where M
may be random. Let w_i² be the variance within client i, and h_i its mean gradient. Conditioning on the clients gives
exactly:

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
from typing import Annotated, ClassVar

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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import averaging_ratio
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRisk,
    ExcessRiskProblem,
    best_step_size,
    excess_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_problem import UnequalProblem
from epsilond.accountants.verdict import Verdict


@request
class GroupRun:
    """Equal clients of a run: their number, records, batch, loss and noise.

    `noise_std` is per coordinate of the mean of a client's weighted gradients. `weight` is that of a client's loss in
    the objective, relative to the other groups.
    """

    clients: Clients
    samples_per_client: SamplesPerClient
    batch_size: BatchSize
    noise_std: NoiseStd
    lipschitz: Lipschitz
    weight: Annotated[float, WEIGHT] = 1.0


@request
class FederatedRun:
    """A run of clients that may differ, of which a random number report in a round.

    If `smoothness` is absent, the loss need not be smooth, and the run descends on its Moreau envelope.
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
        """Check the batches, the distribution of the number of participants, and that a smooth loss has no envelope.

        A Moreau envelope is a smooth approximation that replaces a loss that is not smooth.

        Raises:
            InvalidInput: a batch exceeds the client's number of records, the probabilities of participation are
                invalid, or a smooth loss has an envelope. The error lists all faults.
        """
        # Read the members of both lists first, as the checks below use their fields.
        read_members(self, "client_groups", GroupRun)
        read_members(self, "participation", ParticipationCount)

        faults = group_count_faults(self.client_groups)
        for index, group in enumerate(self.client_groups):
            if group.batch_size > group.samples_per_client:
                path = f"/client_groups/{index}/batch_size"
                faults.append(Fault(path, "exceeds the client's records", f"≤ {group.samples_per_client}"))
        clients = sum(group.clients for group in self.client_groups)
        faults += participation_faults(self.participation, clients=clients)
        if self.smoothness is not None and self.envelope_smoothness is not None:
            faults.append(Fault("/envelope_smoothness", "a smooth loss needs no envelope"))
        faults += self._more_faults()
        if faults:
            raise InvalidInput(*faults)

    def _more_faults(self) -> list[Fault]:
        """Return faults that a subclass finds; none here."""
        return []

    @property
    def scales(self) -> tuple[float, ...]:
        """The factors p_i N of the groups' losses: weight times number of clients, 1 for equal weights."""
        return loss_scales([(group.weight, group.clients) for group in self.client_groups])

    @property
    def groups(self) -> list[ClientGroup]:
        """The clients, with the Lipschitz constants of their weighted losses.

        The loss of a client with weight p_i is multiplied by p_i N for N clients, and so is its constant.
        """
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
        """The harmonic mean M = 1/E[1/M_r] of the number M_r of participants in a round."""
        return ParticipationMoments.of(participation_counts(self.participation)).mean

    @property
    def noise_std(self) -> float:
        """Root mean square over clients of the noise per coordinate."""
        clients = sum(group.clients for group in self.client_groups)
        shares_of_variance = (group.clients / clients * group.noise_std**2 for group in self.client_groups)
        return math.sqrt(math.fsum(shares_of_variance))


@request
class FederatedInputs(FederatedRun):
    """A run of noisy mini-batch SGD with a constant step size, on clients that may differ.

    If `smoothness` is absent, the run descends on the Moreau envelope of the loss. An absent step size or smoothness of
    the envelope is nearly the best one.
    """

    initial_distance: InitialDistance
    step_size: Annotated[float | None, STEP_SIZE] = None

    def _more_faults(self) -> list[Fault]:
        """Return a fault if there is a step size but neither a smoothness nor an envelope."""
        chooses_envelope = self.envelope_smoothness is None and self.smoothness is None
        if chooses_envelope and self.step_size is not None:
            return [Fault("/envelope_smoothness", "is needed where the step size is given")]
        return []

    @property
    def problem(self) -> UnequalProblem:
        """The clients and the weighted losses of noisy SGD, without its noise, rounds and step size.

        The loss of each group of clients has a weight, `scales`. A weighted loss has its smoothness and strong
        convexity multiplied by this weight.
        """
        # Infinite smoothness stands for losses that are not smooth.
        smoothness, largest_weighted_smoothness = math.inf, None
        if self.smoothness is not None:
            smoothness = self.smoothness
            largest_weighted_smoothness = max(self.scales) * self.smoothness
        return UnequalProblem.of(
            self.groups,
            participants=self.mean_participants,
            dimension=self.dimension,
            smoothness=smoothness,
            strong_convexity=min(self.scales) * self.strong_convexity,
            initial_distance=self.initial_distance,
            steepest=largest_weighted_smoothness,
        )

    @property
    def choice(self) -> EnvelopeChoice:
        """The step size, and the smoothness of the loss or of the Moreau envelope that the run minimises.

        Values that the request leaves out are chosen to nearly minimise the bound on the excess risk.
        """
        run: ExcessRiskProblem = self.problem
        # A loss that is not smooth needs an envelope, which is chosen together with the step size.
        if self.smoothness is None and self.envelope_smoothness is None:
            return best_envelope(run, noise_std=self.noise_std, rounds=self.rounds)
        if self.envelope_smoothness is not None:
            run = on_envelope(run, self.envelope_smoothness)
        step = self.step_size
        if step is None:
            step = best_step_size(run, noise_std=self.noise_std, rounds=self.rounds)
        return EnvelopeChoice(envelope_smoothness=run.smoothness, step_size=step)

    @property
    def descended(self) -> UnequalProblem | ExcessRiskProblem:
        """The problem whose loss the run minimises: the loss itself if it is smooth, otherwise its Moreau envelope."""
        if self.smoothness is not None:
            return self.problem
        return on_envelope(self.problem, self.choice.envelope_smoothness)

    @property
    def risk(self) -> ExcessRisk:
        """The bound on the excess risk of the run, at its step size and, unless the loss is smooth, Moreau envelope."""
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
    """Return the bound on the excess risk of noisy mini-batch SGD on clients that may differ, with its terms.

    Args:
        inputs: the clients, the loss and the run. A loss that is not smooth is replaced by its Moreau envelope. An
            absent step size or smoothness of the envelope is chosen to nearly minimise the bound.

    Returns:
        The bound and its terms, in units of the loss, and:
        `step_size`: the step size η.
        `envelope_smoothness`: smoothness of the envelope, unless the loss is smooth.
        `averaging_ratio`: ratio of the weights of successive iterates in the average that the run returns.
    """
    choice = inputs.choice  # of the step size and the envelope
    convexity = inputs.descended.strong_convexity  # of the loss that the run minimises
    ratio = averaging_ratio(choice.step_size * convexity)
    outputs: dict[str, float] = {**inputs.risk.outputs, "step_size": choice.step_size}
    if inputs.smoothness is None:
        outputs["envelope_smoothness"] = choice.envelope_smoothness
    outputs["averaging_ratio"] = ratio
    return outputs


EXACT_PROXIMAL_STEP = Condition(
    "exact-proximal-step",
    (
        "Without smoothness, gradients are those of the Moreau envelope at exact proximal points, evaluated inside "
        "the domain. An error of e in such a point shifts the gradient by at most b·e, which the bound does not "
        "include; b is the envelope's smoothness"
    ),
)


def _step(inputs: FederatedInputs) -> Sides:
    """Check that the step size η is short enough: ηβ_i ≤ 1 and ηβ < 1.

    β_i is the smoothness of the weighted loss of a client i, and β that of the mean loss or of its Moreau envelope.

    Args:
        inputs: the clients, the loss and the run.

    Returns:
        Whether both conditions hold, with the two sides of the first one: the largest ηβ_i, and 1.
    """
    step, descended = inputs.choice.step_size, inputs.descended
    ratio = step / descended.largest_step
    is_short = ratio <= 1.0 and step * descended.smoothness < 1.0
    return Sides(Verdict.of(is_short), ratio, 1.0)


FEDERATED_RISK = Theorem(
    id="epsilond.federated-sgd-excess-risk",
    title="Excess risk of noisy mini-batch SGD for clients that differ, smooth or not",
    statement=(
        "The bound is that of epsilond.mini-batch-sgd-excess-risk with V² ≤ mean_i(L_i² max{a_i/M, c}) + d "
        "mean_i(σ_i²)/M. The term mean_i(L_i²/n_i)/N replaces L²/(Nn). The L_i belong to the weighted losses, and "
        "1/M is the mean of 1/M_r. Without smoothness, the bound is that of the Moreau envelope, with its smoothness b "
        "for β, plus mean_i(L_i²)/(2b)"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/unequal_clients.py"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-size",
            "η β < 1 for the smoothness β of the loss or its envelope, and η p_i N β ≤ 1 for every client's weight p_i",
            _step,
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
