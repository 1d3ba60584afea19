"""Errata that were withdrawn, each with the test that shows why. No answer serves them."""

from __future__ import annotations

from dataclasses import dataclass

from epsilond.accountants.theorem import Erratum, Grade

_RISK, _PAPERS = "tests/theorems/risk", "tests/theorems/papers"


@dataclass(frozen=True, kw_only=True)
class Withdrawal:
    """A withdrawn erratum of some theorems. `printed` is our former finding, `truth` the reason of the withdrawal."""

    theorems: tuple[str, ...]
    erratum: Erratum


WITHDRAWN: tuple[Withdrawal, ...] = (
    Withdrawal(
        theorems=("lowy.e.1",),
        erratum=Erratum(
            "E-06",
            grade=Grade.WITHDRAWN,
            printed="M~ := √M' or √M in the rounds of Theorem E.1, of Theorem 2.4, and of 2.1 if strongly convex",
            truth="These are printed with the plain M' and M. The root is in 2.1 convex, 2.2 and the envelope of 2.4",
            test=f"{_RISK}/lowy_razaviyayn/test_printed_rounds.py::test_the_printed_rounds_are_those_of_the_text",
        ),
    ),
    Withdrawal(
        theorems=("lowy.2.1", "lowy.2.2", "lowy.e.1", "lowy.2.4", "epsilond.mini-batch-sgd-noise"),
        erratum=Erratum(
            "E-29",
            grade=Grade.WITHDRAWN,
            printed="ξ_i and with it the noise variance are printed with ln(2δ_i), and so negative",
            truth="ξ_i, ψ_i and σ² are printed with ln(2/δ_i). One sentence on balanced data has ln(2δ), a misprint",
            test=f"{_PAPERS}/lowy_razaviyayn/test_noise.py::test_the_sentence_on_balanced_data_has_the_other_sign",
        ),
    ),
    Withdrawal(
        theorems=("asoodeh.lemma-2",),
        erratum=Erratum(
            "A-8",
            grade=Grade.WITHDRAWN,
            printed="the coefficient of a projected Gaussian kernel is printed as equal to θ_ε(D/s)",
            truth="Lemma 2 is about the kernel without a projection, whose coefficient is θ_ε(D/s)",
            test="tests/theorems/hidden_states/test_contraction.py::test_the_factor_of_the_lemma_is_attained",
        ),
    ),
    Withdrawal(
        theorems=("asoodeh.2", "asoodeh.corollary-1"),
        erratum=Erratum(
            "A-9",
            grade=Grade.WITHDRAWN,
            printed="the text states that more users in a round lower δ at all parameters",
            truth="the sentence is about Figure 2, where it holds",
            test=f"{_PAPERS}/asoodeh/test_one_pass.py::test_more_users_in_a_round_lower_delta_in_figure_2",
        ),
    ),
    Withdrawal(
        theorems=("bietti.section-5-bias", "epsilond.optimal-personalization"),
        erratum=Erratum(
            "E-B12",
            grade=Grade.WITHDRAWN,
            printed="the bias is printed as the same for every α, and as of order 1/(Nn) for every α at q = 1/N",
            truth="the first is printed nowhere, and the second holds for each fixed α > 0",
            test=f"{_RISK}/bietti/test_parts_of_the_bound.py::test_the_remark_holds_for_every_fixed_alpha",
        ),
    ),
)
