"""Experiments on shipped data: short forms run, findings follow from the bands, and the best of what was tuned is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from epsilond.calibrators.answer import Ends, as_json
from epsilond.questions.simulate import simulate
from epsilond.witness.cells import CellAnswer, tabled
from epsilond.witness.experiment import Axis, Cell, Claimed
from epsilond.witness.experiments import das_digits
from epsilond.witness.figures import draw
from epsilond.witness.findings import compared, duel, falling, printed_noise
from epsilond.witness.presets import PRESETS
from epsilond.witness.risks.answer import Measured

BY_NAME = {preset.name: preset for preset in PRESETS}


def band(mean: float, reach: float = 0.1) -> Measured:
    return Measured(mean=mean, lower=mean - reach, upper=mean + reach, standard_error=reach / 2)


# Verdicts -------------------------------------------------------------------------------------------------------------
def test_bands_that_touch_decide_nothing() -> None:
    assert compared(band(1.0), band(2.0)) == "better"
    assert compared(band(1.0), band(2.0), lower_is_better=False) == "worse"
    assert compared(band(1.0), band(1.2)) == "alike"


@pytest.mark.parametrize(
    ("pairs", "ties_confirm", "verdict"),
    [
        ([(1, 2), (1, 2)], False, "confirmed"),
        ([(1, 2), (1, 1)], False, "confirmed"),
        ([(1, 2), (1, 1), (1, 1)], False, "confirmed in part"),
        ([(1, 2), (1, 1), (1, 1)], True, "confirmed"),
        ([(1, 2), (2, 1)], False, "confirmed in part"),
        ([(1, 2), (2, 1), (2, 1)], True, "refuted"),
        ([(1, 1)], False, "undecided"),
        ([(1, 1)], True, "confirmed"),
        ([], True, "undecided"),
    ],
)
def test_a_verdict_follows_from_how_often_each_is_better(
    pairs: list[tuple[float, float]], ties_confirm: bool, verdict: str
) -> None:
    measured = [(band(first), band(second)) for first, second in pairs]
    found = duel("a beats b", measured, names=("a", "b"), what="error", ties_confirm=ties_confirm)
    assert found.verdict == verdict
    if pairs:
        better = sum(first < second for first, second in pairs)
        assert f"in {better} of {len(pairs)} settings" in found.words


def test_a_line_falls_from_its_first_value_to_its_last() -> None:
    assert falling("falls", [[band(3), band(9), band(1)]], what="error").verdict == "confirmed"
    assert falling("falls", [[band(1), band(3)]], what="error").verdict == "refuted"
    assert falling("falls", [[band(1)]], what="error").verdict == "undecided"


def claimed_cell(claimed: float, lower: float, upper: float) -> CellAnswer:
    return CellAnswer(place={}, kind="risk", claimed_epsilon=claimed, epsilon=Ends(lower, upper))


def test_a_claimed_epsilon_is_true_only_if_the_certified_one_is_at_most_it() -> None:
    good, bad, open_ = claimed_cell(1, 0.5, 0.9), claimed_cell(2, 2.5, 2.6), claimed_cell(3, 2.9, 3.1)
    assert printed_noise([good], "private").verdict == "confirmed"
    assert printed_noise([good, bad], "private").verdict == "confirmed in part"
    assert printed_noise([bad], "private").verdict == "refuted"
    assert printed_noise([open_, good], "private").verdict == "undecided"
    assert printed_noise([], "private").verdict == "undecided"
    assert "2.5 where 2 is claimed" in printed_noise([good, bad], "private").words


# Tables ---------------------------------------------------------------------------------------------------------------
def test_of_what_was_tuned_the_least_excess_is_kept_for_each_run_by_itself() -> None:
    from epsilond.witness import cells as module

    answers = {
        step: CellAnswer(
            place={"epsilon": 1.0, "step": step},
            kind="risk",
            final_excess=band(own),
            scores={"test_error": band(step)},
            beside={"non-private": band(other)},
            scores_beside={"non-private": {"test_error": band(10 * step)}},
        )
        for step, own, other in ((0.1, 3.0, 1.0), (1.0, 2.0, 5.0), (10.0, float("inf"), 9.0))
    }
    preset = replace(BY_NAME["lowy-logistic"], tuned=Axis(name="step", title="step"))
    fake = type("Answer", (), {"kind": "fake"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TABLED", {"fake": lambda cell, _: answers[cell.place["step"]]})
        placed = [(Cell(place=cell.place, simulation=None), fake) for cell in answers.values()]
        (kept,) = tabled(preset, placed)
    assert kept.place == {"epsilon": 1.0}
    assert kept.tuned == {"private": 1.0, "non-private": 0.1}
    assert kept.final_excess == band(2.0)
    assert kept.scores == {"test_error": band(1.0)}
    assert kept.beside == {"non-private": band(1.0)}
    assert kept.scores_beside == {"non-private": {"test_error": band(1.0)}}


# Short forms ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["lowy-logistic-short", "das-noise-short"])
def test_a_short_form_answers_is_drawn_and_judges(name: str) -> None:
    answer = simulate(name, repetitions=2, seed=1)
    preset = BY_NAME[name]
    assert answer.stands_in_for == preset.stands_in_for
    assert len(answer.cells) < len(preset.cells(2, 1))
    assert answer.findings is not None
    assert all(finding.words for finding in answer.findings)
    verdicts = {finding.claim: finding.verdict for finding in answer.findings}
    printed = next(verdict for claim, verdict in verdicts.items() if "printed" in claim)
    # What is known of the printed noise whatever the repetitions: E-19 of Lowy and Razaviyayn, D-1 of Das et al.
    assert printed == ("confirmed in part" if name.startswith("lowy") else "refuted")
    for cell in answer.cells:
        assert cell.epsilon is not None
        assert cell.scores is not None
        assert 0.0 <= cell.scores[preset.measure or ""].mean <= 1.0
        if cell.claimed_epsilon is None:
            assert cell.epsilon.upper <= cell.place["epsilon"]
    assert "tuned-on-data" in {warning.code for warning in answer.warnings}
    body = as_json(answer)
    assert "on records held out" in draw(body, "svg").decode()
    assert body["findings"][0]["verdict"] in ("confirmed", "confirmed in part", "refuted", "undecided")


@pytest.mark.parametrize("name", ["lowy-logistic", "lowy-softmax", "lowy-regression", "das-noise"])
def test_noise_with_a_claim_is_what_the_paper_prints(name: str) -> None:
    cells = BY_NAME[name].cells(2, 0)
    printed = [cell for cell in cells if cell.claimed is not None]
    assert printed
    for cell in printed:
        assert cell.claimed == Claimed(epsilon=float(cell.place["epsilon"]), delta=cell.claimed.delta)
        assert cell.simulation.epsilon is None
    if name == "das-noise":
        assert printed[0].simulation.problem.build().dimension == das_digits.DIMENSION
    if name == "lowy-regression":
        run, problem = printed[0].simulation.run, printed[0].simulation.problem.build()
        n, delta = problem.samples_per_client, printed[0].claimed.delta
        assert delta == pytest.approx(n**-2.0)
        from math import log, sqrt

        printed_std = sqrt(8.0 * log(1.0 / delta) * 35) * problem.constants.lipschitz / (n * 0.125)
        assert run.noise_std == pytest.approx(printed_std)


def test_the_page_has_a_place_for_each_experiment_and_its_tables_are_made_of_an_answer() -> None:
    from scripts.pages import experiments

    page = experiments.PAGE.read_text(encoding="utf-8")
    longer = [name for name in BY_NAME if name.startswith(("lowy-", "das-")) and not name.endswith("-short")]
    assert all(f"`epsilond simulate {name}`" in page and f"<!-- begin {name} -->" in page for name in longer)
    answer = as_json(simulate("lowy-logistic-short", repetitions=2)) | {"preset": "lowy-logistic"}
    made = experiments.put(page, answer)
    cell = answer["cells"][0]
    assert f"| {cell['scores']['test_error']['mean']:.3f} |" in made
    assert answer["findings"][0]["words"] in made
    assert experiments.put(made, answer) == made
    with pytest.raises(LookupError):
        experiments.put(page, answer | {"preset": "unknown"})
