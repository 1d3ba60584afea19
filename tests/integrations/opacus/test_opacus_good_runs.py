"""Right programs are certified with unchanged figures: each of `opacus_good_runs`, and random ones."""

from __future__ import annotations

import pytest
import torch

from epsilond.integrations import opacus as ours
from tests.integrations.opacus.opacus_good_runs import PROGRAMS
from tests.integrations.opacus.opacus_good_runs.random_runs import RandomRun
from tests.integrations.opacus.opacus_parts import DELTA, ENGINES, KINDS

pytestmark = pytest.mark.filterwarnings("ignore")  # the tests assert the status; programs warn of many things
FEW, MANY = 12, 200
"""Random runs of each session, and those of the marker slow."""


@pytest.fixture(autouse=True)
def register_accountant():
    ours.register()


def assert_certified(program, kind):
    engine = ENGINES[kind]()
    expected = program(engine)
    statement = engine.accountant.statement(delta=DELTA)
    assert statement.declared == ()
    assert statement.status == engine.accountant.status == "certified"
    assert engine.get_epsilon(DELTA) == statement.epsilon.upper == expected.epsilon(DELTA) > 0.0
    assert statement.steps == sum(expected.steps.values())
    assert set(statement.shown.values()) == {statement.steps}
    assert statement.outside


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_right_program_is_certified_with_the_epsilon_of_its_steps(program, kind):
    torch.manual_seed(10)
    assert_certified(program, kind)


@pytest.mark.parametrize("seed", range(FEW))
def test_random_right_runs_are_certified(seed):
    assert_certified(RandomRun.draw(seed), list(ENGINES)[seed % 2])


@pytest.mark.slow
def test_many_random_right_runs_give_no_false_alarm():
    failures = []
    for seed in range(FEW, FEW + MANY):
        try:
            assert_certified(RandomRun.draw(seed), list(ENGINES)[seed % 2])
        except Exception as failure:  # noqa: BLE001  all are counted before any is shown
            failures.append(f"{RandomRun.draw(seed)}\n  {failure}")
    assert not failures, f"{len(failures)} of {MANY} right runs are not certified:\n" + "\n".join(failures)
