"""Wrong programs get no ε: each of `opacus_mistakes`, under Opacus' own engine and ours."""

from __future__ import annotations

import pytest
import torch

import epsilond
from epsilond.integrations import opacus as ours
from epsilond.runs.premises import PREMISES
from tests.integrations.opacus.opacus_mistakes import CONTRADICTED, DECLARED
from tests.integrations.opacus.opacus_parts import DELTA, ENGINES, KINDS

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # the tests assert the status; programs warn of many things
    pytest.mark.parametrize("kind", KINDS),
]


@pytest.fixture(autouse=True)
def start_from_seed():
    ours.register()
    torch.manual_seed(20)


def run(program, kind):
    engine = ENGINES[kind]()
    program(engine)
    return engine


@pytest.mark.parametrize("program", CONTRADICTED, ids=lambda program: program.__name__)
def test_a_mistake_that_shows_leaves_no_epsilon(program, kind):
    engine = run(program, kind)
    with pytest.raises(epsilond.RunDiffers) as refusal:
        engine.get_epsilon(DELTA)
    named = {observation.premise for observation in refusal.value.observations}
    assert named & set(CONTRADICTED[program]), str(refusal.value)
    for observation in refusal.value.observations:
        assert observation.remedy
        assert str(observation) in str(refusal.value)
    with pytest.raises(epsilond.RunDiffers):
        engine.accountant.get_delta(1.0)
    with pytest.raises(epsilond.RunDiffers):
        engine.accountant.statement(delta=DELTA)
    assert engine.accountant.status == "contradicted"


@pytest.mark.parametrize("program", DECLARED, ids=lambda program: program.__name__)
def test_a_premise_that_was_not_observed_is_declared(program, kind):
    engine = run(program, kind)
    assert engine.accountant.status == "declared"
    items = engine.accountant.statement(delta=DELTA).declared
    assert any(PREMISES[premise].statement in item for item in items for premise in DECLARED[program]), items
    assert engine.get_epsilon(DELTA) > 0.0
