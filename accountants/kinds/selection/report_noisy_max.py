"""Report-noisy-max, which chooses the largest noisy score.

With Gumbel noise it is the exponential mechanism, and with exponential noise it is permute-and-flip. With Laplace noise
it has an upper bound, and smaller lower bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.kinds.selection.exponential import (
    BOUNDED_RANGE,
    bounded_range_concentration,
    bounded_range_guarantee,
)
from epsilond.accountants.kinds.selection.permute_and_flip import EXPONENTIAL_NOISE, exponential_noise_guarantee
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.profiles.selection.bounded_range import two_outcome_pair
from epsilond.accountants.quantities import Epsilon, delta_outputs
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import ReportNoisyMax
from epsilond.accountants.specs.selection.two_candidates import log_ratio
from epsilond.accountants.structure import ANY_SCORES
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair


@formula(given="ε of report-noisy-max with Laplace noise, and the ε' at which its δ is bounded.")
def bounds(*, epsilon: Epsilon, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute bounds on δ at ε' of one release of report-noisy-max with Laplace noise.

    The upper bound is δ of Laplace noise against the same noise shifted by ε scales. The lower bound is the largest δ
    of pairs that neighbours with two candidates attain.

    Args:
        epsilon: ε of the mechanism, in nats.
        at_epsilon: ε' at which δ is bounded, in nats.

    Returns:
        Both bounds with their decimal logarithms.
    """
    point = np.asarray([at_epsilon])
    upper = float(laplace_pair(epsilon).log_delta(point).upper[0])
    lower = max(float(pair.log_delta(point).lower[0]) for pair in laplace_witnesses(epsilon))
    return {**delta_outputs(upper), **delta_outputs(min(lower, upper), "lower_delta")}


GUMBEL = Theorem(
    id="epsilond.report-noisy-max-gumbel",
    title="Report-noisy-max with Gumbel noise",
    statement="The largest score after Gumbel noise of scale 2/ε is distributed as the exponential mechanism",
    source=Source("epsilond", "docs/selection.md, Bounded range"),
    status=Status.PROVED,
    conditions=(ANY_SCORES,),
)
EXPONENTIAL = Theorem(
    id="epsilond.report-noisy-max-exponential",
    title="Report-noisy-max with exponential noise",
    statement="The largest score after exponential noise of scale 2/ε is distributed as permute-and-flip",
    source=Source("epsilond", "docs/selection.md, Noise with an exponential tail"),
    status=Status.PROVED,
    conditions=(ANY_SCORES,),
)
LAPLACE = Theorem(
    id="epsilond.report-noisy-max-laplace",
    title="Report-noisy-max with Laplace noise",
    statement=(
        "The pair of Laplace noise at distance ε dominates the largest score after Laplace noise of scale 2/ε, for any "
        "number of candidates. The lower bound is that of two candidates, so both bounds differ"
    ),
    source=Source("epsilond", "docs/selection.md, Noise with an exponential tail"),
    status=Status.PROVED,
    conditions=(ANY_SCORES,),
    formula=bounds,
    examples=({"epsilon": 1.0, "at_epsilon": 0.5}, {"epsilon": 5.0, "at_epsilon": 0.0}),
)


def laplace_witnesses(epsilon: float) -> tuple[Pair, ...]:
    """Return attained pairs for lower bounds on δ: neighbours with two candidates, and Laplace noise on both scores.

    The difference of the noises exceeds 2y/ε ≥ 0 with probability e^{−y} (2 + y)/4. In the first pair the scores differ
    by 1 and are exchanged. In the second they are equal on one data set, and one candidate is behind by 2 on the other.
    Its choice has the loss ε − log(1 + ε/2).

    Args:
        epsilon: ε of the choice, in nats.

    Returns:
        Both pairs; only the first one if ε is below `LEAST_FALL`.
    """
    symmetric = response_pair(log_ratio(epsilon, "laplace"), 2)
    if epsilon < LEAST_FALL:
        return (symmetric,)

    # At equal scores both candidates have probability 1/2. The one behind by 2 has e^{−ε} (1 + ε/2)/2.
    log_half = -math.log(2.0)
    log_behind = log_half - epsilon + math.log1p(0.5 * epsilon)
    log_in_front = math.log1p(-math.exp(log_behind))
    losses = (log_half - log_in_front, epsilon - math.log1p(0.5 * epsilon))
    return symmetric, two_outcome_pair(losses, (log_half, log_half), (log_in_front, log_behind))


LEAST_FALL = 1e-3
"""Least ε [nat] for which the second pair is used; below it the difference of its logarithms loses digits."""


def gumbel_noise(spec: ReportNoisyMax, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of report-noisy-max with Gumbel noise, which is the exponential mechanism.

    The candidate with the largest score after Gumbel noise of scale 2/ε has the distribution of the exponential
    mechanism.

    Args:
        spec: the mechanism, with ε and the distribution of its noise.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal for other noise.
    """
    if spec.noise != "gumbel":
        return Refusal(GUMBEL, f"the noise is {spec.noise} noise")
    step = GUMBEL.because(BOUNDED_RANGE.because(epsilon=spec.epsilon))
    return bounded_range_guarantee(spec.epsilon, step, case, is_whole_question=case.root == spec)


def exponential_noise(spec: ReportNoisyMax, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of report-noisy-max with exponential noise, which is permute-and-flip.

    The candidate with the largest score after exponential noise of scale 2/ε has the distribution of permute-and-flip.

    Args:
        spec: the mechanism, with ε and the distribution of its noise.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal for other noise.
    """
    if spec.noise != "exponential":
        return Refusal(EXPONENTIAL, f"the noise is {spec.noise} noise")
    step = EXPONENTIAL.because(EXPONENTIAL_NOISE.because(epsilon=spec.epsilon))
    return exponential_noise_guarantee(spec.epsilon, step, case, is_whole_question=case.root == spec)


def laplace_noise(spec: ReportNoisyMax, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of report-noisy-max with Laplace noise.

    The upper bound is the pair of the Laplace mechanism, and lower bounds are those of neighbours with two candidates.

    Args:
        spec: the mechanism.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal for other noise.
    """
    if spec.noise != "laplace":
        return Refusal(LAPLACE, f"the noise is {spec.noise} noise")
    curve = Curve(laplace_pair(spec.epsilon), laplace_witnesses(spec.epsilon))
    step = LAPLACE.because(epsilon=spec.epsilon)
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(ANY_SCORES,))


def concentration(spec: ReportNoisyMax) -> Concentration | None:
    """Return the ε²/8-zero-concentrated privacy of report-noisy-max with Gumbel noise, the exponential mechanism.

    Args:
        spec: the mechanism, with ε and the distribution of its noise.

    Returns:
        ρ without rounding; None for other noise.
    """
    return bounded_range_concentration(spec.epsilon) if spec.noise == "gumbel" else None


THEOREMS: tuple[Theorem, ...] = (GUMBEL, EXPONENTIAL, LAPLACE)
RULES: tuple[Rule, ...] = (
    Rule(GUMBEL, "report_noisy_max", gumbel_noise),
    Rule(EXPONENTIAL, "report_noisy_max", exponential_noise),
    Rule(LAPLACE, "report_noisy_max", laplace_noise),
)
KIND = MechanismKind(
    sentence="report-noisy-max with ε = {epsilon} and {noise} noise on scores of sensitivity 1".format_map,
    at_noise=lambda noise: ReportNoisyMax(epsilon=1.0 / noise, noise="laplace"),
    concentration=concentration,
)
