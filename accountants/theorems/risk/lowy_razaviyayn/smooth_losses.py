"""Theorem 2.1 of Lowy and Razaviyayn: Algorithm 1 for smooth losses and identically distributed clients.

The main text has an informal statement, with hidden constants; the appendix has the complete statement. Both prescribe
the number R of rounds through ξ, which itself grows with R. The smallest R ≥ 1 that meets the prescription is used. The
noise and its proof are in `papers/lowy_razaviyayn/noise.py`, the bound at any other σ, R and step size in
`explicit_bound.py`.

Symbols: M_r of N clients take part in a round; M = 1/E[1/M_r] and M' are averages of their number (`Federation`).
n is the number of records of a client, K its batch size, d the dimension, and D the diameter of the domain. Losses are
L-Lipschitz, β-smooth and μ-strongly convex. η is the step size. Ξ, Ξ~, ξ_max and M~ are defined at `Aggregates`, ν at
`DescentRun.rate`; Ψ is L² Ξ. "printed" are the paper's formulas, "corrected" those without the errata of this file.
"""

from __future__ import annotations

from epsilond.accountants.quantities import Smoothness, request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import LOGARITHM_ABOVE_ONE
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import (
    FRESH_NOISE,
    INSIDE_DOMAIN,
    PRIVACY_ERRATA,
    SIGN_IN_XI,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import TEN_CLIENTS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import (
    DATA_CONDITIONS,
    HIDDEN_CONSTANTS,
    RUN_CONDITIONS,
    DescentInputs,
    DescentRun,
    Prescription,
    effective_samples,
    prescribed_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import NOT_HOMOGENEOUS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.noisy_descent import CONSTRAINED_MINIMUM
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.prescribed_sgd import (
    complete_convex,
    complete_strongly_convex,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_smooth_losses.py"


@request
class SmoothInputs(DescentInputs):
    """A federation with a smooth loss. Exactly one of delta and log10_delta is required.

    If absent, the number of rounds is the prescribed one, and all clients participate.
    """

    smoothness: Smoothness

    def run(self, reading: Reading, /) -> DescentRun:
        """Return the federation and the loss, with the smoothness β of the client with the largest weight."""
        return self.run_in(reading, DescentRun, smoothness=max(self.scales_of_losses) * self.smoothness)

    def complete(self, reading: Reading, /) -> Prescription:
        """Return the run that the appendix's statement prescribes, and its risk."""
        statement = complete_strongly_convex if self.strong_convexity > 0.0 else complete_convex
        return statement(self.run(reading), rounds=self.rounds, reading=reading)


# Conditions ---------------------------------------------------------------------------------------------------------
def _client_sampling(inputs: SmoothInputs, outputs: Outputs) -> Sides:
    """Check that there are enough rounds to average out the sampling of clients.

    The least number of rounds is 0 if every client participates. Otherwise it depends on the statement of the theorem:

    - min{n, ε²n²/d} for the short form, with n records per client and dimension d,
    - 1/(dΞ~) for the full form and strong convexity μ > 0, where Ξ~ is an average noise variance up to a factor,
    - 1/ν² for the full form and μ = 0, where ν is the larger of the statistical error and the cost of privacy.

    Args:
        inputs: the clients and the loss, with its strong convexity μ.
        outputs: outputs of the theorem, of which `rounds`, `xi` (Ξ~) and `rate_term` (ν) are used.

    Returns:
        The two sides of the condition, the number of rounds and the least number, and whether the condition holds.
    """
    federation = inputs.federation_in("printed")
    if federation.all_participate:
        least_rounds = 0.0
    elif inputs.variant == "informal":
        (group,) = federation.groups
        least_rounds = effective_samples(
            samples_per_client=group.samples_per_client, epsilon=group.epsilon, dimension=inputs.dimension
        )
    elif inputs.strong_convexity > 0.0:
        least_rounds = 1.0 / (inputs.dimension * outputs["xi"])
    else:
        least_rounds = 1.0 / outputs["rate_term"] ** 2
    return Sides.at_least(outputs["rounds"], least_rounds)


CONDITIONS = (
    *RUN_CONDITIONS,
    Condition(
        "client-sampling",
        "R ≥ 1/ν² rounds for the rate ν, or 1/(dΞ~) if μ > 0; the limit is 0 if all clients take part",
        _client_sampling,
        of_outputs=True,
    ),
    LOGARITHM_ABOVE_ONE,
    FRESH_NOISE,
    INSIDE_DOMAIN,
    Condition("loss", "every record's loss is convex (or μ-strongly convex), L-Lipschitz and β-smooth on the domain"),
    *DATA_CONDITIONS,
    HIDDEN_CONSTANTS,
)

# Errata -------------------------------------------------------------------------------------------------------------
DIAMETER = Erratum(
    "E-05",
    grade=Grade.UNCLEAR,
    printed=(
        "Section 1 states that D bounds the distance |w − w'| of any two points of the domain. Appendix E.3 states "
        "that D bounds the norm |w| of every point. The convex bound there has the constant 272."
    ),
    truth=(
        "The proof needs |w₀ − w*| ≤ D for the start w₀ and a minimiser w*. It bounds the risk by four terms, which "
        "we give in the unit of the printed bound. Each at its own worst step size, the terms add to 270, or to 282 "
        "if |w₀ − w*| may be 2D. No step size is the worst for all terms. Jointly they reach 267, or 270 if |w₀ − "
        "w*| may be 2D. Hence 272 is valid in either sense."
    ),
    test=f"{_TESTS}::test_the_constant_272_stands_for_diameter_and_radius",
    place="Section 1, after (1); Appendix E.3, complete version of Theorem 2.1, part 1",
    charitable=("If D is read as the diameter, or as the radius, the constant 272 bounds the sum of the four terms."),
)
PARTICIPANTS = Erratum(
    "E-06",
    grade=Grade.MISPRINT,
    printed=(
        "The text sets M~ := √M' or M~ := √M in Theorems 2.1 (convex), 2.2 and 2.4. Here M = 1/E[1/M_r] and M' = "
        "1/√E[1/M_r²] average the number M_r of participants of a round. In Theorem 2.4, M~ enters the smoothness of "
        "the envelope."
    ),
    truth=(
        "We find M~ := M' or M, as in the rounds of Theorem 2.4. With the root, the bound falls like M^(−1/4) and "
        "not like M^(−1/2), as (4) does."
    ),
    test=f"{_TESTS}::test_the_printed_participants_lose_a_square_root",
    place="Complete versions of Theorem 2.1, part 1, of Theorem 2.2 and of Theorem 2.4, in Appendices E.3 to E.5",
    charitable="If M~ is read as M' or M, the complete statements agree with (4) and with the rounds of Theorem 2.4.",
)
BATCH_IN_ROUNDS = Erratum(
    "E-10",
    grade=Grade.REFINEMENT,
    printed=(
        "For strongly convex losses the complete statement prescribes at least L²/(dΨ~) rounds, for the Lipschitz "
        "constant L and the dimension d. Ψ~ combines the clients' numbers of records and privacy parameters. The "
        "informal statement divides the corresponding number min{n, ε²n²/d} by the batch size K."
    ),
    truth="If all clients take part, the proof needs only the quotient by K. These are K times fewer rounds.",
    test=f"{_TESTS}::test_the_printed_rounds_forget_the_batch",
    place="Theorem 2.1, part 2, in Section 2.1 and in Appendix E.3",
    charitable="Read as printed, the larger number of rounds is sufficient too.",
)
CONSTANTS = Erratum(
    "E-16",
    grade=Grade.MISPRINT,
    printed=(
        "(26) has the noise term 4Rd min{Ψ/M', ψ_max/M} for R rounds and dimension d. The strongly convex step size "
        "contains 2(4L²/(MK) + d min{Ξ²/M', σ²_max/M}), for the Lipschitz constant L and the smallest batch K. "
        "M and M' average the participants, Ψ and Ξ the privacy parameters, and σ²_max is the largest noise variance."
    ),
    truth=(
        "We find 128Rd in (26). The step size contains c = 8L²/(MK) + d min{Σ²/M', σ²_max/M}, where Σ² averages the "
        "noise variance. The text has Ξ² for Σ², and doubles the noise."
    ),
    test=f"{_TESTS}::test_the_noise_in_the_printed_steps_of_the_proof",
    place="Appendix E.3, complete version of Theorem 2.1, part 2, step size; proof of Theorem 2.1, (26)",
    charitable=(
        "If Ξ² is read as Σ², the step sizes differ by at most a factor 2 inside a logarithm, which the hidden "
        "constant of (12) covers. (27) already has the right factor 256 = 2 · 128."
    ),
)

THEOREM_2_1 = Theorem(
    id="lowy.2.1",
    title="Noisy mini-batch SGD for smooth losses and identically distributed clients",
    statement=(
        "Let σ² = 256 L² R ln(2.5R/δ) ln(2/δ)/(nε)². Then Algorithm 1 is (ε, δ) for every record against "
        "everyone but its client. At the R and η prescribed, E F(ŵ) − F* ≤ 272 L D ν/√M~ with ν = max{1/√n_min, "
        "√(dΞ~)}. If μ-strongly convex, it is Õ(L²/μ (1/(M n_min) + d min{Ξ/M', ξ_max/M})), equation (12). Here n_min "
        "is the fewest records of a client. We read it with "
        "batches drawn without replacement, M~ = M, and the average of w_1, …, w_R, for which 174 replaces 272"
    ),
    source=Source("lowy2023", "Theorem 2.1"),
    status=Status.PROVED,
    conditions=CONDITIONS,
    errata=(
        *PRIVACY_ERRATA,
        SIGN_IN_XI,
        DIAMETER,
        PARTICIPANTS,
        BATCH_IN_ROUNDS,
        CONSTRAINED_MINIMUM,
        NOT_HOMOGENEOUS,
        CONSTANTS,
    ),
    inputs=SmoothInputs,
    formula=prescribed_outputs,
    examples=(
        {**TEN_CLIENTS, "smoothness": 2.0},
        {"variant": "informal", **TEN_CLIENTS, "batch_size": 1000, "smoothness": 2.0, "strong_convexity": 0.1},
        {
            "epsilon": 1.0,
            "delta": 1e-5,
            "samples_per_client": 1000,
            "clients": 4,
            "client_groups": [
                {"clients": 1, "samples_per_client": 1000},
                {"clients": 1, "samples_per_client": 500, "epsilon": 0.5, "delta": 1e-6, "lipschitz": 0.5},
                {"clients": 1, "samples_per_client": 2000, "epsilon": 2.0},
                {"clients": 1, "samples_per_client": 1000, "delta": 1e-7},
            ],
            "participation": [{"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5}],
            "batch_size": 100,
            "dimension": 5,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "smoothness": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_1,)
