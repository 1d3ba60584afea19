"""The variance term of the bound of PPSGD, and when to share nothing: Lemma 4.6 of Bietti et al."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    RELATION,
    SQUARES,
    Clients,
    DeltaFields,
    Epsilon,
    Lipschitz,
    Relation,
    Rounds,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    NOISE_CONSTANT,
    OPTIMUM_NORM,
    SHARED_GRADIENT_STD,
    Personalization,
    SharedDimension,
    personalization_value,
)
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorem import Outputs, Reading
from epsilond.accountants.theorems.papers.bietti.noise import least_constant


def least_noise_constant(*, epsilon: float, log_delta: float, relation: Relation) -> float:
    """Return the least constant c with which the noise formula of Bietti et al. meets a target (ε, δ).

    For n rounds, N clients and messages of norm at most G, the formula for the standard deviation of the noise is:

        σ_ζ = c G √(n ln(1/δ))/(Nε).

    The paper does not state c.

    Args:
        epsilon: ε of the target, in nats, positive.
        log_delta: log δ of the target, natural logarithm, negative.
        relation: relation of neighbouring data sets. A replaced record changes the messages by up to twice as much as
            an added or removed one.

    Returns:
        The constant c, a positive number without a unit, which depends on the target.
    """
    factor = sensitivity_factor(relation)
    return least_constant(epsilon=epsilon, log_delta=log_delta, sensitivity_factor=factor)


@request
class VarianceTermInputs(DeltaFields):
    """Equal clients with one optimum, all in every round, and a target.

    `gradient_std` is the standard deviation σ of one record's gradient; a batch has σ²/`batch_size`.
    """

    clients: Clients
    rounds: Rounds
    personalization: Personalization
    optimum_norm: Annotated[float, OPTIMUM_NORM]
    gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    batch_size: Annotated[int, BATCH_SIZE] = 1
    shared_dimension: SharedDimension
    lipschitz: Lipschitz
    epsilon: Annotated[Epsilon, SQUARES]
    relation: Annotated[Relation, RELATION] = "replace-one"
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None

    def check(self) -> None:
        """Check that α is a number from 0 to 1e100 or "unbounded"."""
        personalization_value(self.personalization)

    @property
    def gradient_variance(self) -> float:
        """The variance σ²/m of a batch."""
        return self.gradient_std**2 / self.batch_size

    def constant(self, reading: Reading) -> float:
        """Return the constant c of the noise with standard deviation c G √(n ln(1/δ))/(Nε), for the target (ε, δ).

        n is the number of rounds, N the number of clients, and G the largest norm of a message.

        Args:
            reading: default if the request has no constant. "printed" gives 1, because the paper hides c in an O(·).
                "corrected" gives the least constant that meets the target.

        Returns:
            The constant c, a positive number without unit.
        """
        if self.noise_constant is not None:
            return self.noise_constant
        if reading == "printed":
            return 1.0
        return least_noise_constant(epsilon=self.epsilon, log_delta=self.log_delta, relation=self.relation)

    def threshold(self, reading: Reading) -> float:
        """Return the number of rounds from which on clients that share nothing (α = 0) have the least variance term.

        By Lemma 4.6 of Bietti et al. it is:

            N(N − 1)σ²ε²/(c²d_wG² ln(1/δ)),

        with N clients, the variance σ² of a batch's gradient, the bound G on a gradient, and noise with the constant c
        on d_w shared coordinates.

        Args:
            reading: default of an absent constant c, as for `constant`.

        Returns:
            A number of rounds, not rounded to an integer.
        """
        ordered_pairs = float(self.clients) * (self.clients - 1)  # N(N − 1)
        sampling = ordered_pairs * self.gradient_variance * self.epsilon**2
        noise_scale = self.constant(reading) * self.lipschitz  # cG
        privacy = noise_scale * noise_scale * self.shared_dimension * -self.log_delta
        return sampling / privacy


def variance_term(inputs: VarianceTermInputs, reading: Reading = "printed") -> Outputs:
    """Compute the variance term of the risk bound of PPSGD at a weight α, at 0 and at ∞, and when α = 0 is best.

    α is the weight of the part of the model that all clients share; α = 0 shares nothing. The variance term is due to
    sampling and noise (Lemma 4.6 of Bietti et al.). With the variance σ² of a batch's gradient, let:

        s = σ²/(Nn),   r = c²G²d_w ln(1/δ)/(Nε)².

    For clients with the common optimum v, the term and its limit at α = ∞ are:

        ‖v‖ √(N((α + 1)s + αr)/(αN + 1)),   ‖v‖ √(s + r).

    Args:
        inputs: N clients, n rounds, the norm ‖v‖, the bound G on gradients, d_w shared coordinates, the target (ε, δ),
            and the constant c of the noise.
        reading: default of an absent c: 1 for "printed", the least constant for the target for "corrected".

    Returns:
        The variance terms at the given α, at 0 and at ∞, and the constant c of the noise. Further:
        `threshold_rounds`: number of rounds from which on α = 0 is best, with ε² as in equation (10).
        `appendix_threshold_rounds`: the same with ε as in Appendix B.3, which is wrong (erratum E-B4).
        `threshold_epsilon`: the ε up to which α = 0 is best at the least noise.
        `local_is_better`: whether the number of rounds is at least `threshold_rounds`.
    """
    clients, rounds = inputs.clients, inputs.rounds
    noise_scale = inputs.constant(reading) * inputs.lipschitz  # cG
    squared_noise = noise_scale * noise_scale * inputs.shared_dimension * -inputs.log_delta
    noise_part = squared_noise / (float(clients) * inputs.epsilon) ** 2  # r
    sampling_part = inputs.gradient_variance / (float(clients) * rounds)  # s

    def term_at(alpha: float) -> float:
        """Return the variance term at an α in [0, ∞]."""
        if math.isinf(alpha):
            return inputs.optimum_norm * math.sqrt(sampling_part + noise_part)
        weight = clients / (alpha * clients + 1.0)
        weighted_variance = weight * ((alpha + 1.0) * sampling_part + alpha * noise_part)
        return inputs.optimum_norm * math.sqrt(weighted_variance)

    threshold_rounds = inputs.threshold(reading)
    return {
        "variance_term": term_at(personalization_value(inputs.personalization)),
        "local_variance_term": term_at(0.0),
        "global_variance_term": term_at(math.inf),
        "noise_constant": inputs.constant(reading),
        "threshold_rounds": threshold_rounds,
        "appendix_threshold_rounds": threshold_rounds / inputs.epsilon,
        "threshold_epsilon": threshold_epsilon(inputs),
        "local_is_better": rounds >= threshold_rounds,
    }


def threshold_epsilon(inputs: VarianceTermInputs) -> float:
    """Return the ε up to which clients that share nothing (α = 0) have the least variance term, at the least noise.

    α is the weight of the part of the model that all clients share. By Lemma 4.6 of Bietti et al., α = 0 is best if and
    only if the noise is large enough. In terms of the parameter μ of Gaussian differential privacy of the run, which
    decreases with the noise, the condition is:

        μ ≤ kG √(nd_w/(N(N − 1)σ²)).

    The result is the ε that this largest μ gives at the δ of the target.

    Args:
        inputs: N clients, n rounds, variance σ² of a batch's gradient, bound G on gradients, d_w shared coordinates, δ,
            and the relation of neighbouring data sets, which gives k (2 for a replaced record, otherwise 1).

    Returns:
        An upper bound on this ε, in nats. It is infinite if the gradients have no variance or there is one client.
    """
    variance_of_pairs = float(inputs.clients) * (inputs.clients - 1) * inputs.gradient_variance
    if variance_of_pairs == 0.0:
        return math.inf
    scale = math.sqrt(float(inputs.rounds) * inputs.shared_dimension / variance_of_pairs)
    largest_mu = sensitivity_factor(inputs.relation) * inputs.lipschitz * scale
    return gaussian_pair(largest_mu).epsilon(inputs.log_delta).upper
