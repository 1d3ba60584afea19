"""Errata of Bietti et al. on the noise of personalised federated learning."""

from __future__ import annotations

from epsilond.accountants.theorem import Erratum, Grade

_TESTS = "tests/theorems/papers/bietti"

NO_CONSTANT = Erratum(
    "E-B1",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 4.1 states that noise σ_ζ ≥ cC√(n ln(1/δ))/(Nε) gives (ε, δ)-joint privacy, with an absolute constant "
        "c. Here C is the clipping norm, n the number of rounds, and N the number of clients. The theorem names no "
        "range of ε. Theorem 5.1, for sampled clients, names one."
    ),
    truth=(
        "The least c at a target (ε, δ) is kε/(μ*(ε, δ)√ln(1/δ)). Here k is 2 for a client that is replaced, and 1 for "
        "one that is zeroed. μ*(ε, δ) is the largest μ at which μ-Gaussian differential privacy is (ε, δ). For large ε "
        "the least c is about k√(ε/(2 ln(1/δ))), which has no bound. For ε ≤ r ln(1/δ), the least c that is valid for "
        "every δ is k(1 + √(1 + r))/√2."
    ),
    test=f"{_TESTS}/test_noise.py::test_no_constant_serves_every_target",
    place="Theorem 4.1, (4)",
    charitable=(
        "If ε is read to be at most r ln(1/δ), as is usual for advanced composition, the theorem holds with "
        "c = k(1 + √(1 + r))/√2. For every ε it holds with no c."
    ),
)
PROOF_LOSES = Erratum(
    "E-B2",
    grade=Grade.PROVED_WRONG,
    printed=(
        "The proof states that each of n updates is (ε/√(n ln(1/δ)), δ)-private by the Gaussian mechanism. It states "
        "that the n updates together are (ε, δ)-private by advanced composition."
    ),
    truth=(
        "By the Gaussian mechanism, the ε of an update is √(2 ln(1.25/δ)) k/c times the stated one. Here c is the "
        "constant of the noise. The factor k is 2 for a client that is replaced, and 1 for one that is zeroed. The δ "
        "of n updates add up to nδ. In the range ε ≤ r ln(1/δ) of E-B1, Theorem 4.1 is true by Gaussian differential "
        "privacy."
    ),
    test=f"{_TESTS}/test_noise.py::test_the_printed_proof_gives_more_than_it_claims",
    place="Appendix B.1, proof of Theorem 4.1",
    charitable=(
        "No reading that we know makes both steps hold with an absolute constant c. Another proof gives the theorem in "
        "a range of ε."
    ),
)
SENSITIVITY = Erratum(
    "E-B3",
    grade=Grade.MISPRINT,
    printed=(
        "The proof states that an update of the shared model has the ℓ2 sensitivity αη/N. Here α is the weight of the "
        "shared part, η the step size, and N the number of clients."
    ),
    truth=(
        "The sensitivity of an update is αη kC/N, where C bounds the norm of a gradient. The factor k is 2 for the "
        "replacement of Definition 3.2."
    ),
    test=f"{_TESTS}/test_noise.py::test_the_sensitivity_is_that_of_a_replacement",
    place="Appendix B.1, proof of Theorem 4.1",
    charitable=(
        "If gradients are measured in units of their bound C, and the constant c of the noise absorbs k, the "
        "sensitivity is right."
    ),
)
HIDDEN_RANGE = Erratum(
    "E-B9",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 5.1 states that absolute constants c₁ and c₂ exist. Noise with the factor c₂ then suffices for every "
        "ε < c₁q²T. Here q is the rate at which clients are drawn, and T the number of rounds. The text gives neither "
        "constant."
    ),
    truth=(
        "The least c₂ depends on the target. Let δ = 1e-5, q = 1e-3 and T = 1e5. For a client that is zeroed, the "
        "least c₂ is 1.27 at ε = 1 and 4.95 at ε = 10. For a client that is replaced, it is 2.20 and 5.34. At q = 1/N "
        "and T = nN, which Section 5 proposes for N clients, the range excludes every ε ≥ c₁n/N."
    ),
    test=f"{_TESTS}/test_sampled_noise.py::test_one_constant_serves_small_epsilon_and_is_too_small_beyond",
    place="Theorem 5.1, (12)",
    charitable=(
        "If c₁ is small enough, one c₂ may serve the whole range, as in the theorem of Abadi et al. that the proof "
        "cites. We know no counterexample to this reading."
    ),
)
FIXED_NUMBER = Erratum(
    "E-B8",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Section 6 draws a fixed number Q of the N clients in each round. It states the ε of a run by the moments "
        "accountant."
    ),
    truth=(
        "The moments accountant is for independent draws that stay hidden. Let N = 500, Q = 10, T = 2000 rounds, δ = "
        "1e-4, and noise of z = 1 times the clipping norm. The accountant then gives ε = 5.40, or 6.15 by the older "
        "conversion. Exact composition of independent draws gives 4.84. If Q is fixed, the other clients count "
        "themselves and so know who was drawn. A client of 40 rounds then has ε = 42.7 if it is zeroed, and 126 if it "
        "is replaced."
    ),
    test=f"{_TESTS}/test_billboard.py::test_a_fixed_number_of_participants_is_not_amplified",
    place="Section 6, Experiment setup",
    charitable=(
        "If clients are drawn independently, as in Algorithm 2, the accountant's ε holds for a client that is zeroed. "
        "No reading that we know makes it hold for a fixed Q under Definition 3.2."
    ),
)
NOISE_OF_THE_AVERAGE = Erratum(
    "E-B10",
    grade=Grade.MISPRINT,
    printed=(
        "Section 6 states Gaussian noise of variance σ_ζ² = σ²C², with the noise multiplier σ and the clipping norm C. "
        "Algorithm 1 adds noise of variance σ_ζ² to the mean of the messages of N clients."
    ),
    truth="We find that the code of the experiments adds noise of standard deviation σC/N to this mean.",
    test=f"{_TESTS}/test_billboard.py::test_the_experiments_noise_is_on_the_average",
    place="Section 6, Experiment setup",
    charitable=(
        "If σ_ζ is read as the noise of the sum of the messages, the text agrees with the code. Appendix B.4 also "
        "writes σC for the noise of the sum."
    ),
)
