"""Experiments on personal models, cancelled noise, hidden states and memberships: their cells and their findings."""

import math
from dataclasses import replace

import pytest
from rich.console import Console

from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilon
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Ends, as_json
from epsilond.terminal.simulations import simulation as simulation_table
from epsilond.witness.audits.answer import ClaimChecked
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiments import (
    asoodeh_figure_2,
    memberships,
    mu2_digits,
    ppsgd_digits,
    ppsgd_grid,
    ppsgd_synthetic,
)
from epsilond.witness.experiments.own_data import reshef_claims
from epsilond.witness.figures import draw
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.risks.answer import Measured
from tests.witness.running import run_simulation


def band(mean, reach=0.01):
    return Measured(mean=mean, lower=mean - reach, upper=mean + reach, standard_error=reach / 2)


def run_preset(name, repetitions):
    return run_simulation(PresetSimulation(preset=name, repetitions=repetitions))


# Figure 2 of Asoodeh et al. -------------------------------------------------------------------------------------------
FIGURE_2 = {
    (0.1, 0.0): 0.16695,
    (0.1, 0.5): 0.030798,
    (0.1, 1.0): 0.0020211,
    (0.1, 2.0): 2.3027e-7,
    (0.2, 0.0): 0.11850,
    (0.2, 0.5): 0.0073409,
    (0.2, 1.0): 5.0375e-5,
    (0.2, 2.0): 1.1303e-12,
    (0.3, 0.0): 0.096876,
    (0.3, 0.5): 0.0022805,
    (0.3, 1.0): 1.7561e-6,
    (0.3, 2.0): 8.19e-18,
}
"""δ of Figure 2 by q and ε, computed independently of the code, to all given digits."""


@pytest.mark.parametrize(("share", "epsilon"), FIGURE_2)
def test_printed_delta_of_figure_2_matches_reference_values(share, epsilon):
    readings = asoodeh_figure_2.log10_deltas(epsilon, share)
    assert 10 ** readings["printed"] == pytest.approx(FIGURE_2[share, epsilon], rel=1e-4)
    assert 10 ** (readings["corrected"] - readings["printed"]) == pytest.approx(0.9 if share == 0.3 else 1.0, rel=1e-6)
    assert readings["certified"] <= readings["corrected"]


@pytest.mark.parametrize("share", asoodeh_figure_2.SHARES)
def test_the_smoothness_of_figure_2_does_not_matter(share):
    """The paper names none; any β ≤ 2/η gives the same three curves."""
    curves = []
    for smoothness in (0.5, 2.0, 4.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asoodeh_figure_2, "SMOOTHNESS", smoothness)
            curves.append(asoodeh_figure_2.log10_deltas(0.5, share))
    assert curves[0] == pytest.approx(curves[1], rel=1e-9)
    assert curves[2] == pytest.approx(curves[1], rel=1e-9)


def test_figure_2_is_confirmed_and_drawn():
    table = run_preset("asoodeh-figure-2", 2)
    assert [finding.verdict for finding in table.findings] == ["confirmed", "confirmed"]
    assert "27 of 27" in table.findings[0].words
    assert all(cell.epsilon.upper <= cell.place["epsilon"] for cell in table.cells)
    assert "certified δ" in draw(as_json(table), "svg").decode()


def test_refuted_point_refutes_figure_2():
    checked = ClaimChecked(epsilon=1.0, violated=Verdict.YES, delta_lower=0.1, ratio=2.0)
    deltas = {"printed": -3.0, "corrected": -3.0, "certified": -1.0}
    cells = [
        CellAnswer(place={"epsilon": 1.0, "share": share}, kind="audit", claim=checked, log10_deltas=deltas)
        for share in asoodeh_figure_2.SHARES
    ]
    first, second = asoodeh_figure_2.judge(cells)
    assert (first.verdict, second.verdict) == ("refuted", "not reproduced")
    assert "0 of 3 points" in first.words


# Noise taken back -----------------------------------------------------------------------------------------------------
def test_both_algorithms_of_a_table_use_the_same_epsilon_and_records():
    for cells in (mu2_digits.cells(2, 0), mu2_digits.shared_cells(2, 0)):
        for private, printed, one_pass_cell in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
            assert private.simulation.epsilon == one_pass_cell.simulation.epsilon == printed.claimed.epsilon
            assert printed.simulation.run.noise_std > 0.0
            assert printed.simulation.problem == private.simulation.problem
            assert private.simulation.problem == one_pass_cell.simulation.problem
            one_pass = one_pass_cell.simulation.run
            assert private.simulation.run.rounds == one_pass.rounds * one_pass.batch_size
            assert private.simulation.run.participants == one_pass.participants
    shared = mu2_digits.shared_cells(2, 0)
    records_of_machine = 60_000 // mu2_digits.PAPER_CLIENTS
    for cell in (*mu2_digits.cells(2, 0)[::3], *shared[::3]):
        run = cell.simulation.run
        assert run.rounds * run.participants == records_of_machine * cell.simulation.problem.clients
    assert {cell.simulation.run.rounds * cell.simulation.run.participants for cell in shared[::3]} == {3_600}
    assert shared[0].simulation.epsilon == exact_epsilon(mu=8.0, log_delta=math.log(1e-5))


def mu2_cell(algorithm, accuracy, sgd=0.5):
    comparisons = {name: {"test_accuracy": band(sgd)} for name in ("noisy-sgd", "independent-noise")}
    return CellAnswer(
        place={"participants": 4, "algorithm": algorithm},
        kind="risk",
        scores={"test_accuracy": band(accuracy)},
        scores_beside=comparisons if algorithm == mu2_digits.TAKEN_BACK else None,
    )


def printed_cell(epsilon):
    """Return a cell with printed noise of claimed ε = 8 and the given certified ε."""
    return CellAnswer(
        place={"participants": 4, "algorithm": mu2_digits.PRINTED},
        kind="risk",
        claimed_epsilon=8.0,
        epsilon=Ends(epsilon, epsilon),
    )


@pytest.mark.parametrize(
    ("cancelled", "noisy_sgd", "one_pass", "printed_epsilon", "verdicts"),
    [
        (0.9, 0.5, 0.9, 7.9, ["confirmed", "confirmed", "confirmed", "confirmed"]),
        (0.5, 0.9, 0.2, 8.1, ["not reproduced", "not reproduced", "confirmed", "refuted"]),
    ],
)
def test_cancelled_noise_is_judged_by_bands(cancelled, noisy_sgd, one_pass, printed_epsilon, verdicts):
    cells = [
        mu2_cell(mu2_digits.TAKEN_BACK, cancelled, noisy_sgd),
        mu2_cell(mu2_digits.ONE_PASS, one_pass),
        printed_cell(printed_epsilon),
    ]
    assert [finding.verdict for finding in mu2_digits.judge(cells)] == verdicts


# Personal models ------------------------------------------------------------------------------------------------------
def personal(best):
    """Return cells with the given best place at each ε, by split."""
    return [
        CellAnswer(
            place={"personalization": place, "epsilon": ppsgd_synthetic.noise_name(epsilon), "split": split},
            kind="risk",
            scores={"test_accuracy": band(0.9 if place == best_place else 0.5)},
        )
        for split, places in best.items()
        for epsilon, best_place in zip(ppsgd_digits.EPSILONS, places, strict=True)
        for place in ppsgd_digits.PERSONALIZATIONS
    ]


def test_personalization_is_judged_by_the_best_place_at_each_epsilon():
    falling = ["10", "1", "0.1", "all own"]
    first, second = ppsgd_digits.judge(personal({"consecutive": falling, "by label": falling}))
    assert (first.verdict, second.verdict) == ("confirmed", "confirmed")
    assert "ε = 4 all own" in second.words
    _, rising = ppsgd_digits.judge(personal({"consecutive": falling[::-1], "by label": falling[::-1]}))
    assert rising.verdict == "not reproduced"
    same = ["1"] * 4
    assert ppsgd_digits.judge(personal({"consecutive": same, "by label": same}))[1].verdict == "undecided"
    assert ppsgd_digits.judge(personal({"consecutive": falling, "by label": falling[::-1]}))[1].verdict == "mixed"


def test_grid_is_that_of_the_appendix_and_is_judged_by_its_least_excess():
    cells = ppsgd_grid.cells(2, 0)
    assert len(ppsgd_grid.STEPS) == 11
    assert (*ppsgd_grid.STEPS, 2.1, 2.5) == ppsgd_grid.EXTENDED_STEPS, "two steps above the appendix's largest"
    assert {cell.place["step_size"] for cell in cells} == set(ppsgd_grid.EXTENDED_STEPS)
    assert len(cells) == 13 * 9 * 3
    assert {cell.simulation.run.noise_std for cell in cells} == {0.0, 1.0, 10.0}

    def cells_with_best(places):
        best = dict(zip(ppsgd_grid.NOISES, places, strict=True))
        answers = []
        for cell in cells:
            is_best = best[cell.place["noise_multiplier"]] == cell.place["personalization"]
            answers.append(CellAnswer(place=dict(cell.place), kind="risk", final_excess=band(1.0 if is_best else 2.0)))
        return answers

    assert ppsgd_grid.judge(cells_with_best(["3", "1", "all own"]))[0].verdict == "confirmed"
    assert ppsgd_grid.judge(cells_with_best(["all own", "1", "3"]))[0].verdict == "not reproduced"


def test_personalised_cell_reports_its_accuracy():
    cell = ppsgd_digits.cells(2, 0)[2]
    request = replace(cell.simulation, run=replace(cell.simulation.run, rounds=5))
    answer = run_simulation(request)
    assert 0.1 < answer.series[0].scores["test_accuracy"].mean < 1.0
    assert answer.bounds == ()
    assert as_json(answer)["problem"]["constants"]["optimum_norm"] == "unbounded"


# Tables 1 and 2 of Reshef and Levy ------------------------------------------------------------------------------------
def printed_answers(table, axis, changes=None):
    """Return cells that measure exactly what a table prints, but for changes by algorithm and value."""
    accuracies = {
        (name, value): reshef_claims.printed_accuracy(row, name)
        for value, row in table.items()
        for name in reshef_claims.ARMS
    }
    return [
        CellAnswer(
            place={axis: value, "algorithm": name},
            kind="trials",
            scores={"test_accuracy": band(accuracy, reach=1e-6)},
        )
        for (name, value), accuracy in (accuracies | (changes or {})).items()
    ]


def verdicts_over_rho(changes=None):
    answers = printed_answers(mu2_digits.TABLE_1, "gaussian_dp_mu", changes)
    return [finding.verdict for finding in reshef_claims.judge_over_rho(answers)]


def verdicts_over_participants(changes=None):
    answers = printed_answers(mu2_digits.TABLE_2, "participants", changes)
    return [finding.verdict for finding in reshef_claims.judge_over_participants(answers)]


OWN, SGD, OTHER = reshef_claims.ARMS


def test_the_printed_tables_confirm_what_the_text_draws_from_them():
    """Only the statement that both private algorithms are as accurate fails in the tables, where the other is ahead."""
    assert verdicts_over_rho() == ["confirmed", "mixed", *["confirmed"] * 6]
    assert verdicts_over_participants() == ["confirmed", "mixed", *["confirmed"] * 7]


@pytest.mark.parametrize(
    ("changes", "place", "verdict"),
    [
        ({(OWN, 8.0): 0.58}, 0, "mixed"),
        ({(SGD, 12.0): 0.58}, 2, "mixed"),
        ({(OTHER, 12.0): 0.66}, 3, "mixed"),
        ({(OTHER, 4.0): 0.55, (OTHER, 8.0): 0.65, (OTHER, 12.0): 0.66}, 3, "not reproduced"),
        ({(OTHER, 4.0): 0.4946}, 4, "not reproduced"),
        ({(OTHER, 4.0): 0.4944}, 4, "confirmed"),
        ({(OWN, 4.0): 0.55}, 5, "mixed"),
        ({(SGD, 4.0): 0.44}, 6, "mixed"),
        ({(OTHER, rho): 0.7 for rho in mu2_digits.TABLE_1}, 7, "not reproduced"),
    ],
)
def test_a_changed_accuracy_over_rho_changes_the_verdict(changes, place, verdict):
    assert verdicts_over_rho(changes)[place] == verdict


@pytest.mark.parametrize(
    ("changes", "place", "verdict"),
    [
        ({(OWN, 80): 0.63}, 2, "mixed"),
        ({(SGD, 80): 0.60}, 2, "confirmed"),
        ({(SGD, 80): 0.60}, 3, "not reproduced"),
        ({(OTHER, 80): 0.60}, 4, "mixed"),
        ({(OTHER, 80): 0.55}, 4, "not reproduced"),
        ({(OWN, 20): 0.50}, 5, "mixed"),
        ({(OWN, 20): 0.90}, 5, "mixed"),
    ],
)
def test_a_changed_accuracy_over_the_machines_changes_the_verdict(changes, place, verdict):
    assert verdicts_over_participants(changes)[place] == verdict


def test_a_change_that_the_bands_leave_open_is_undecided():
    wide = replace(band(0.6), lower=0.4, upper=0.8)
    scores = {(name, size): wide for name in reshef_claims.ARMS for size in mu2_digits.TABLE_2}
    answers = [
        CellAnswer(place={"participants": size, "algorithm": name}, kind="trials", scores={"test_accuracy": score})
        for (name, size), score in scores.items()
    ]
    assert reshef_claims.judge_over_participants(answers)[5].verdict == "undecided"
    assert [finding.verdict for finding in reshef_claims.judge_over_rho([])] == ["undecided"] * 8


# Memberships ----------------------------------------------------------------------------------------------------------
def test_membership_preset_is_tabulated_drawn_and_judged():
    table = run_preset("membership-short", 2)
    assert table.findings[0].verdict == "confirmed"
    assert {cell.place["canaries"] for cell in table.cells} == {
        memberships.WORST,
        memberships.FLIPPED,
        memberships.CLIENTS,
    }
    assert all(cell.epsilon_lower == max(cell.attacks.values()) <= cell.epsilon.upper for cell in table.cells)
    assert "certified" in draw(as_json(table), "svg").decode()
    console = Console(width=250)
    with console.capture() as caught:
        console.print(simulation_table(table))
    assert "offline-likelihood-ratio" in caught.get()


def test_bound_above_its_certificate_is_refuted():
    cell = CellAnswer(
        place={"noise_multiplier": 1.0, "canaries": memberships.WORST},
        kind="membership",
        epsilon=Ends(1.0, 1.0),
        attacks={"every-model": 2.0, "final-model": 3.0},
    )
    first, second = memberships.judge([cell])
    assert (first.verdict, second.verdict) == ("refuted", "not reproduced")
