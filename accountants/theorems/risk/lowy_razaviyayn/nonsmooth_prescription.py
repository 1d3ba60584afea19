"""What Theorem 2.2 of Lowy and Razaviyayn prescribes for losses that need not be smooth.

Algorithm 1 runs on the Moreau envelope f_b of every record's loss (`lowy_envelope`), whose smoothness b is prescribed
too, through ν and so through R. The excess risk of the loss itself is that of the envelope plus at most L²/(2b). The
theorem stands in `lowy_2_2`, what it prescribes for smooth losses in `lowy_smooth`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import (
    Aggregates,
    Federation,
    smallest_round_count,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_lipschitz,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_prescription import (
    PRINTED_CONSTANT,
    Prescription,
    complete_convex,
    complete_strongly_convex,
    effective_samples,
    informal,
    rate,
)


@dataclass(frozen=True, kw_only=True)
class EnvelopePrescription(Prescription):
    """A prescription, and the smoothness b of the envelope it runs on; absent from an informal one.

    `excess_risk_at_effective_participants` is the printed convex bound with √M~ where the text has √M.
    """

    envelope_smoothness: float | None = None
    excess_risk_at_effective_participants: float | None = None


def _on_envelope(found: Prescription, smoothness: float | None, **changes: object) -> EnvelopePrescription:
    fields = {name: getattr(found, name) for name in Prescription.__dataclass_fields__} | changes
    return EnvelopePrescription(**fields, envelope_smoothness=smoothness)


def informal_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    strong_convexity: float = 0.0,
    rounds: int | None = None,
) -> EnvelopePrescription:
    """The informal statement for equal clients: (6) if μ = 0, (7) if μ > 0 (F-21).

    R = M min{n, ε²n²/d}, times ln(D²μ²M²ε²n³/(dL²)) if μ > 0, which needs the logarithm's argument above 1. The risk is
    the scale of (4) or (5): what smoothness is missing costs rounds only.
    """
    (group,) = federation.groups
    participants, n = federation.participation.mean, group.samples_per_client
    prescribed = participants * effective_samples(samples_per_client=n, epsilon=group.epsilon, dimension=dimension)
    terms = {}
    if strong_convexity > 0.0:
        reach = diameter * strong_convexity / lipschitz * participants * group.epsilon * n
        argument = reach * reach * n / dimension
        prescribed *= math.log(argument) if argument > 0.0 else -math.inf
        terms = {"logarithm_argument": argument}
    chosen = rounds if rounds is not None else smallest_round_count(lambda _: prescribed)
    scale = informal(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=max(strong_convexity, lipschitz / diameter),  # the scale does not depend on it
        strong_convexity=strong_convexity,
        rounds=chosen,
    )
    return _on_envelope(scale, None, prescribed_rounds=prescribed, terms=terms)


def complete_convex_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> EnvelopePrescription:
    """The complete convex statement (F-22): E F(ŵ) − F* ≤ 272.5 L D ν/√M~, printed as 545 L D ν/√M (E-17, E-34).

    b = L√M~/(Dν) and R = ⌈M~/ν²⌉, or the `rounds` given; η and the average are those of the smooth statement at β = b,
    which asks for no more rounds: bD√M~/(Lν) = M~/ν² ≥ 1/ν². So does client sampling (E-14). The gap L²/(2b) is half
    of L D ν/√M~. The printed constant is twice 272 and 1, for an envelope that might be 2L-Lipschitz. Printed reading:
    M~ = √M' or √M in R, b and η (E-06), and the plain M in the bound itself (E-34).
    """

    def prescribed(count: int) -> float:
        seen = federation.aggregates(count, reading)
        nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
        return seen.participants / (nu * nu)

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    seen = federation.aggregates(chosen, reading)
    nu = rate(aggregates=seen, fewest_samples=federation.fewest_samples, dimension=dimension)
    smoothness = lipschitz * math.sqrt(seen.participants) / (diameter * nu)
    found = complete_convex(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=smoothness,
        rounds=chosen,
        reading=reading,
    )
    unit, gap = found.terms["unit"], envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness)
    doubled = envelope_lipschitz(lipschitz=lipschitz, reading=reading) / lipschitz
    claimed = PRINTED_CONSTANT * doubled * unit + (2.0 * gap if reading == "printed" else gap)
    enveloped = _on_envelope(
        found,
        smoothness,
        prescribed_rounds=prescribed(chosen),
        excess_risk=claimed,
        terms={**found.terms, "smoothing_gap": gap},
    )
    if reading == "corrected":
        return enveloped
    plain = claimed * math.sqrt(seen.participants / federation.participation.mean)
    return replace(enveloped, excess_risk=plain, excess_risk_at_effective_participants=claimed)


def complete_strongly_convex_envelope(
    *,
    federation: Federation,
    dimension: int,
    lipschitz: float,
    diameter: float,
    strong_convexity: float,
    rounds: int | None = None,
    reading: Reading = "corrected",
) -> EnvelopePrescription:
    """The complete strongly convex statement (F-23): a scale, (12), at explicit b, R, η and geometric average.

    b = μM~/ν² and R = ⌈max{8b/μ · ln(bD²μM~/(dL²Ξ~)), 1/(dΞ~)}⌉; M' stands for M~ in the printed logarithm (E-29).
    η and the weights use the envelope's own strong convexity μb/(μ + b) in the corrected reading, μ in the printed one
    (E-17). `terms` adds the gap L²/(2b) to those of the smooth statement.
    """
    fewest = federation.fewest_samples

    def at(count: int) -> tuple[Aggregates, float, float]:
        """The aggregates, b and the logarithm's argument."""
        seen = federation.aggregates(count, reading)
        nu = rate(aggregates=seen, fewest_samples=fewest, dimension=dimension)
        smoothness = strong_convexity * seen.participants / (nu * nu)
        participants = federation.participation.rms if reading == "printed" else seen.participants
        length = diameter / lipschitz
        argument = smoothness * length * length * strong_convexity * participants / (dimension * seen.xi)
        return seen, smoothness, argument

    def prescribed(count: int) -> float:
        seen, smoothness, argument = at(count)
        contraction = 8.0 * smoothness / strong_convexity * math.log(argument) if argument > 0.0 else -math.inf
        return max(contraction, 1.0 / (dimension * seen.xi))

    chosen = rounds if rounds is not None else smallest_round_count(prescribed)
    _, smoothness, argument = at(chosen)
    kept = envelope_strong_convexity(strong_convexity=strong_convexity, envelope_smoothness=smoothness)
    found = complete_strongly_convex(
        federation=federation,
        dimension=dimension,
        lipschitz=lipschitz,
        diameter=diameter,
        smoothness=smoothness,
        strong_convexity=strong_convexity if reading == "printed" else kept,
        rounds=chosen,
        reading=reading,
    )
    moments, seen = federation.participation, found.aggregates
    assert seen is not None
    scale = lipschitz * lipschitz / strong_convexity
    gap = envelope_gap(lipschitz=lipschitz, envelope_smoothness=smoothness)
    return replace(
        _on_envelope(found, smoothness),
        prescribed_rounds=prescribed(chosen),
        excess_risk=scale * (1.0 / (moments.mean * fewest) + dimension * seen.noise_ratio),
        terms={**found.terms, "logarithm_argument": argument, "smoothing_gap": gap},
    )
