"""Training with clipping, noise and canaries: DP-SGD on pooled records, or DP-FedAvg on clients, runs side by side.

In each round every member (a record, or a client) takes part by itself with probability q. The server adds up what
those send, each scaled down to norm C, adds N(0, (zC)² I), and moves

    w ← w − (η/(qB)) (Σ contributions + noise),

B the number of ordinary members, a public constant. A record sends its gradient, a client its update of E full
gradient steps. A canary is one member more, present or not; the guarantee is that of adding or removing one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import RATE, UNIT, NoiseMultiplier, Quantity, Rounds, StepSize, Unit, request
from epsilond.accountants.quantities.algorithms import ClippingNorm, LocalSteps
from epsilond.accountants.specs import Gaussian, Repeated, Spec, Subsampled
from epsilond.simulators.algorithms.federation import UNCONSTRAINED
from epsilond.simulators.problems.kinds import ProblemSpec
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.problem import Floats, Records
from epsilond.simulators.problems.softmax import SoftmaxProblem
from epsilond.simulators.seeds import population_generator

Canary = Literal["gradient", "flipped-labels", "ordinary"]
Bools = npt.NDArray[np.bool_]

CANARY = Quantity(
    description="gradient: sends C times a coordinate of its own in every round, the worst that clipping admits; "
    "flipped-labels: members taken from the data, with the opposite targets, or the next class; ordinary: members as "
    "they are"
)
CANARIES = Quantity(symbol="m", ge=1, le=5000, description="canaries, each in the data by a fair coin of its own")
LOCAL_STEP_SIZE = Quantity(gt=0, le=1e6, description="step size of a client's own gradient steps")
MOST_ENTRIES = 3e7
"""Numbers in the contributions of one round of one run."""
DATA, EXTRA = 7, 8
"""Parts of the seed's population that data and canaries are drawn from."""


@request
class CanaryTraining:
    """A noisy training, and the canaries that are put into it. `problem` has the data, drawn once from its own seed."""

    problem: ProblemSpec
    unit: Annotated[Unit, UNIT]
    rounds: Rounds
    sampling_rate: Annotated[float, RATE] = 1.0
    clipping_norm: ClippingNorm
    noise_multiplier: NoiseMultiplier
    step_size: StepSize
    local_steps: LocalSteps = 1
    local_step_size: Annotated[float, LOCAL_STEP_SIZE] = 1.0
    canary: Annotated[Canary, CANARY] = "gradient"
    canaries: Annotated[int, CANARIES] = 1

    def check(self) -> None:
        """Directions for all gradient canaries, and local steps of clients only."""
        if self.unit == "record" and self.local_steps != 1:
            raise InvalidInput.at("/local_steps", "are those of clients", allowed="= 1")
        if not isinstance(self.problem, UNCONSTRAINED):
            raise InvalidInput.at("/problem/kind", "needs its ball; this training has none")
        built = self.problem.build()
        dimension = built.dimension
        members = built.clients * (1 if self.unit == "client" else built.samples_per_client)
        if self.canary != "gradient" and self.canaries >= members:
            message = "are taken from the data, of which some must be left"
            raise InvalidInput.at("/canaries", message, allowed=f"≤ {members - 1}")
        if self.canary == "gradient" and self.canaries > dimension:
            message = "need a coordinate each to move alone"
            raise InvalidInput.at("/canaries", message, allowed=f"≤ {dimension}")
        if self.entries > MOST_ENTRIES:
            message = "with the members make a round too large"
            raise InvalidInput.at("/canaries", message, allowed=f"≤ {MOST_ENTRIES:g} numbers read in a round")

    @property
    def entries(self) -> float:
        """Numbers read in one round of one run."""
        built = self.problem.build()
        each = built.samples_per_client if self.unit == "client" else 1
        ordinary = built.clients * built.samples_per_client
        return float((ordinary + self.canaries * each) * built.dimension * self.local_steps)

    @property
    def spec(self) -> Spec:
        """What was run, as the accountant knows it."""
        noisy: Spec = Gaussian(noise_multiplier=self.noise_multiplier)
        if self.sampling_rate < 1.0:
            noisy = Subsampled(sampling="poisson", rate=self.sampling_rate, mechanism=noisy)
        return Repeated(mechanism=noisy, times=self.rounds)


@dataclass(frozen=True)
class Members:
    """Ordinary members (B, K, d) with K records each, and canaries (m, K, d), or directions (m, d) that they send."""

    problem: LinearModelProblem | SoftmaxProblem
    ordinary: Records
    canaries: Records | None
    directions: Floats | None

    @classmethod
    def of(cls, asked: CanaryTraining) -> Members:
        """Data and canaries of the training."""
        problem = asked.problem.build()
        seed, d = asked.problem.seed, problem.dimension
        everyone = _members(problem.data(population_generator(seed, DATA)), asked.unit)
        if asked.canary == "gradient":
            return cls(problem, everyone, None, np.eye(asked.canaries, d))
        order = population_generator(seed, EXTRA).permutation(len(everyone.targets))
        taken, left = order[: asked.canaries], np.sort(order[asked.canaries :])
        targets = everyone.targets[taken]
        if asked.canary == "flipped-labels":
            targets = (targets + 1.0) % problem.classes if isinstance(problem, SoftmaxProblem) else -targets
        canaries = Records(everyone.features[taken], targets)
        return cls(problem, Records(everyone.features[left], everyone.targets[left]), canaries, None)

    def contributions(self, asked: CanaryTraining, models: Floats, records: Records) -> Floats:
        """What members send from models (S, d), scaled down to norm C: (S, B, d)."""
        start = models[:, None, :]
        if asked.unit == "record":
            sent = self.problem.mean_gradient(start, records)
        else:
            local = start
            for _ in range(asked.local_steps):
                local = local - asked.local_step_size * self.problem.mean_gradient(local, records)
            sent = start - local
        norms = np.sqrt(np.sum(np.square(sent), axis=-1, keepdims=True))
        return np.asarray(sent * np.minimum(1.0, asked.clipping_norm / np.maximum(norms, 1e-300)))

    def canaries_send(self, asked: CanaryTraining, models: Floats) -> Floats:
        """The same of the canaries, were they there: (S, m, d)."""
        if self.directions is not None:
            whole: Floats = asked.clipping_norm * self.directions
            return np.broadcast_to(whole, (len(models), *whole.shape))
        assert self.canaries is not None
        return self.contributions(asked, models, self.canaries)

    def confidence(self, models: Floats) -> Floats:
        """How well models (S, d) fit each canary: (S, m). Of labels ±1 the log odds of the label, else minus the loss.

        A gradient canary's loss is linear in the model.
        """
        if self.directions is not None:
            return np.asarray(-models @ self.directions.T)
        assert self.canaries is not None
        if isinstance(self.problem, SoftmaxProblem):
            return _log_odds(self.problem, models, self.canaries)
        predictions = np.einsum("mkd,sd->smk", self.canaries.features, models)
        if self.problem.loss.name == "logistic":
            return np.asarray(np.mean(self.canaries.targets * predictions, axis=-1))
        return np.asarray(-np.mean(self.problem.loss.value(predictions, self.canaries.targets), axis=-1))


@dataclass(frozen=True)
class TrainedRuns:
    """Of S runs: which canaries were in (S, m), the final models (S, d), and both kinds of score (S, m)."""

    members: Bools
    models: Floats
    alignment: Floats
    """Sum over rounds of the log-likelihood ratio of the canary in the round's sum: of all models the attacker sees."""
    confidence: Floats
    """`Members.confidence` of the final model."""


def train(asked: CanaryTraining, generators: list[np.random.Generator], members: Bools) -> TrainedRuns:
    """One run for each generator; `members` (S, m) says which canaries are in.

    The attacker of `alignment` knows all ordinary members and every model, and neither who was drawn nor the noise: it
    takes off what is sent on average, and holds the rest for normal. That need not be exact for its test to be valid.
    """
    known = Members.of(asked)
    d, q = known.problem.dimension, asked.sampling_rate
    ordinary = known.ordinary.targets.shape[0]
    models = np.zeros((len(generators), d))
    scores = np.zeros(members.shape)
    noise_std = asked.noise_multiplier * asked.clipping_norm
    for _ in range(asked.rounds):
        normal = np.stack([generator.standard_normal(d) for generator in generators])
        ordinary_in, canaries_in = _drawn(generators, q, ordinary, members)
        sent = known.contributions(asked, models, known.ordinary)
        told = known.canaries_send(asked, models)
        total = np.einsum("sb,sbd->sd", ordinary_in, sent) + np.einsum("sm,smd->sd", canaries_in, told)
        total = total + noise_std * normal
        expected = q * sent.sum(axis=1) + 0.5 * q * told.sum(axis=1)
        spread = q * (1.0 - q) * np.sum(np.square(sent), axis=(1, 2)) / d
        spread = spread + 0.5 * q * (1.0 - 0.5 * q) * _spread_of_canaries(known, told)
        scores += _log_ratio(total - expected, told, q, np.square(noise_std) + spread)
        models = models - (asked.step_size / (q * ordinary)) * total
    return TrainedRuns(members, models, scores, known.confidence(models))


def _spread_of_canaries(known: Members, told: Floats) -> Floats:
    """Mean square of the canaries' sum in a direction; of those with coordinates of their own none disturbs another."""
    if known.directions is not None:
        return np.zeros(len(told))
    return np.asarray(np.sum(np.square(told), axis=(1, 2)) / told.shape[-1])


def _log_ratio(rest: Floats, told: Floats, rate: float, variance: Floats) -> Floats:
    """log of the density of the round's sum with the canary a member over that without: (S, m)."""
    squares = np.sum(np.square(told), axis=-1)
    # Of every canary half was taken off as expected: its own half is put back.
    product = np.einsum("sd,smd->sm", rest, told) + 0.5 * rate * squares
    present = (product - 0.5 * squares) / variance[:, None]
    if rate >= 1.0:
        return np.asarray(present)
    return np.asarray(np.logaddexp(np.log(rate) + present, np.log1p(-rate)))


def _drawn(generators: list[np.random.Generator], rate: float, ordinary: int, members: Bools) -> tuple[Floats, Floats]:
    """Who takes part in a round, as 0 and 1: ordinary members (S, B), canaries (S, m)."""
    canaries = members.shape[1]
    if rate >= 1.0:
        return np.ones((len(generators), ordinary)), members.astype(np.float64)
    drawn = np.stack([generator.random(ordinary + canaries) for generator in generators]) < rate
    return drawn[:, :ordinary].astype(np.float64), (drawn[:, ordinary:] & members).astype(np.float64)


def _members(records: Records, unit: Unit) -> Records:
    """(N, n, d) to members: clients with n records, or every record by itself."""
    if unit == "client":
        return records
    features, targets = records.features, records.targets
    return Records(features.reshape(-1, 1, features.shape[-1]), targets.reshape(-1, 1))


def _log_odds(problem: SoftmaxProblem, models: Floats, records: Records) -> Floats:
    """Of the labels, mean over a member's records: (S, m)."""
    weights = models.reshape(len(models), problem.classes, -1)
    outputs = np.einsum("mkd,scd->smkc", records.features, weights)
    own = np.broadcast_to(records.targets.astype(np.int64)[None, ..., None], (*outputs.shape[:-1], 1))
    told = np.take_along_axis(outputs, own, axis=-1)[..., 0]
    np.put_along_axis(outputs, own, -np.inf, axis=-1)
    return np.asarray(np.mean(told - logsumexp(outputs, axis=-1), axis=-1))
