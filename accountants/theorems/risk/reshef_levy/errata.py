"""Errata of Reshef and Levy on the excess risk of noise cancellation."""

from __future__ import annotations

from epsilond.accountants.theorem import Erratum, Grade

_TESTS = "tests/theorems/risk/reshef_levy"

DECOUPLED = Erratum(
    "E-R1",
    grade=Grade.PROVED_WRONG,
    printed=(
        "The proof states E⟨Y_{τ,i}, x* − w_{τ+1}⟩ = Σ_s p(1 − p)^{τ−s} E⟨y_{s,i}, x* − w_{τ+1}⟩, with the sum over s "
        "≤ τ. Here Y_{τ,i} is the last noise of client i by round τ, and y_{s,i} its noise of round s. Clients take "
        "part with probability p = m/M, w_{τ+1} is the iterate, and x* the minimiser."
    ),
    truth=(
        "The iterate w_{τ+1} depends on who took part. In a run of noise alone, the identity is off by (2 − p)/p. "
        "Theorem 5.2 is proved where M ≤ 2m. Let η be the step size and L the smoothness. The theorem is also proved "
        "where exp(2ηL Σ_{a<l} a²) + (M/m)(1 − m/M)^l ≤ 2 for some l. Elsewhere it is unproved. The least of our three "
        "bounds always holds (epsilond.noise-cancellation-excess-risk)."
    ),
    test=f"{_TESTS}/test_risk.py::test_the_printed_identity_is_off_by_two_over_p",
    place="Appendix E.2, Bounding (C)",
    charitable=(
        "If the expectation on the right is conditional on s being the last report, the identity holds. No reading "
        "that we know makes the steps after it give the printed bound as well."
    ),
)
NEIGHBOURHOOD = Erratum(
    "E-R2",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Lemma A.6 states ‖∇f(x) − ∇f(x*)‖² ≤ 2L(f(x) − f(x*)) for f convex and L-smooth on the domain. Here x* is the "
        "minimiser over the domain. The proof extends such a function to all of R^d, still convex and L-smooth."
    ),
    truth=(
        "For d ≥ 2 such an extension does not always exist. Lemma A.6 then fails, by any factor. On a thin strip in "
        "the plane, the left side is 1.22, 1.38 or 2.22 times the right one in our examples."
    ),
    test=f"{_TESTS}/test_risk.py::test_smooth_on_the_domain_alone_is_not_enough",
    place="Appendix A, Lemma A.6 and its proof",
    charitable=(
        "No reading that we know makes the extension possible for every f that is smooth on the domain alone. If f is "
        "convex and L-smooth on all of R^d, the bound holds for every x in the domain."
    ),
)
SILENT = Erratum(
    "E-R3",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 5.2 states no condition on M/m, where m of M clients take part in each of T rounds. Its proof uses "
        "M/m ≤ T."
    ),
    truth=(
        "The proof needs M/m ≤ T. Without it, the last term of the display before the choice of η has the additional "
        "factor (1 + M/(mT))/2."
    ),
    test=f"{_TESTS}/test_risk.py::test_each_condition_of_the_risk_can_fail",
    place="Appendix E.2, after the division by α_{1:T}",
    charitable="If M/m ≤ T, which the proof writes, is read as a premise of Theorem 5.2, the step holds.",
)
NORM = Erratum(
    "E-R4",
    grade=Grade.MISPRINT,
    printed="Theorems 5.2 and F.2 state G* := ∇f(x*), which is a vector. Here x* is the minimiser over the domain.",
    truth=(
        "G* is the norm ‖∇f(x*)‖. It is at most G, the bound on the norm of a gradient. It is 0 for an interior "
        "minimiser."
    ),
    test=f"{_TESTS}/test_risk.py::test_an_interior_minimiser_lowers_the_first_term_alone",
    place="Theorems 5.2 and F.2, the definition of G*",
    charitable="If G* is read as ‖∇f(x*)‖, as in Appendix E.2, the first term of the bounds is right.",
)
EVERY_STEP = Erratum(
    "E-R5",
    grade=Grade.REFINEMENT,
    printed=(
        "Lemma A.7 states the factor 2. Appendix E.2 uses it for every step size η ≤ 1/(8LT), with the smoothness L "
        "and T rounds."
    ),
    truth=(
        "For the step size η that is taken, the factor is 1/(1 − h) with h = 4ηLT. It is 2 at η = 1/(8LT), and nearly "
        "1 for smaller steps."
    ),
    test=f"{_TESTS}/test_anytime_steps.py::test_the_recursion_by_its_extremal_sequence",
    place="Appendix A, Lemma A.7; used in Appendix E.2",
    charitable="The factor 2 holds for every such step size.",
)
TYPOS = Erratum(
    "E-R12",
    grade=Grade.MISPRINT,
    printed=(
        "The proof of Lemma 4.2 has the factor (M − m)/(M(M − 1)) for m of M clients. It has the weight α_t before the "
        "gradients at x_{t−1}."
    ),
    truth=(
        "The factor is (M − m)/(M − 1). With the printed factor the bound fails. The weight before these gradients is "
        "α_{t−1}."
    ),
    test=f"{_TESTS}/test_variance.py::test_the_share_of_the_clients_spread_by_enumeration",
    place="Appendix D.2, second part, the last display but one",
    charitable="If the right factor and weight are read, as the end of the display and Lemma 4.2 have them, it holds.",
)
GAPS = Erratum(
    "E-R10",
    grade=Grade.REFINEMENT,
    printed=(
        "Appendix G states that the statistical term grows by √(M/m), where m of M clients take part in a round. It "
        "takes the average case, in which every gap between a client's reports is M/m."
    ),
    truth=(
        "For geometric gaps, the squares of the gaps add up to 2 − p times as much, with p = m/M. The factor is then "
        "√(2M/m − 1)."
    ),
    test=f"{_TESTS}/test_variance.py::test_geometric_gaps_by_simulation",
    place="Appendix G, the average case and the last display",
    charitable="In the average case, which the text takes to simplify the analysis, the factor √(M/m) holds.",
)
START_OUTSIDE = Erratum(
    "E-R13",
    grade=Grade.MISPRINT,
    printed=(
        "Lemma A.5 admits every start w_1 in R^d. Its proof bounds ‖w_1 − x‖ by the diameter D of the domain, for the "
        "points x of the domain."
    ),
    truth=(
        "The start w_1 must lie in the domain. On [0, 1] with w_1 = 3, η = 1 and q_1 = 0, the left side is 0 at x = 0, "
        "and the right side −1.5."
    ),
    test=f"{_TESTS}/test_anytime_steps.py::test_a_start_outside_the_domain_refutes_the_regret",
    place="Appendix A, Lemma A.5 and the last display of its proof",
    charitable="If w_1 is a point of the domain, as Section 3.1 has it, Lemma A.5 holds.",
)
