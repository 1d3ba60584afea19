"""Errata of Bietti et al. on the excess risk of personalised federated learning."""

from __future__ import annotations

from epsilond.accountants.theorem import Erratum, Grade

_TESTS = "tests/theorems/risk/bietti"

EPSILON_SQUARED = Erratum(
    "E-B4",
    grade=Grade.MISPRINT,
    printed=(
        "Appendix B.3 states that the threshold on the number n of rounds is proportional to ε. Section 4 states that "
        "this threshold scales linearly with ε."
    ),
    truth=(
        "The threshold is proportional to ε², as in (10), because (9) has ε² under its root. With the least noise, the "
        "threshold is proportional to μ*(ε, δ)². Here μ*(ε, δ) is the largest μ at which μ-Gaussian differential "
        "privacy is (ε, δ). Its square is about 2ε only for large ε."
    ),
    test=f"{_TESTS}/test_personalization.py::test_the_threshold_has_epsilon_squared",
    place="Appendix B.3, last display; Section 4, after Lemma 4.6",
    charitable="If ε² is read for ε, both places agree with (10), and Lemma 4.6 holds.",
)
MISSING_ROOTS = Erratum(
    "E-B7",
    grade=Grade.MISPRINT,
    printed=(
        "The proof of Theorem 4.5 states the step size min{1/(4L_α), ‖z*‖_α/√(nσ_tot)}, and has σ̄_θ for σ̄_θ². Here n "
        "is the number of rounds, σ²_tot the variance of a step, and z* the minimiser. σ̄_θ² is the variance of local "
        "gradients, and L_α the smoothness."
    ),
    truth=(
        "The root is √(nσ²_tot) = √n σ_tot, as Theorem 4.5 states. Only this root gives ‖z*‖_α/(√n σ_tot) the unit of "
        "a step size, squared length over loss. The variance is σ̄_θ², as in (6)."
    ),
    test=f"{_TESTS}/test_full_participation.py::test_the_step_scales_as_the_theorem_says",
    place="Appendix B.2, after (23), and the display after (22)",
    charitable="If σ² is read for σ in both places, the proof agrees with Theorem 4.5, which holds.",
)
SMALLER_CONSTANT = Erratum(
    "E-B11",
    grade=Grade.REFINEMENT,
    printed=(
        "Theorem 4.5 states the constant 3 for the variance term σ_tot‖z*‖_α/√n of its bound. Here n is the number of "
        "rounds, σ_tot the standard deviation of a step, and z* the minimiser."
    ),
    truth=(
        "The constant is 2√2 with the step size min{1/(4L_α), ‖z*‖_α/(√(2n)σ_tot)}. Here L_α is the smoothness in the "
        "α-norm."
    ),
    test=f"{_TESTS}/test_full_participation.py::test_a_shorter_step_has_a_smaller_constant",
    place="Theorem 4.5, (7)",
    charitable="The bound holds as printed, with the constant 3 and its own step size.",
)
SQUARED_LOSS = Erratum(
    "E-B13",
    grade=Grade.UNCLEAR,
    printed=(
        "Assumption 4.4 states that every gradient ∇_w f_i has a norm of at most G. The examples of Section 4 and the "
        "experiments of Section 6 use the squared loss."
    ),
    truth=(
        "The gradient of the squared loss has no bound. The bound of Theorem 4.5 then holds only where nothing was "
        "clipped."
    ),
    test=f"{_TESTS}/test_full_participation.py::test_clipped_gradients_of_a_squared_loss_stop_elsewhere",
    place="Section 4, Assumption 4.4; Section 6, Experiment setup",
    charitable=(
        "If Assumption 4.4 is read for losses with bounded gradients, the theorem holds. For the squared loss it then "
        "says nothing where messages are clipped."
    ),
)
NO_RATE = Erratum(
    "E-B5",
    grade=Grade.MISPRINT,
    printed=(
        "Theorem 5.2 states the smoothness L_{m,α} = L max{α + α m_max/M, m_max/M}. Theorem B.4 states L_α = L max{α + "
        "α/N, 1/N}. Here L is the smoothness of a record's loss, α the weight of the shared part, and N the number of "
        "clients. All batches together have M records, and the largest has m_max."
    ),
    truth=(
        "The rate q at which clients are drawn is missing. In Theorem 5.2, L max{α + α(1 − q) m_max/(qM), m_max/(qM)} "
        "is right. In Theorem B.4, L max{α + α(1 − q)/(qN), 1/(qN)} is right. With the printed smoothness, the "
        "prescribed run diverges at N = 20, q = 1/20, one record per batch and α = 0."
    ),
    test=f"{_TESTS}/test_sampled_participation.py::test_the_printed_smoothness_lets_the_run_diverge",
    place="Theorem 5.2, before (13); Theorem B.4, before (35)",
    charitable=(
        "The proof of Theorem 5.2 and Lemma B.3 have qM for M in the fractions. If that is read in the statements, "
        "with qN for N in Theorem B.4, the smoothness is large enough."
    ),
)
RATE_TOO_MANY = Erratum(
    "E-B6",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Theorems 5.2 and B.4 state that the variance σ̃²_{w,m} of the draw of clients has the factor q(1 − q). Here q "
        "is the rate at which clients are drawn."
    ),
    truth=(
        "The factor is 1 − q. The proof loses a factor 1/q where it takes the second moments of b_i/q. Here b_i is 1 "
        "if client i is drawn, and 0 otherwise. At q = 0.01, N = 50 clients with gradients ±1 have the second moment "
        "1.98. The statement has 0.0198."
    ),
    test=f"{_TESTS}/test_sampled_participation.py::test_the_printed_selection_variance_is_too_small",
    place="Theorem 5.2, after (13); Appendix B.5, (31); Theorem B.4, after (35)",
    charitable=(
        "No reading that we know makes it hold for every q. The factor has no effect if q = 1, or if every ∇_w f_i "
        "vanishes at the optimum, as in the additive model."
    ),
)
SYMBOLS = Erratum(
    "E-B7",
    grade=Grade.MISPRINT,
    printed=(
        "Equation (13) states the variance ασ̄²_{w,m} twice, where α is the weight of the shared part. The second of "
        "the three variances in (14) is ασ̄²_{θ,m}. The variance in (16) has no term σ̃²_{w,m}."
    ),
    truth=(
        "The second variance in (13) and in (14) is ασ̃²_{w,m}, by the draw of clients. Equation (16) holds where "
        "σ̃²_{w,m} vanishes. Equation (36) keeps the term."
    ),
    test=f"{_TESTS}/test_sampled_participation.py::test_the_coarser_variance_keeps_the_selection",
    place="Section 5, (13), (14) and (16)",
    charitable=(
        "If ασ̃²_{w,m} is read for the second variance, (13) and (14) have the form of (35) and (36). For the additive "
        "model, in which σ̃²_{w,m} = 0, (16) holds."
    ),
)
RISK_OF_THE_PLOTS = Erratum(
    "E-B10",
    grade=Grade.UNCLEAR,
    printed=(
        "Section 6 states the excess risk (1/N) Σ_i ‖w + θ_i − θ_i*‖²_Σ of a shared model w and N own parts θ_i. Here "
        "θ_i* is the true model of client i, and Σ the covariance of the features. The squared loss of Section 4 has "
        "the factor ½."
    ),
    truth=(
        "The risk of Section 6 is twice the excess of the loss with its factor ½. In the plots it is also divided by "
        "the number d of coordinates."
    ),
    test=f"{_TESTS}/test_experiments.py::test_the_risk_is_twice_the_excess_of_the_loss",
    place="Section 6, Synthetic dataset; Section 4, after Assumption 4.3",
    charitable="If the squared loss of Section 6 is meant without the factor ½, its excess risk is right.",
)
