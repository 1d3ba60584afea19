"""Errata of Reshef and Levy on the privacy of noise cancellation."""

from __future__ import annotations

from epsilond.accountants.theorem import Erratum, Grade

_TESTS = "tests/theorems/papers/reshef_levy"

ADAPTIVE_OUTPUTS = Erratum(
    "E-R6",
    grade=Grade.UNCLEAR,
    printed=(
        "The proof of Lemma A.3 states that a mechanism's output, given the outputs of earlier mechanisms, is "
        "independent of these outputs."
    ),
    truth=(
        "A mechanism may depend on earlier outputs. Its Rényi divergence, given these outputs, is bounded at each of "
        "their values. The sum of the bounds follows from the chain rule. Lemma A.3 is right."
    ),
    test=f"{_TESTS}/test_divergences.py::test_mechanisms_that_depend_on_earlier_outputs_compose",
    place="Appendix A, proof of Lemma A.3",
    charitable=(
        "If the step is read as a bound on the divergence at every value of the earlier outputs, the proof holds."
    ),
)
MALICIOUS = Erratum(
    "E-R9",
    grade=Grade.REFINEMENT,
    printed=(
        "Lemma 4.2 states |s_{t,i}| ≤ S = G + 2LD for the message s_{t,i} of client i, at the models x_t of Algorithm "
        "1. Here G bounds a gradient, L is its Lipschitz constant, and D the diameter of the domain."
    ),
    truth=(
        "A server that departs from Algorithm 1 may send models x_t and x_{t−1} that are far apart. The norm of "
        "s_{t,i} then reaches G + (t − 1)LD. A guarantee against this server needs clients that clip s_{t,i} to S."
    ),
    test=f"{_TESTS}/test_noise_cancellation.py::test_a_malicious_server_exceeds_the_printed_norm",
    place="Section 4.3, Lemma 4.2; used in Theorem 5.1",
    charitable="If the server follows Algorithm 1 and only reads the messages, Lemma 4.2 and Theorem 5.1 hold.",
)
SLACK = Erratum(
    "E-R11",
    grade=Grade.REFINEMENT,
    printed=(
        "Theorem 5.2 states noise of variance σ²_{t,i} = 4S²(1 + ln T)N_{t,i}/ρ² for ρ²/2-zCDP. Here S bounds the norm "
        "of a message, and T is the number of rounds. N_{t,i} counts the reports of client i up to round t."
    ),
    truth=(
        "For at most K reports of a client, the harmonic number H_K suffices in place of 1 + ln T. At the printed "
        "noise, the true parameter of a client is ρ√(H_K/(1 + ln T))."
    ),
    test=f"{_TESTS}/test_noise_cancellation.py::test_the_printed_schedule_gives_more_than_it_says",
    place="Theorem 5.2, the variance σ²_{t,i}",
    charitable="The guarantee of privacy holds as printed.",
)
LEFT_OVERS = Erratum(
    "E-R7",
    grade=Grade.MISPRINT,
    printed=(
        "Theorems F.1 and F.2, on Algorithm 2, name y_{t,i}, P_{t,i}, N_{t,i}, Algorithm 1 and Theorem 5.1. In "
        "Algorithm 2 the server alone adds noise. Theorem F.1 has SD = G + 2LD for the bound S on a message."
    ),
    truth=(
        "They mean the server's noise Y_t, its law P_t, Algorithm 2, and S = G + 2LD. Of T rounds, only those below T "
        "reach the models x_1, …, x_T. The true parameter at equal noise in all rounds is therefore ρ√((T − 1)/T)."
    ),
    test=f"{_TESTS}/test_noise_cancellation.py::test_the_last_round_of_a_trusted_server_is_not_released",
    place="Appendix F, Theorems F.1 and F.2, and the texts before and after them",
    charitable="If each name is replaced by its counterpart in Algorithm 2, both statements on privacy hold.",
)
