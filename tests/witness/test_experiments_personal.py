"""Experiments on personal models, noise taken back, hidden states and memberships: their cells and their findings."""

import math
from dataclasses import replace

import pytest
from rich.console import Console

from epsilond.accountants.theorems.papers.reshef_levy.conversions import exact_epsilon
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Ends, as_json
from epsilond.terminal.simulations import simulation as shown
from epsilond.witness import simulation
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
from epsilond.witness.figures import draw
from epsilond.witness.presets import PresetSimulation
from epsilond.witness.risks.answer import Measured


def measured(mean, reach=0.01):
    return Measured(mean=mean, lower=mean - reach, upper=mean + reach, standard_error=reach / 2)


def answered(name, repetitions):
    prepared = simulation.prepare(PresetSimulation(preset=name, repetitions=repetitions))
    blocks = [simulation.run_block(prepared, index) for index in range(prepared.plan.blocks)]
    return simulation.assemble(prepared, blocks)


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
"""Worked out apart from the code, to the digits given."""


@pytest.mark.parametrize(("share", "epsilon"), FIGURE_2)
def test_the_printed_values_of_figure_2(share, epsilon):
    told = asoodeh_figure_2.log10_deltas(epsilon, share)
    assert 10 ** told["printed"] == pytest.approx(FIGURE_2[share, epsilon], rel=1e-4)
    assert 10 ** (told["corrected"] - told["printed"]) == pytest.approx(0.9 if share == 0.3 else 1.0, rel=1e-6)
    assert told["certified"] <= told["corrected"]


def test_figure_2_is_confirmed_and_drawn():
    table = answered("asoodeh-figure-2", 2)
    assert [finding.verdict for finding in table.findings] == ["confirmed", "confirmed"]
    assert "21 of 21" in table.findings[0].words
    assert all(cell.epsilon.upper <= cell.place["epsilon"] for cell in table.cells)
    assert "certified δ" in draw(as_json(table), "svg").decode()


def test_a_disproved_point_would_refute_figure_2():
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
def test_both_algorithms_of_a_table_spend_the_same_epsilon_and_records():
    for cells in (mu2_digits.cells(2, 0), mu2_digits.shared_cells(2, 0)):
        for own, printed, other in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
            assert own.simulation.epsilon == other.simulation.epsilon == printed.claimed.epsilon
            assert printed.simulation.run.noise_std > 0.0
            assert printed.simulation.problem == own.simulation.problem
            assert own.simulation.problem == other.simulation.problem
            one_pass = other.simulation.run
            assert own.simulation.run.rounds == one_pass.rounds * one_pass.batch_size
            assert own.simulation.run.participants == one_pass.participants
    shared = mu2_digits.shared_cells(2, 0)
    assert {cell.simulation.run.rounds * cell.simulation.run.participants for cell in shared[::3]} == {12_000}
    assert shared[0].simulation.epsilon == exact_epsilon(mu=8.0, log_delta=math.log(1e-5))


def mu2_cell(algorithm, accuracy, sgd=0.5):
    beside = {name: {"test_accuracy": measured(sgd)} for name in ("noisy-sgd", "independent-noise")}
    return CellAnswer(
        place={"participants": 4, "algorithm": algorithm},
        kind="risk",
        scores={"test_accuracy": measured(accuracy)},
        scores_beside=beside if algorithm == mu2_digits.TAKEN_BACK else None,
    )


def printed_cell(epsilon):
    """The printed noise, of which ε = 8 is claimed."""
    return CellAnswer(
        place={"participants": 4, "algorithm": mu2_digits.PRINTED},
        kind="risk",
        claimed_epsilon=8.0,
        epsilon=Ends(epsilon, epsilon),
    )


def test_noise_taken_back_is_judged_by_bands():
    verdicts = [
        [
            each.verdict
            for each in mu2_digits.judge(
                [mu2_cell(mu2_digits.TAKEN_BACK, own, sgd), mu2_cell(mu2_digits.ONE_PASS, other), claimed]
            )
        ]
        for own, sgd, other, claimed in ((0.9, 0.5, 0.9, printed_cell(7.9)), (0.5, 0.9, 0.2, printed_cell(8.1)))
    ]
    assert verdicts == [
        ["confirmed", "confirmed", "confirmed", "confirmed"],
        ["not reproduced", "not reproduced", "confirmed", "refuted"],
    ]


# Personal models ------------------------------------------------------------------------------------------------------
def personal(best):
    """Cells in which each ε's best place is as told, by split."""
    return [
        CellAnswer(
            place={"personalization": place, "epsilon": ppsgd_synthetic.noise_name(epsilon), "split": split},
            kind="risk",
            scores={"test_accuracy": measured(0.9 if place == chosen else 0.5)},
        )
        for split, places in best.items()
        for epsilon, chosen in zip(ppsgd_digits.EPSILONS, places, strict=True)
        for place in ppsgd_digits.PLACES
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


def test_the_grid_is_the_appendix_and_is_judged_by_its_least_excess():
    cells = ppsgd_grid.cells(2, 0)
    assert len(cells) == 11 * 9 * 3
    assert {cell.simulation.run.noise_std for cell in cells} == {0.0, 1.0, 10.0}

    def told(places):
        best = dict(zip(ppsgd_grid.NOISES, places, strict=True))
        return [
            CellAnswer(
                place=dict(cell.place),
                kind="risk",
                final_excess=measured(1.0 if best[cell.place["noise_multiplier"]] == place else 2.0),
            )
            for cell in cells
            if (place := cell.place["personalization"])
        ]

    assert ppsgd_grid.judge(told(["3", "1", "all own"]))[0].verdict == "confirmed"
    assert ppsgd_grid.judge(told(["all own", "1", "3"]))[0].verdict == "not reproduced"


def test_one_personal_cell_runs_with_its_accuracy():
    cell = ppsgd_digits.cells(2, 0)[2]
    asked = replace(cell.simulation, run=replace(cell.simulation.run, rounds=5))
    prepared = simulation.prepare(asked)
    answer = simulation.assemble(prepared, [simulation.run_block(prepared, i) for i in range(prepared.plan.blocks)])
    assert 0.1 < answer.series[0].scores["test_accuracy"].mean < 1.0
    assert answer.bounds == ()
    assert as_json(answer)["problem"]["constants"]["optimum_norm"] == "unbounded"


# Memberships ----------------------------------------------------------------------------------------------------------
def test_memberships_are_tabled_drawn_and_judged():
    table = answered("membership-short", 2)
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
        console.print(shown(table))
    assert "offline-likelihood-ratio" in caught.get()


def test_a_bound_above_its_certificate_would_be_told():
    cell = CellAnswer(
        place={"noise_multiplier": 1.0, "canaries": memberships.WORST},
        kind="membership",
        epsilon=Ends(1.0, 1.0),
        attacks={"every-model": 2.0, "final-model": 3.0},
    )
    first, second = memberships.judge([cell])
    assert (first.verdict, second.verdict) == ("refuted", "not reproduced")
