"""Appendix H.2 of Lowy and Razaviyayn: private training against the mean of the training targets."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiments.own_data.lowy_arms import NOISY_LOCAL, NOISY_MINI_BATCH
from epsilond.witness.experiments.own_data.lowy_naive import judge_naive
from epsilond.witness.risks.answer import Measured

ERRORS = {
    (NOISY_MINI_BATCH, 1.0): 0.65,
    (NOISY_LOCAL, 1.0): 0.66,
    (NOISY_MINI_BATCH, 3.0): 0.6,
    (NOISY_LOCAL, 3.0): 0.5,
}
"""Errors as the text states them, by arm and ε."""


def cells(errors: Mapping[tuple[str, float], float], panel: str = "3 of 3") -> list[CellAnswer]:
    return [
        CellAnswer(
            place={"participants": panel, "arm": arm, "epsilon": epsilon},
            kind="trials",
            scores={"error": Measured(mean=error, lower=error - 0.01, upper=error + 0.01, standard_error=0.005)},
        )
        for (arm, epsilon), error in errors.items()
    ]


def verdicts(errors: Mapping[tuple[str, float], float], panel: str = "3 of 3") -> list[str]:
    return [finding.verdict for finding in judge_naive(cells(errors, panel), "error")]


def test_errors_as_the_text_states_confirm_it() -> None:
    assert verdicts(ERRORS) == ["confirmed", "confirmed", "confirmed"]


@pytest.mark.parametrize(
    ("key", "error", "place", "verdict"),
    [
        ((NOISY_LOCAL, 1.0), 1.2, 0, "mixed"),
        ((NOISY_LOCAL, 1.0), 1.0, 0, "confirmed in part"),
        ((NOISY_MINI_BATCH, 1.0), 0.5, 1, "not reproduced"),
        ((NOISY_MINI_BATCH, 1.0), 0.8, 1, "not reproduced"),
        ((NOISY_MINI_BATCH, 1.0), 0.705, 1, "confirmed"),
        ((NOISY_LOCAL, 3.0), 0.7, 2, "not reproduced"),
        ((NOISY_LOCAL, 3.0), 0.6, 2, "undecided"),
    ],
)
def test_one_other_error_changes_the_verdict(key: tuple[str, float], error: float, place: int, verdict: str) -> None:
    assert verdicts({**ERRORS, key: error})[place] == verdict


def test_a_panel_without_the_named_setting_is_open_about_it() -> None:
    assert verdicts(ERRORS, panel="5 of 5")[2] == "undecided"
    assert verdicts({}) == ["undecided", "undecided", "undecided"]
