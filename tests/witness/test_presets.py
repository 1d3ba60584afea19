"""Tables of experiments: cells with the answers of their simulations, and the printed claim that is refuted."""

import math
from typing import Any

import pytest

from epsilond.calibrators.answer import as_json
from epsilond.witness import simulation
from epsilond.witness.audits.family import printed_truncated_discrete_laplace
from epsilond.witness.presets import PresetSimulation
from tests.witness.running import run_simulation


def test_cell_contains_the_answer_of_its_simulation():
    request = PresetSimulation(preset="mb-sgd-bound", repetitions=2, seed=4)
    table = run_simulation(request)
    prepared = simulation.prepare(request)
    alone = run_simulation(prepared.resolved[1].request)
    cell = table.cells[1]
    assert cell.place == {"epsilon": 1.0}
    assert cell.final_excess == alone.final_excess
    assert cell.bounds == alone.bounds
    assert cell.epsilon == alone.guarantee.epsilon
    assert cell.beside == {"non-private": alone.series[1].final}
    assert cell.parameters == alone.parameters
    assert table.beside == {"non-private": "same steps, without noise"} == {"non-private": alone.series[1].title}
    assert (table.repetitions, table.seed, alone.seed) == (2, 4, 4)


def test_printed_claim_is_refuted_in_every_cell():
    table = run_simulation(PresetSimulation(preset="tdl-as-printed-audit", repetitions=5))
    for cell in table.cells:
        assert cell.claim.epsilon == cell.place["epsilon"]
        assert cell.claim.violated == "yes"
        assert cell.test_epsilon_lower > cell.claim.epsilon
        assert cell.epsilon_lower >= cell.test_epsilon_lower or math.isinf(cell.epsilon_lower)
        assert cell.epsilon.upper == math.inf
    assert as_json(table)["cells"][0]["epsilon"]["upper"] == "unbounded"


def test_block_beyond_the_last_is_rejected():
    prepared = simulation.prepare(PresetSimulation(preset="tdl-as-printed-audit", repetitions=2))
    with pytest.raises(IndexError):
        simulation.run_block(prepared, prepared.plan.blocks)


def test_audits_of_a_preset_have_its_samples_and_seed():
    prepared = simulation.prepare(PresetSimulation(preset="tdl-as-printed-audit", repetitions=2, seed=9))
    resolved: Any = prepared.resolved
    assert resolved[0].request == printed_truncated_discrete_laplace(epsilon=0.5, samples=4000, seed=9)
