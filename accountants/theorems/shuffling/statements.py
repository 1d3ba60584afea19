"""Theorems on shuffled reports, as data: clones, blankets, and the error in the stronger clones.

n clients each run one local randomizer on their own contribution, a trusted shuffler permutes the reports, and one
client's contribution is replaced. ε₀ and δ₀ are those of a single report with a known sender.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    CATEGORIES,
    EPSILON,
    Clients,
    DeltaFields,
    LocalDelta,
    LocalEpsilon,
    NoiseMultiplier,
    Quantity,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_round import log10
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import TRUSTED_SHUFFLER
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, response_bound
from epsilond.accountants.theorems.shuffling.finite import FiniteBlanketBound, blanket_outcomes, response_instance
from epsilond.accountants.theorems.shuffling.gaussian import LEAST_BLANKET, GaussianBlanketBound, log_blanket_mass
from epsilond.accountants.theorems.shuffling.local_curve import log_distance
from epsilond.accountants.theorems.shuffling.tails import ScaledBound, scaled_pair
from epsilond.accountants.theorems.vacuous import delta_below_one

_TESTS = "tests/theorems/shuffling/test_reports.py"
_PROOFS = "docs/shuffling.md"
MOST_INPUTS, MOST_OUTCOMES = 24, 64
PROBABILITIES = Quantity(description="probability of each outcome, one row for each input, each row summing to 1")
TWO_OR_MORE = Quantity(symbol="k", ge=2, le=10**6, description=CATEGORIES.description)


@request
class ClonesInputs(DeltaFields):
    """Reports that are ε₀-indistinguishable, and the target δ of the shuffled ε."""

    clients: Clients
    local_epsilon: LocalEpsilon


@request
class ApproximateClonesInputs:
    """Reports that are (ε₀, δ₀), and the ε at which the charge for δ₀ is computed."""

    clients: Clients
    local_epsilon: LocalEpsilon
    local_delta: LocalDelta
    epsilon: Annotated[float, EPSILON]


@request
class ResponseInputs(DeltaFields):
    """Shuffled k-ary randomized response."""

    clients: Clients
    local_epsilon: LocalEpsilon
    categories: Annotated[int, TWO_OR_MORE] = 2


@request
class RandomizerInputs:
    """A randomizer with finitely many inputs and outcomes, and ε."""

    clients: Clients
    probabilities: Annotated[tuple[tuple[float, ...], ...], PROBABILITIES]
    epsilon: Annotated[float, EPSILON]

    def check(self) -> None:
        """Check that each row of `probabilities` is a distribution over the same outcomes, and the size of the table.

        Raises:
            InvalidInput: a row has another length or is not a distribution, or the size of the table is out of range.
        """
        rows = self.probabilities
        has_allowed_size = 2 <= len(rows) <= MOST_INPUTS and 1 <= len(rows[0]) <= MOST_OUTCOMES
        if not has_allowed_size:
            allowed = f"2 to {MOST_INPUTS} rows of 1 to {MOST_OUTCOMES}"
            raise InvalidInput.at("/probabilities", "has too few or too many rows or columns", allowed=allowed)
        for index, row in enumerate(rows):
            are_probabilities = all(0.0 <= probability <= 1.0 for probability in row)
            if len(row) != len(rows[0]) or not are_probabilities:
                raise InvalidInput.at(f"/probabilities/{index}", "is not as long as the first, or not within 0 and 1")
            if abs(math.fsum(row) - 1.0) > 1e-12:
                raise InvalidInput.at(f"/probabilities/{index}", "does not sum to 1")


@request
class GaussianReportsInputs(DeltaFields):
    """Shuffled Gaussian reports of one coordinate."""

    clients: Clients
    noise_multiplier: NoiseMultiplier


def clones(inputs: ClonesInputs) -> Outputs:
    """Compute bounds on ε at δ of shuffled reports, each distributed like a protected one with probability e^{−ε₀}.

    Args:
        inputs: number of clients, ε₀ of a report, and δ.

    Returns:
        `epsilon`, an upper bound; `lower_numerical_epsilon`, a lower bound on its exact value for this probability.
    """
    clone_rate = math.exp(-inputs.local_epsilon)
    return _epsilon_bounds(ClonesBound(inputs.clients, clone_rate, inputs.local_epsilon), inputs)


def stronger_clones(inputs: ClonesInputs) -> Outputs:
    """Compute the bounds of `clones` for the larger probability 2/(e^ε₀ + 1), which randomized response has."""
    return _epsilon_bounds(response_bound(inputs.clients, inputs.local_epsilon, 2), inputs)


def approximate_clones(inputs: ApproximateClonesInputs) -> Outputs:
    """Compute the increase (1 + e^ε) t of the bound on δ(ε) of shuffled reports that have δ₀ > 0 themselves.

    Args:
        inputs: number n of clients, ε₀ and δ₀ of a report, and ε.

    Returns:
        `added_delta`: the increase, with a proved bound t on the total variation distance from reports with δ₀ = 0.
        `printed_added_delta`: the increase with t = n (1 + e^−ε₀/2) δ₀ as in the paper.
    """
    local_log_delta = log10(inputs.local_delta) * math.log(10.0)
    distance = float(log_distance(inputs.clients, np.asarray(inputs.local_epsilon), np.asarray(local_log_delta)))
    printed_distance = local_log_delta + math.log(inputs.clients) + math.log1p(0.5 * math.exp(-inputs.local_epsilon))
    log_factor = float(np.logaddexp(0.0, inputs.epsilon))  # log(1 + e^ε)
    return {
        **delta_outputs(log_factor + distance, "added_delta"),
        **delta_outputs(log_factor + printed_distance, "printed_added_delta"),
    }


def response(inputs: ResponseInputs) -> Outputs:
    """Compute bounds on ε at δ of shuffled randomized response, the upper one by the privacy blanket of the reports.

    Args:
        inputs: number of clients, ε₀ of a report, number of categories, and δ.

    Returns:
        `epsilon`, an upper bound; `lower_epsilon`, the ε that the number of reports of one category attains.
    """
    bounds = _epsilon_bounds(response_bound(inputs.clients, inputs.local_epsilon, inputs.categories), inputs)
    instance = response_instance(inputs.clients, inputs.local_epsilon, inputs.categories)
    return {"epsilon": bounds["epsilon"], "lower_epsilon": instance.epsilon(inputs.log_delta).lower}


def randomizer(inputs: RandomizerInputs) -> Outputs:
    """Compute the mass of the privacy blanket of a randomizer, and a bound on δ at ε of its shuffled reports.

    The blanket is the part of a report's distribution that is the same for all inputs.

    Args:
        inputs: number of clients, probabilities of the outcomes for each input, and ε.

    Returns:
        `blanket_mass`, in [0, 1], and the bound on δ, also as a logarithm.
    """
    bound = FiniteBlanketBound(inputs.clients, blanket_outcomes(inputs.probabilities))
    mass = math.fsum(map(min, zip(*inputs.probabilities, strict=True)))  # the smallest probability of each outcome
    return {"blanket_mass": mass, **delta_outputs(bound.upper(inputs.epsilon))}


def gaussian_reports(inputs: GaussianReportsInputs) -> Outputs:
    """Compute bounds on ε at δ of shuffled Gaussian reports of one coordinate.

    Args:
        inputs: number n of clients, noise multiplier of a report, and δ.

    Returns:
        `epsilon`, an upper bound by the privacy blanket; `lower_epsilon`, which the sum of the reports attains.
        `log10_blanket_mass`, the decimal logarithm of the part of a report that does not depend on its contribution.
    """
    bound = GaussianBlanketBound(inputs.clients, inputs.noise_multiplier)
    instance = gaussian_pair(2.0 / (inputs.noise_multiplier * math.sqrt(inputs.clients)))
    return {
        "epsilon": _epsilon_bounds(bound, inputs)["epsilon"],
        "lower_epsilon": instance.epsilon(inputs.log_delta).lower,
        "log10_blanket_mass": log_blanket_mass(inputs.noise_multiplier) / math.log(10.0),
    }


def shared_outcome(inputs: ClonesInputs) -> Outputs:
    """Compare the probability of an outcome that a lemma on clones needs with the one that ε₀-privacy ensures.

    Let two inputs have the same probability r of the outcome. For a third input, the lemma on stronger clones needs at
    least `needed` · r = 2r/(e^ε₀ + 1). Pure privacy only ensures `available` · r = e^{−ε₀} r.
    """
    return {"needed": 2.0 / (math.exp(inputs.local_epsilon) + 1.0), "available": math.exp(-inputs.local_epsilon)}


def _epsilon_bounds(bound: ScaledBound, inputs: DeltaFields) -> Outputs:
    """Compute the ε that a bound on δ of shuffled reports gives at a target δ, with its numerical error.

    Args:
        bound: bound on δ(ε) of shuffled reports.
        inputs: the request, with the target δ.

    Returns:
        `epsilon`, rounded up, and `lower_numerical_epsilon`, rounded down; each is "unbounded" if infinite.
    """
    epsilon = scaled_pair(bound).epsilon(inputs.log_delta)
    upper: float | str = epsilon.upper if math.isfinite(epsilon.upper) else "unbounded"
    lower: float | str = epsilon.lower if math.isfinite(epsilon.lower) else "unbounded"
    return {"epsilon": upper, "lower_numerical_epsilon": lower}


def _compare_blanket_size(inputs: GaussianReportsInputs) -> Sides:
    """Evaluate the condition nγ ≥ `LEAST_BLANKET` on the mean number of clients with reports in the blanket."""
    log_size = log_blanket_mass(inputs.noise_multiplier) + math.log(inputs.clients)
    return Sides.at_least(math.exp(log_size), LEAST_BLANKET)


# Conditions and errata ----------------------------------------------------------------------------------------------
ONE_COORDINATE = Condition("one-coordinate", "a report has one coordinate")
ENOUGH_IN_BLANKET = Condition(
    "enough-in-blanket",
    "the mean number nγ of the n clients whose reports are in the blanket is at least 8",
    _compare_blanket_size,
)
LOCAL_FOR_EVERY_PAIR = Condition(
    "local-for-every-pair", "the local guarantee is for any two contributions, in both orders"
)
SAME_RANDOMIZER = Condition(
    "same-randomizer",
    "every client runs the same randomizer, independently, on its own contribution only, and reports once",
)
FAILING_LEMMA = Erratum(
    "E-F1",
    grade=Grade.PROVED_WRONG,
    place="Lemma 3.5 of the original version",
    printed=(
        "An ε₀-private randomizer has the distributions R₀ and R₁ on the two inputs of the client that changes, and "
        "R_i on others. With R₀ = (e^ε₀ Q₀ + Q₁)/(e^ε₀ + 1) and R₁ = (Q₀ + e^ε₀ Q₁)/(e^ε₀ + 1), the lemma states that "
        "R_i ≥ (Q₀ + Q₁)/(e^ε₀ + 1)."
    ),
    truth=(
        "Only R_i ≥ e^−ε₀ max(R₀, R₁) is certain. Where R₀ = R₁, this is less than the printed bound. The printed "
        "proofs of Theorems 3.1, 3.2 and 5.2 use the lemma and fail."
    ),
    charitable=(
        "For some randomizers, such as randomized response, the lemma holds. No reading that we know makes it hold for "
        "every ε₀-private randomizer."
    ),
    test=f"{_TESTS}::test_the_stronger_clones_are_not_always_there",
)
HIDDEN_COUNT = Erratum(
    "E-F2",
    grade=Grade.UNCLEAR,
    place="Theorem 3.1 and the reduction in its proof",
    printed=(
        "The theorem reduces shuffled reports to counts: C clones of the two inputs of the client that changes, A of "
        "them of the first, and a bit Δ. Read as A + Δ against A + 1 − Δ only, the pair omits the number C."
    ),
    truth=(
        "C is observed, so that the pair is (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ). Without C, δ is "
        "understated."
    ),
    charitable="If both counts are read as parts of the pair, so that their sum shows C, the theorem holds.",
    test=f"{_TESTS}::test_the_number_of_clones_is_seen",
)

# Theorems -----------------------------------------------------------------------------------------------------------
LOCAL = Theorem(
    id="epsilond.shuffling-is-post-processing",
    title="Shuffled reports reveal no more than the reports",
    statement="A permutation of the reports is a post-processing of them. The local guarantee therefore remains valid",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)
CLONES = Theorem(
    id="feldman-mcmillan-talwar-2021.3.1",
    title="Hiding among the clones, numerically",
    statement=(
        "Shuffled ε₀-private reports of n clients are dominated, in both orders, by (A + Δ, C − A + 1 − Δ) against (A "
        "+ 1 − Δ, C − A + Δ). Here C ~ Bin(n − 1, e^−ε₀), A ~ Bin(C, 1/2) and Δ ~ Bern(e^ε₀/(e^ε₀ + 1))"
    ),
    source=Source("feldman2021hiding", "Theorem 3.1 and the reduction in its proof"),
    status=Status.PROVED,
    conditions=(LOCAL_FOR_EVERY_PAIR, SAME_RANDOMIZER, TRUSTED_SHUFFLER),
    errata=(HIDDEN_COUNT,),
    inputs=ClonesInputs,
    formula=clones,
    examples=({"clients": 10_000, "local_epsilon": 1.0, "delta": 1e-6},),
)
APPROXIMATE_CLONES = Theorem(
    id="epsilond.approximate-clones",
    title="Hiding among the clones of (ε₀, δ₀) reports",
    statement=(
        "For (ε₀, δ₀) reports δ is the clone pair's δ(ε) + (1 + e^ε)(s + (n − 1) e^−ε₀ (1 + s)) δ₀. Here s = "
        "1/(1 + e^ε₀). In print, Theorem 3.8 adds (1 + e^ε)(1 + e^−ε₀/2) n δ₀"
    ),
    source=Source("epsilond", f"{_PROOFS}, Approximate clones; cf. Feldman, McMillan and Talwar 2021, Theorem 3.8"),
    status=Status.PROVED,
    conditions=(
        LOCAL_FOR_EVERY_PAIR,
        SAME_RANDOMIZER,
        TRUSTED_SHUFFLER,
        delta_below_one("added_delta"),
        delta_below_one("printed_added_delta", condition="printed-delta-below-one"),
    ),
    inputs=ApproximateClonesInputs,
    formula=approximate_clones,
    examples=({"clients": 10_000, "local_epsilon": 2.0, "local_delta": 1e-12, "epsilon": 0.5},),
)
STRONGER_LEMMA = Theorem(
    id="feldman-mcmillan-talwar-2023.lemma-3.5",
    title="Stronger clones: the decomposition of every private report",
    statement=(
        "Two inputs of an ε₀-private randomizer are mixtures of two extreme reports. A report on any other input holds "
        "either of them with probability 1/(e^ε₀ + 1) each"
    ),
    source=Source("feldman2023stronger", "Lemma 3.5, original version"),
    status=Status.REFUTED,
    errata=(FAILING_LEMMA,),
    inputs=ClonesInputs,
    formula=shared_outcome,
    examples=({"clients": 10_000, "local_epsilon": 1.0, "delta": 1e-6},),
)
STRONGER_CLONES = Theorem(
    id="feldman-mcmillan-talwar-2023.3.2",
    title="Stronger clones of arbitrary private reports",
    statement=(
        "Claim: the clone pair has C ~ Bin(n − 1, 2/(e^ε₀ + 1)) for every ε₀-private randomizer. This is proved only "
        "for a restricted class, which includes randomized response. It is never used for others here"
    ),
    source=Source("feldman2023stronger", "Theorem 3.2, original version"),
    status=Status.UNPROVED,
    errata=(FAILING_LEMMA,),
    inputs=ClonesInputs,
    formula=stronger_clones,
    examples=({"clients": 10_000, "local_epsilon": 1.0, "delta": 1e-6},),
)
RESPONSE = Theorem(
    id="epsilond.shuffled-randomized-response",
    title="Shuffled randomized response",
    statement=(
        "Two categories have the clone pair with C ~ Bin(n − 1, 2/(e^ε₀ + 1)), which is the blanket's. For k "
        "categories the pair is the blanket's three outcomes. Each category has probability 1/(e^ε₀ + k − 1) in it"
    ),
    source=Source("epsilond", f"{_PROOFS}, Randomized response; the blanket is optimal: Su, Cheng and Wang 2025"),
    status=Status.PROVED,
    conditions=(SAME_RANDOMIZER, TRUSTED_SHUFFLER),
    inputs=ResponseInputs,
    formula=response,
    examples=(
        {"clients": 10_000, "local_epsilon": 1.0, "delta": 1e-6},
        {"clients": 1000, "local_epsilon": 2.0, "categories": 5, "delta": 1e-6},
    ),
)
BLANKET = Theorem(
    id="balle-bell-gascon-nissim-2019.lemma-5.3",
    title="The privacy blanket",
    statement=(
        "Let γω = inf_x R_x, m ~ Bin(n, γ) and W_i ~ ω. Then δ(ε) ≤ max_{x, x'} (1/(γn)) E[(Σ_{i ≤ m} (R_x − "
        "e^ε R_x')/ω (W_i))₊]"
    ),
    source=Source("balle2019privacy", "Lemma 5.3; the optimal decomposition: Su, Cheng and Wang 2025"),
    status=Status.PROVED,
    conditions=(SAME_RANDOMIZER, TRUSTED_SHUFFLER),
    inputs=RandomizerInputs,
    formula=randomizer,
    examples=({"clients": 1000, "probabilities": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], "epsilon": 0.1},),
)
GAUSSIAN_BLANKET = Theorem(
    id="epsilond.gaussian-blanket",
    title="The privacy blanket of Gaussian reports",
    statement=(
        "Among contributions of norm at most C, opposite ones of norm C are the blanket's worst pair. This holds at "
        "every ε and in any dimension. In one dimension the blanket is γω(w) = φ((|w| + C)/σ)/σ with γ = 2Φ(−C/σ)"
    ),
    source=Source("epsilond", f"{_PROOFS}, Opposite contributions are the worst"),
    status=Status.PROVED,
    conditions=(ENOUGH_IN_BLANKET, ONE_COORDINATE, SAME_RANDOMIZER, TRUSTED_SHUFFLER),
    inputs=GaussianReportsInputs,
    formula=gaussian_reports,
    examples=({"clients": 100_000, "noise_multiplier": 2.0, "delta": 1e-8},),
)

THEOREMS: tuple[Theorem, ...] = (
    LOCAL,
    CLONES,
    APPROXIMATE_CLONES,
    STRONGER_LEMMA,
    STRONGER_CLONES,
    RESPONSE,
    BLANKET,
    GAUSSIAN_BLANKET,
)
