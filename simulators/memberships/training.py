"""Training with clipping, noise and canaries: DP-SGD on pooled records, or DP-FedAvg on clients.

In each round every member (a record, or a client) participates independently with probability q. The server sums the
contributions, each scaled down to norm C. It adds N(0, (zC)² I) and moves:

    w ← w − (η/(qB)) (Σ contributions + noise).

The number B of ordinary members is a public constant. A record contributes its gradient, a client its update of E full
gradient steps. A canary is an additional member, present or not; the guarantee is that of adding or removing one.
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
from epsilond.simulators.memberships.round_scores import round_scores
from epsilond.simulators.problems.kinds import ProblemSpec
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.problem import Floats, Records
from epsilond.simulators.problems.softmax import SoftmaxProblem
from epsilond.simulators.seeds import population_generator

Canary = Literal["gradient", "flipped-labels", "ordinary"]
Bools = npt.NDArray[np.bool_]

CANARY = Quantity(
    description="kind of the canaries. gradient: each sends a vector of norm clipping_norm along a coordinate "
    "of its own in every round, the worst case under clipping. flipped-labels: members of the data "
    "with opposite targets, or the next class. ordinary: unchanged members of the data"
)
CANARIES = Quantity(
    symbol="m",
    ge=1,
    le=5000,
    description="number of canaries. Each is in the data with probability ½, independently of the others",
)
LOCAL_STEP_SIZE = Quantity(gt=0, le=1e6, description="step size of a client's own gradient steps")
MOST_ENTRIES = 3e7
"""Largest number of entries in the contributions of one round of one run."""
DATA, EXTRA = 7, 8
"""Parts of the problem's seed for drawing the data and the canaries."""


@request
class CanaryTraining:
    """A training with clipping and noise, and the canaries that are put into its data.

    A member is a record or a client, as `unit` says. In each round every member participates with probability
    `sampling_rate`, and sends a contribution of norm at most `clipping_norm` C. The noise of their sum has standard
    deviation `noise_multiplier` times C. A client's contribution is its update after `local_steps` gradient steps.
    Canaries are additional members, whose presence an attacker guesses. `problem` has the data, drawn once from its
    own seed.
    """

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
        """Check that the canaries (members that an attacker tries to detect) fit the learning problem.

        Raises:
            InvalidInput: the members are records, but take several local steps; the problem restricts its models to a
                ball; there are too many canaries for the data or for the coordinates; or a round is too large.
        """
        if self.unit == "record" and self.local_steps != 1:
            raise InvalidInput.at("/local_steps", "are those of clients", allowed="= 1")
        if not isinstance(self.problem, UNCONSTRAINED):
            raise InvalidInput.at("/problem/kind", "needs its ball, but models of this training are not projected")
        problem = self.problem.build()
        if self.canary == "gradient":
            if self.canaries > problem.dimension:
                raise InvalidInput.at("/canaries", "need a separate coordinate each", allowed=f"≤ {problem.dimension}")
        else:
            members = problem.clients * (1 if self.unit == "client" else problem.samples_per_client)
            if self.canaries >= members:
                message = "are taken from the data, of which some must be left"
                raise InvalidInput.at("/canaries", message, allowed=f"≤ {members - 1}")
        if self.entries > MOST_ENTRIES:
            message = "with the members make a round too large"
            raise InvalidInput.at("/canaries", message, allowed=f"≤ {MOST_ENTRIES:g} numbers read in a round")

    @property
    def entries(self) -> float:
        """Number of array entries that one round of one run reads, which measures its cost."""
        problem = self.problem.build()
        records_of_canary = problem.samples_per_client if self.unit == "client" else 1
        ordinary = problem.clients * problem.samples_per_client
        return float((ordinary + self.canaries * records_of_canary) * problem.dimension * self.local_steps)

    @property
    def spec(self) -> Spec:
        """Privacy of the training as a spec, from which the accountant computes ε."""
        noisy: Spec = Gaussian(noise_multiplier=self.noise_multiplier)
        if self.sampling_rate < 1.0:
            noisy = Subsampled(sampling="poisson", rate=self.sampling_rate, mechanism=noisy)
        return Repeated(mechanism=noisy, times=self.rounds)


@dataclass(frozen=True)
class Members:
    """Members of a training: B ordinary ones and m canaries, each with K records (K = 1 if members are records).

    A canary is an additional member. An attacker guesses whether it is present.

    Attributes:
        problem: learning problem, with the losses and their gradients.
        ordinary: records of the ordinary members, (B, K, …).
        canaries: records of the canaries, (m, K, …); None if canaries have directions.
        directions: unit vectors along which gradient canaries contribute, (m, d); None if canaries have records.
    """

    problem: LinearModelProblem | SoftmaxProblem
    ordinary: Records
    canaries: Records | None
    directions: Floats | None

    @classmethod
    def of(cls, spec: CanaryTraining) -> Members:
        """Build the data and the canaries of a training, from the seed of its problem.

        Canaries are members that an attacker tries to detect. Gradient canaries have no records, and contribute along a
        coordinate of their own. Other canaries are taken from the data. With `flipped-labels` their targets are
        changed.

        Args:
            spec: parameters of the training.

        Returns:
            The learning problem, the ordinary members, and the canaries.
        """
        problem = spec.problem.build()
        seed = spec.problem.seed
        members = _members(problem.data(population_generator(seed, DATA)), spec.unit)
        if spec.canary == "gradient":
            return cls(problem, members, None, np.eye(spec.canaries, problem.dimension))

        # Divide the members at random into canaries and ordinary members.
        order = population_generator(seed, EXTRA).permutation(len(members.targets))
        canary_indices = order[: spec.canaries]
        ordinary_indices = np.sort(order[spec.canaries :])
        targets = members.targets[canary_indices]
        if spec.canary == "flipped-labels":
            targets = (targets + 1.0) % problem.classes if isinstance(problem, SoftmaxProblem) else -targets
        canaries = Records(members.features[canary_indices], targets)
        ordinary = Records(members.features[ordinary_indices], members.targets[ordinary_indices])
        return cls(problem, ordinary, canaries, None)

    def contributions(self, spec: CanaryTraining, models: Floats, records: Records) -> Floats:
        """Return each member's contribution to a round, scaled down to the clipping norm C.

        The contribution of a client is its update after local steps, and of a record its gradient.

        Args:
            spec: parameters of the training.
            models: models of S runs, (S, d), for d coordinates.
            records: records of the members.

        Returns:
            Contributions, (S, members, d).
        """
        start = models[:, None, :]
        if spec.unit == "record":
            updates = self.problem.mean_gradient(start, records)
        else:
            local = start
            for _ in range(spec.local_steps):
                local = local - spec.local_step_size * self.problem.mean_gradient(local, records)
            updates = start - local
        norms = np.sqrt(np.sum(np.square(updates), axis=-1, keepdims=True))
        # The floor only avoids a division by 0 for an update of norm 0.
        factors = np.minimum(1.0, spec.clipping_norm / np.maximum(norms, 1e-300))
        return np.asarray(updates * factors)

    def canary_contributions(self, spec: CanaryTraining, models: Floats) -> Floats:
        """Return the contributions of the m canaries to a round, as if all of them were present.

        A canary is a member that an attacker tries to detect.

        Args:
            spec: parameters of the training.
            models: models of S runs, (S, d), for d coordinates.

        Returns:
            Contributions, (S, m, d).
        """
        if self.directions is not None:
            contributions: Floats = spec.clipping_norm * self.directions
            return np.broadcast_to(contributions, (len(models), *contributions.shape))
        assert self.canaries is not None  # canaries have either directions or records
        return self.contributions(spec, models, self.canaries)

    def confidence(self, models: Floats) -> Floats:
        """Return the confidence of models in the canaries: how well each model fits each canary.

        A canary is a member that an attacker tries to detect. For class labels the confidence is the log odds of the
        label, otherwise minus the loss. A canary that contributes a fixed direction v acts like a record with the
        linear loss ⟨v, w⟩ of a model w.

        Args:
            models: models of S runs, (S, d), for d coordinates.

        Returns:
            The confidence, (S, m), for m canaries; larger values mean a better fit.
        """
        if self.directions is not None:
            return np.asarray(-models @ self.directions.T)
        assert self.canaries is not None  # canaries have either directions or records
        if isinstance(self.problem, SoftmaxProblem):
            return _log_odds(self.problem, models, self.canaries)
        predictions = np.einsum("mkd,sd->smk", self.canaries.features, models)
        if self.problem.loss.name == "logistic":
            return np.asarray(np.mean(self.canaries.targets * predictions, axis=-1))
        return np.asarray(-np.mean(self.problem.loss.value(predictions, self.canaries.targets), axis=-1))


@dataclass(frozen=True)
class TrainedRuns:
    """Results of S training runs with m canaries.

    A canary is a record, or a client, that is in the training data of some runs. An attacker tries to detect which.

    Attributes:
        members: which canaries were in the data, (S, m).
        models: final models, (S, d), for d coordinates.
        alignment: score of an attacker who sees all models, (S, m). It is the sum over the rounds of the log likelihood
            ratio of the noisy sum of contributions, with the canary against without it.
        confidence: how well the final model fits the canary, (S, m); for labels ±1 the log odds of the label.
    """

    members: Bools
    models: Floats
    alignment: Floats
    confidence: Floats


def train(spec: CanaryTraining, generators: list[np.random.Generator], members: Bools) -> TrainedRuns:
    """Train one model per generator, and score how likely each canary was in the data.

    In each round the server releases the noisy sum of the participants' clipped contributions, and changes the model by
    it. The attacker of the score `alignment` knows all ordinary members and every model, but neither the participants
    nor the noise. In each round, the noisy sum minus its expectation is compared with each canary's contribution, as if
    it were normal. If it is not normal, the attack is only weaker.

    Args:
        spec: parameters of the training.
        generators: one per run; S in all.
        members: which of the m canaries are in the data of each run, (S, m).

    Returns:
        The final models, with the scores of the canaries.
    """
    population = Members.of(spec)
    dimension = population.problem.dimension
    rate = spec.sampling_rate
    ordinary_count = population.ordinary.targets.shape[0]
    models = np.zeros((len(generators), dimension))
    scores = np.zeros(members.shape)
    noise_std = spec.noise_multiplier * spec.clipping_norm
    for _ in range(spec.rounds):
        normal = np.stack([generator.standard_normal(dimension) for generator in generators])
        ordinary_in, canaries_in = _draw_participants(generators, rate, ordinary_count, members)
        updates = population.contributions(spec, models, population.ordinary)
        canaries = population.canary_contributions(spec, models)

        total = np.einsum("sb,sbd->sd", ordinary_in, updates) + np.einsum("sm,smd->sd", canaries_in, canaries)
        released = total + noise_std * normal
        scores += round_scores(
            released,
            updates,
            canaries,
            rate=rate,
            noise_std=noise_std,
            has_own_directions=population.directions is not None,
        )
        # The divisor is the expected number of ordinary participants, which does not depend on the canaries.
        models = models - (spec.step_size / (rate * ordinary_count)) * released
    return TrainedRuns(members, models, scores, population.confidence(models))


def _draw_participants(
    generators: list[np.random.Generator], rate: float, ordinary: int, members: Bools
) -> tuple[Floats, Floats]:
    """Draw which ordinary members and which canaries participate in a round, in each run.

    Args:
        generators: one per run; S in all.
        rate: probability with which each member participates.
        ordinary: number B of ordinary members.
        members: which of the m canaries are in the data of each run, (S, m).

    Returns:
        1 for a participant and 0 for all others, of the ordinary members, (S, B), and of the canaries, (S, m).
    """
    canaries = members.shape[1]
    if rate >= 1.0:
        return np.ones((len(generators), ordinary)), members.astype(np.float64)
    uniforms = np.stack([generator.random(ordinary + canaries) for generator in generators])
    is_included = uniforms < rate
    ordinary_in = is_included[:, :ordinary]
    canaries_in = is_included[:, ordinary:] & members
    return ordinary_in.astype(np.float64), canaries_in.astype(np.float64)


def _members(records: Records, unit: Unit) -> Records:
    """Arrange the records of a data set by member; a member is a client or a single record.

    Args:
        records: records of N clients, (N, n, d), for n records of a client and d coordinates.
        unit: the kind of member.

    Returns:
        Records of each member, (N, n, d) for clients and (N n, 1, d) for records.
    """
    if unit == "client":
        return records
    features, targets = records.features, records.targets
    return Records(features.reshape(-1, 1, features.shape[-1]), targets.reshape(-1, 1))


def _log_odds(problem: SoftmaxProblem, models: Floats, records: Records) -> Floats:
    """Return the mean log odds of the labels over each canary's records, for a softmax model.

    The log odds of a label are its output minus the log of the sum of the exponentials of all other outputs.

    Args:
        problem: the problem, with the number of classes.
        models: models of S runs, (S, d), for d coordinates.
        records: records of the m canaries, (m, K, …), for K records of a canary.

    Returns:
        The mean log odds, (S, m).
    """
    weights = models.reshape(len(models), problem.classes, -1)
    outputs = np.einsum("mkd,scd->smkc", records.features, weights)
    labels = records.targets.astype(np.int64)[None, ..., None]
    label_indices = np.broadcast_to(labels, (*outputs.shape[:-1], 1))
    label_outputs = np.take_along_axis(outputs, label_indices, axis=-1)[..., 0]
    # The output of the label is left out of the sum over the other classes.
    np.put_along_axis(outputs, label_indices, -np.inf, axis=-1)
    return np.asarray(np.mean(label_outputs - logsumexp(outputs, axis=-1), axis=-1))
