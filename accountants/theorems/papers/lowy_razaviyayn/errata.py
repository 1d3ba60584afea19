"""Findings about the privacy statements of Lowy and Razaviyayn 2023, with their places in the text."""

from __future__ import annotations

from epsilond.accountants.theorem import Erratum, Grade

_TESTS = "tests/theorems/papers/lowy_razaviyayn"

# Algorithm 1 --------------------------------------------------------------------------------------------------------
RANGE_OF_EPSILON = Erratum(
    "E-01",
    grade=Grade.MISPRINT,
    place="Theorem 2.1 in Section 2.1, and the privacy part of its proof in Appendix E.3",
    printed=(
        "Section 2.1 assumes ε ≤ 2 ln(2/δ), and the complete version of the theorem assumes ε ≤ ln(2/δ). The proof "
        "states that ε ≤ 2 ln(2/δ) is sufficient for its composition of R rounds by Theorem 3.20 of Dwork and Roth. "
        "Each round is (ε̃, δ̃)-private there, with ε̃ = ε/(2√(2R ln(2/δ))) and δ̃ = δ/(2R)."
    ),
    truth=(
        "This step of the proof is complete for ε ≤ ln(2/δ). At ε = 2 ln(2/δ) it fails for R < 0.317 ln(2/δ), where "
        "the cited theorem gives more than ε. A composition theorem with the drift R ε̃ tanh(ε̃/2) proves the claim up "
        "to ε = 8 ln(2/δ)."
    ),
    charitable=(
        "If the proof's 2 ln(2/δ) is read as ln(2/δ), the range of the theorem that it proves, the step holds. In the "
        "wider range of Section 2.1 the statement holds by the other composition theorem."
    ),
    test=f"{_TESTS}/test_noise.py::test_the_printed_composition_exceeds_epsilon_where_rounds_are_few",
)
WITH_REPLACEMENT = Erratum(
    "E-02",
    grade=Grade.UNCLEAR,
    place="Section 2.1, before Theorem 2.1; the proofs of Theorem 2.1 and Lemma E.2 in Appendix E.3",
    printed=(
        "Section 2.1 draws the K records of a batch uniformly and then replaces them. The proof of Theorem 2.1 states "
        "that the mean gradient of a drawn batch has sensitivity at most 2L/K. Here L bounds the norm of a record's "
        "gradient. The proof of Lemma E.2 counts how often a record occurs in one batch. The proof of Lemma E.5 takes "
        "the records of a batch for a random subset."
    ),
    truth=(
        "A record that is drawn q times into a batch has sensitivity 2Lq/K. The proof of privacy holds for batches of "
        "distinct records."
    ),
    charitable=(
        "If a batch has distinct records that are put back only after the round, the step holds. So does Lemma E.2, "
        "as the expected number of occurrences is K/n in either reading."
    ),
    test=f"{_TESTS}/test_noise.py::test_a_record_drawn_twice_breaks_the_printed_sensitivity",
)
OWN_SAMPLES = Erratum(
    "E-04",
    grade=Grade.MISPRINT,
    place="the complete versions of Theorems 2.1, E.1 and 2.4 in Appendix E, condition on K_i",
    printed=(
        "The complete versions state that client i needs batches of K_i ≥ ε_i n/(4 √(2R ln(2/δ_i))) records in each of "
        "R rounds, for its own target (ε_i, δ_i). Each client i has n_i records there, and n is not defined."
    ),
    truth=(
        "The n of this condition must be the client's own n_i. If n is the smallest n_i, a record of a larger client "
        "is exposed."
    ),
    charitable="If n is read as n_i, the condition is the one in the proof of Theorem 2.1, and it is sufficient.",
    test=f"{_TESTS}/test_noise.py::test_the_smallest_clients_batch_exposes_a_larger_client",
)
SIGN_IN_XI = Erratum(
    "E-29",
    grade=Grade.MISPRINT,
    place="the last paragraph of Appendix E.1, on balanced data",
    printed=(
        "The paragraph states that ψ_i = L² ln(2.5R/δ) ln(2δ)/(nε)² for every client i, if all clients have n records "
        "and the target (ε, δ). Here L bounds gradients, R is the number of rounds, and 256 R ψ_i is the variance of "
        "the noise."
    ),
    truth=(
        "The last logarithm must be ln(2/δ), as in the definition of ψ_i and in the variance of the noise. For "
        "δ < 1/2, ln(2δ) is negative."
    ),
    charitable="If ln(2δ) is read as ln(2/δ), the paragraph agrees with the definition of ψ_i just before it.",
    test=f"{_TESTS}/test_noise.py::test_the_sentence_on_balanced_data_has_the_other_sign",
)
PRIVACY_ERRATA = (RANGE_OF_EPSILON, WITH_REPLACEMENT, OWN_SAMPLES)
SECOND_MOMENT = Erratum(
    "E-09",
    grade=Grade.MISPRINT,
    place="Assumption 3, definition of M'",
    printed=(
        "The assumption defines 1/M' := E√(1/M_r²), where M_r is the random number of clients that take part in "
        "round r."
    ),
    truth=(
        "The root must be over the expectation: 1/M' := √E[1/M_r²]. As printed, M' is M, which has 1/M = E[1/M_r]. Let "
        "A be the mean of the M_r largest of the clients' figures, and X = √E[A²]. With the corrected M', "
        "E[A/M_r] ≤ X/M'. X/M can be less than E[A/M_r]."
    ),
    charitable=(
        "If 1/M' is read as the square root of the second moment of 1/M_r, as in Remark E.1, the bound X/M' holds."
    ),
    test=f"{_TESTS}/test_participation.py::test_the_printed_second_moment_is_the_first",
)
NOT_PRIVATE = Erratum(
    "E-19",
    grade=Grade.PROVED_WRONG,
    place="Appendices H.1 and H.2, choice of σ² and K",
    printed=(
        "The text states that Gaussian noise of variance σ² = 8 L² ln(1/δ) R/(nε)² makes R rounds (ε, δ)-private for a "
        "client of n records. The reason is Theorem 1 of Abadi et al. 2016, with batches of K = n√ε/(2√R) records. "
        "The insurance regression uses the same noise, where L is the threshold at which gradients are clipped."
    ),
    truth=(
        "In the regression this fails for gradients that reach norm L. At n = 356, R = 35 and δ = n⁻² the true ε is at "
        "least 2.1 for the target ε = 2. For the target ε = 3 it is at least 3.5. The sampling rate q = K/n satisfies "
        "q²R = ε/4, so the cited theorem's condition needs a constant above 4. In the classification of MNIST, "
        "L = 2 max‖x‖ over the inputs x is twice the Lipschitz constant of the loss. There the true ε is at most 0.7 "
        "of each target, for batches drawn without replacement."
    ),
    charitable=(
        "If no gradient exceeds norm L/2, as on MNIST, the true ε is below every target of the experiments on MNIST. "
        "No reading that we know makes the noise sufficient for gradients that reach the clipping threshold."
    ),
    test=f"{_TESTS}/test_experiment_noise.py::test_the_noise_of_the_regression_is_not_private_from_two_on",
)

# A trusted shuffler -------------------------------------------------------------------------------------------------
MISSING_FACTOR = Erratum(
    "E-20",
    grade=Grade.PROVED_WRONG,
    place="Theorem F.2, after (39) and after (41), the end of its proof, and Corollary F.1",
    printed=(
        "Theorem F.2 is about one round of shuffled (ε₀, δ₀)-private reports of N clients with n records each. It "
        "states (ε^r, δ̃) with δ̃ = δ + 2Nn e^{(n−1)ε₀} δ₀ for every record. Hence δ̃ ≤ 7Nnδ₀ at δ = Nnδ₀ and ε₀ ≤ 1/n, "
        "and Corollary F.1 has 14Nn Σ_r δ₀^r for all rounds r."
    ),
    truth=(
        "The proof uses Lemma F.6, which multiplies the second term of δ̃ by e^{ε^r} + 1. The upper limit of δ̃ is then "
        "(1 + 2e(e^{ε^r} + 1)) Nnδ₀. Its factor is above 1 + 4e, which is about 11.87."
    ),
    charitable=(
        "With sharper distances inside the proof, 7Nnδ₀ holds at ε₀ = 1/n for small ε^r. This is up to about 1.40 for "
        "n = 1, and up to about 0.35 for n = 10. No reading that we know gives the first formula for δ̃ by Lemma F.6."
    ),
    test=f"{_TESTS}/test_shuffled_rounds.py::test_a_distance_costs_both_laws",
)
MISSING_POWER = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    place="Theorem F.1 and Corollary F.1, range of δ₀^r; footnote 16 in Appendix F.3",
    printed=(
        "The statements allow every δ₀ ≥ 2e^{−N/16}/(Nn) for the (ε₀, δ₀)-private reports of N clients with n records "
        "each, where ε₀ ≤ 1/n. Their proof applies Theorem F.2, and a footnote states that its condition on ε₀ is met."
    ),
    truth=(
        "At ε₀ = 1/n and δ = Nnδ₀, the condition of Theorem F.2 is N ≥ 16e ln(2/(Nnδ₀)). The least δ₀ is therefore "
        "2e^{−N/(16e)}/(Nn)."
    ),
    charitable=(
        "For ε₀ near 0 the printed range is nearly right, and the proof of Theorem F.2 has the right exponent "
        "−Ne^{−nε₀}/16. No reading that we know meets the condition of Theorem F.2 at ε₀ = 1/n."
    ),
    test=f"{_TESTS}/test_shuffled_rounds.py::test_the_least_local_delta_lacks_a_power_of_e",
)
WRONG_DIVERGENCE = Erratum(
    "E-22",
    grade=Grade.PROVED_WRONG,
    place="Lemma F.7 in Appendix F.3",
    printed=(
        "Let P = (1 − q)P₀ + qP₁, Q = (1 − q)P₀ + qQ₁ and ε' = ln(1 + q(e^ε − 1)). The lemma states "
        "D_{e^ε'}(P‖Q) ≤ q max{D_{e^ε}(P₁‖P₀), D_{e^ε}(P₀‖Q₁)}, where D is the hockey-stick divergence."
    ),
    truth=(
        "The last divergence must be D_{e^ε}(P₁‖Q₁). Let P₁, P₀ and Q₁ be the normal distributions N(2), N(1) and N(0) "
        "of variance 1. For q = 1/2 and ε = .01 the left side is .3397 and the printed bound .190. The paper uses the "
        "lemma at P₀ = (P₁ + Q₁)/2. There both the left side and the printed bound are at most q D_{e^ε}(P₁‖Q₁)."
    ),
    charitable=(
        "At P₀ = (P₁ + Q₁)/2 the lemma's outer bound D_{e^ε'}(P‖Q) ≤ q D_{e^ε}(P₁‖Q₁) holds, and Theorem F.2 needs no "
        "more. No reading that we know makes the first inequality hold for every P₀."
    ),
    test=f"{_TESTS}/test_shuffled_rounds.py::test_the_mixture_lemma_needs_the_other_divergence",
)
NO_CONSTANT = Erratum(
    "E-28",
    grade=Grade.MISPRINT,
    place="Theorem 4.1 in Section 4, and the privacy part of its proof in Appendix G",
    printed=(
        "N clients have n records each, and M of them report on K records in each of R rounds. The theorem states that "
        "some C exists with which noise of variance C L²RM ln(RM²/(Nδ)) ln(R/δ) ln(1/δ)/(nNε)² is (ε, δ)-private, for "
        "every K. Here L bounds gradients. The proof states that a single report needs σ² = 8L² ln(2/δ₀)/ε₀ for its "
        "own (ε₀, δ₀)."
    ),
    truth=(
        "The variance of a single report needs ε₀² in the place of ε₀. The composition of rounds needs ln(2/δ) in the "
        "place of ln(1/δ). The proof covers K = 1 only. C = 1 is not sufficient. An explicit noise is that of "
        "epsilond.shuffled-sgd-noise."
    ),
    charitable=(
        "If ε₀ is read as ε₀² and C is large enough, the noise has the right form for K = 1 with enough participants."
    ),
    test=f"{_TESTS}/test_shuffled_mb_sgd.py::test_the_proofs_noise_lacks_a_square",
)
TOO_FEW_PARTICIPANTS = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    place="Theorem 4.1 in Section 4, and the privacy part of its proof in Appendix G",
    printed=(
        "The theorem assumes M ≥ 16 ln(18RM²/(Nδ)), where M of N clients take part in each of R rounds. Its proof "
        "states that M ≥ 16 ln(2/δ₀) reports are sufficient for amplification by shuffling, if each is "
        "(ε₀, δ₀)-private with ε₀ ≤ 1."
    ),
    truth=(
        "At ε₀ = 1, Theorem F.2 needs e times as many participants. M ≥ 16e ln(36RM²/(nNδ)) is sufficient for clients "
        "with n records each."
    ),
    charitable=(
        "For ε₀ near 0 the missing factor e^ε₀ is near 1. No reading that we know makes the printed number sufficient "
        "for Theorem F.2 up to ε₀ = 1, which the proof allows."
    ),
    test=f"{_TESTS}/test_shuffled_mb_sgd.py::test_the_printed_number_of_participants_is_too_small",
)

# Compositionality and weights ---------------------------------------------------------------------------------------
REVEALING_EXAMPLE = Erratum(
    "E-23",
    grade=Grade.PROVED_WRONG,
    place="Algorithm 3 in Appendix F.2, and the text after it",
    printed=(
        "The text states that Algorithm 3 is (ε₀, δ₀)-private. A client whose record is the unit vector x sends 0 in "
        "every round r with x ≠ e_r. In the round with x = e_r it sends a randomized response on x."
    ),
    truth=(
        "The round of the first message that is not 0 reveals x. If a client sends a uniform unit vector instead of 0, "
        "the algorithm is exactly ε₀-private."
    ),
    charitable="No reading that we know makes the printed algorithm private.",
    test=f"{_TESTS}/test_shuffled_rounds.py::test_the_example_reveals_its_input",
)
NOT_MINIMAL = Erratum(
    "E-27",
    grade=Grade.UNCLEAR,
    place="Definition 4 in Section 3, and Corollary F.1 in Appendix F.3",
    printed=(
        "The definition speaks of the minimal (ε₀^r, δ₀^r) of the messages of a round r. An algorithm with the local "
        "ε₀ is C-compositional if √(Σ_r(ε₀^r)²) ≤ C ε₀. Corollary F.1 states a bound in C² on the central ε."
    ),
    truth=(
        "For δ₀ > 0 the possible pairs form a curve, and no pair is minimal. The definition is clear once every δ₀^r "
        "is fixed first. The C² of Corollary F.1 must be max(C, C²)."
    ),
    charitable="If every δ₀^r is fixed first and C ≥ 1, the definition is clear and C² is right.",
    test=f"{_TESTS}/test_shuffled_rounds.py::test_compositionality_below_one_counts_once",
)
DRIFT = Erratum(
    "E-35",
    grade=Grade.REFINEMENT,
    place="Appendix F.1",
    printed=(
        "For rounds that are ε₀^r-private, the total by advanced composition has the drift Σ_r ε₀^r(e^{ε₀^r} − 1). The "
        "text states that such algorithms are 1-compositional, and assumes a slack δ' < 1/3."
    ),
    truth=(
        "The drift Σ_r ε₀^r tanh(ε₀^r/2) is sufficient, by Theorem 3.5 of Kairouz, Oh and Viswanath. With it the total "
        "ε₀ is smaller and C = √(Σ_r(ε₀^r)²)/ε₀ is larger. C ≤ 1 holds for every δ' ≤ e^{−1/2}."
    ),
    charitable="The text holds as printed.",
    test=f"{_TESTS}/test_transformations.py::test_the_printed_drift_is_that_of_dwork_and_roth",
)
OWN_SENSITIVITY = Erratum(
    "E-30",
    grade=Grade.UNCLEAR,
    place="Appendix B",
    printed=(
        "Losses F_i with weights p_i are treated as N equally weighted losses F~_i = p_i N F_i. The text states that "
        "all results then hold with L~_i = p_i N L_i, and with L~ = max L~_i for equal record domains. It does the "
        "same with smoothness and strong convexity, and mentions neither noise nor the variances of gradients."
    ),
    truth=(
        "A client's noise must be for the gradient bound L~_i = p_i N L_i. The bound φ_i on the deviation of its "
        "gradients and the heterogeneity v scale too. If some p_i is 0, the strong convexity μ~ = min p_i N μ_i is 0."
    ),
    charitable=(
        "If L is replaced in the noise too, and φ_i and v are those of the losses F~_i, the results for clients that "
        "differ apply."
    ),
    test=f"{_TESTS}/test_transformations.py::test_noise_for_the_unweighted_gradient_is_too_little",
)
