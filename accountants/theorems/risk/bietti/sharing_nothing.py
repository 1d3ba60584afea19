"""Lemma 4.6 of Bietti et al.: when sharing nothing has the least variance term, for clients of one optimum."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    DELTA,
    LOG10_DELTA,
    NOISE_CONSTANT,
    OPTIMUM_NORM,
    RELATION,
    SHARED_GRADIENT_STD,
    Clients,
    Epsilon,
    Lipschitz,
    Personalization,
    Relation,
    Rounds,
    SharedDimension,
    natural_log_delta,
    personalization_value,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.bietti.noise import least_constant
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.risk.bietti.full_participation import ADDITIVE

_TESTS = "tests/theorems/risk/bietti/test_personalization.py"


@request
class VarianceTermInputs:
    """Equal clients of one optimum, all in every round; `gradient_std` is one record's, of a batch of `batch_size`."""

    clients: Clients
    rounds: Rounds
    personalization: Personalization
    optimum_norm: Annotated[float, OPTIMUM_NORM]
    gradient_std: Annotated[float, SHARED_GRADIENT_STD]
    batch_size: Annotated[int, BATCH_SIZE] = 1
    shared_dimension: SharedDimension
    lipschitz: Lipschitz
    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    relation: Annotated[Relation, RELATION] = "replace-one"
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None

    def check(self) -> None:
        """An α, exactly one δ, scales whose squares are doubles."""
        personalization_value(self.personalization)
        natural_log_delta(self.delta, self.log10_delta)
        check_scales(
            epsilon=self.epsilon,
            lipschitz=self.lipschitz,
            optimum_norm=self.optimum_norm,
            gradient_std=self.gradient_std,
            noise_constant=self.noise_constant,
        )

    @property
    def log_delta(self) -> float:
        """ln δ."""
        return natural_log_delta(self.delta, self.log10_delta)

    @property
    def gradient_variance(self) -> float:
        """σ²/m."""
        return self.gradient_std**2 / self.batch_size

    def constant(self, reading: Reading) -> float:
        """c: as given, or 1 where it is printed as hidden, or the least that does."""
        if self.noise_constant is not None:
            return self.noise_constant
        if reading == "printed":
            return 1.0
        factor = sensitivity_factor(self.relation)
        return least_constant(epsilon=self.epsilon, log_delta=self.log_delta, factor=factor)

    def threshold(self, reading: Reading) -> float:
        """The n from which on sharing nothing has the least variance term: N(N − 1)σ²ε²/(c²d_wG² ln(1/δ))."""
        pairs = float(self.clients) * (self.clients - 1)
        noise = self.constant(reading) * self.lipschitz
        reach = pairs * self.gradient_variance * self.epsilon**2
        return reach / (noise * noise * self.shared_dimension * -self.log_delta)


@in_doubles
def variance_term(inputs: VarianceTermInputs, reading: Reading = "printed") -> Outputs:
    """The variance term at α and at both ends, the threshold on n (with ε², and as Appendix B.3 ends), and that on ε.

    Printed: the hidden constant is taken as 1 where none is given. Corrected: the least that does at this target.
    """
    alpha, clients, rounds = personalization_value(inputs.personalization), inputs.clients, inputs.rounds
    noise = inputs.constant(reading) * inputs.lipschitz
    private = noise * noise * inputs.shared_dimension * -inputs.log_delta / (float(clients) * inputs.epsilon) ** 2
    sampled = inputs.gradient_variance / (float(clients) * rounds)

    def at(alpha: float) -> float:
        if math.isinf(alpha):
            return inputs.optimum_norm * math.sqrt(sampled + private)
        whole = clients / (alpha * clients + 1.0)
        return inputs.optimum_norm * math.sqrt(whole * ((alpha + 1.0) * sampled + alpha * private))

    threshold = inputs.threshold(reading)
    return {
        "variance_term": at(alpha),
        "local_variance_term": at(0.0),
        "global_variance_term": at(math.inf),
        "noise_constant": inputs.constant(reading),
        "threshold_rounds": threshold,
        "appendix_threshold_rounds": threshold / inputs.epsilon,
        "threshold_epsilon": threshold_epsilon(inputs),
        "local_is_better": rounds >= threshold,
    }


def threshold_epsilon(inputs: VarianceTermInputs) -> float:
    """The ε up to which sharing nothing is better at the least noise; infinite if always (P18)."""
    pairs = float(inputs.clients) * (inputs.clients - 1) * inputs.gradient_variance
    if pairs == 0.0:
        return math.inf
    spread = math.sqrt(float(inputs.rounds) * inputs.shared_dimension / pairs)
    mu = sensitivity_factor(inputs.relation) * inputs.lipschitz * spread
    return gaussian_pair(mu).epsilon(inputs.log_delta).upper


ENOUGH_ROUNDS = Condition(
    "enough-rounds",
    "n ≥ N(N − 1)σ²ε²/(c²d_wG² ln(1/δ)), c the least constant at this target: the variance term then never falls in α",
    lambda inputs: Sides.at_least(inputs.rounds, inputs.threshold("corrected")),
)
EPSILON_SQUARED = Erratum(
    "E-B4",
    printed="the threshold on n is proportional to ε in Appendix B.3, and scales linearly with the privacy level",
    truth="to ε², as in (10): (9) has ε² under its root; with the least noise to μ*(ε, δ)², ~2ε for large ε only",
    test=f"{_TESTS}::test_the_threshold_has_epsilon_squared",
)
LEMMA_4_6 = Theorem(
    id="bietti.lemma-4.6",
    title="When to share nothing",
    statement=(
        "for losses of w + θ_i and clients of one optimum v, the variance term ‖v‖√(N/(αN + 1) ((α + 1)σ²/(Nn) + "
        "c²αd_wG² ln(1/δ)/(Nε)²)) never falls in α iff n ≥ N(N − 1)σ²ε²/(c²d_wG² ln(1/δ))"
    ),
    source=Source("bietti2022", "Lemma 4.6, (10)"),
    status=Status.PROVED,
    conditions=(ENOUGH_ROUNDS, ADDITIVE),
    errata=(EPSILON_SQUARED,),
    constants="hidden",
    inputs=VarianceTermInputs,
    formula=variance_term,
    examples=(
        {
            "clients": 100,
            "rounds": 300,
            "personalization": 0.01,
            "optimum_norm": 1.0,
            "gradient_std": 1.0,
            "shared_dimension": 50,
            "lipschitz": 1.0,
            "epsilon": 4.0,
            "delta": 1e-5,
        },
        {
            "clients": 100,
            "rounds": 50,
            "personalization": "unbounded",
            "optimum_norm": 1.0,
            "gradient_std": 1.0,
            "shared_dimension": 50,
            "lipschitz": 1.0,
            "epsilon": 1.0,
            "delta": 1e-5,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_4_6,)
