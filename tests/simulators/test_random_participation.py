"""A random number of participants: its law, the mean over those that report, and its bound."""

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.reading import read_value
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun, simulate
from epsilond.simulators.algorithms.random_participation import ReportingCount, harmonic_mean, weights
from epsilond.simulators.problems.kinds import LeastSquaresProblem
from epsilond.simulators.seeds import generators
from epsilond.witness import simulation
from epsilond.witness.requests import SimulationRequest

LAW = (ReportingCount(participants=1, probability=0.25), ReportingCount(participants=4, probability=0.75))
PROBLEM = LeastSquaresProblem(clients=6, samples_per_client=8, dimension=3)


def test_weights_follow_the_law_and_take_the_mean_over_those_that_report():
    drawn = np.concatenate(list(weights(LAW, generators(0, range(4)), 1000)))
    assert drawn.shape == (4000, 4)
    reporting = np.count_nonzero(drawn, axis=1)
    assert set(reporting) == {1, 4}
    # Five standard deviations of a binomial share.
    assert np.mean(reporting == 1) == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 4000))
    assert drawn.mean(axis=1) == pytest.approx(1.0)
    # Every place reports as often as any other.
    assert np.count_nonzero(drawn, axis=0) == pytest.approx(0.8125 * 4000, abs=5 * 4000**0.5 / 2)
    assert harmonic_mean(LAW) == pytest.approx(1 / (0.25 + 0.75 / 4))


def test_a_certain_number_of_participants_is_that_number():
    law = ({"participants": 4, "probability": 1.0}, {"participants": 6, "probability": 0.0})
    shape = {"rounds": 12, "batch_size": 2, "step_size": 0.2, "noise_std": 0.1}
    fixed, random = (
        simulate(PROBLEM.build(), MbSgdRun(**shape, **told), generators(3, range(2)), (12,))
        for told in ({"participants": 4}, {"participation": law})
    )
    assert random.excess == pytest.approx(fixed.excess, rel=1e-12)


def test_a_calibrated_run_keeps_its_bound():
    body = {
        "kind": "risk",
        "run": {
            "algorithm": "mb-sgd",
            "rounds": 10,
            "batch_size": 2,
            "participation": [{"participants": each.participants, "probability": each.probability} for each in LAW],
        },
        "problem": {"kind": "least-squares", "clients": 6, "samples_per_client": 8, "dimension": 3},
        "epsilon": 8.0,
        "delta": 1e-3,
        "repetitions": 20,
    }
    ready = simulation.prepare(read_value(SimulationRequest, body, at=""))
    answer = simulation.assemble(ready, [simulation.run_block(ready, index) for index in range(ready.plan.blocks)])
    (bound,) = answer.bounds
    assert (bound.compared, bound.holds) == (True, "yes")


@pytest.mark.parametrize(
    "told",
    [
        {"participation": (ReportingCount(participants=2, probability=0.5),)},
        {"participation": ()},
        {"participation": LAW, "participants": 3},
    ],
)
def test_a_law_adds_up_and_stands_alone(told):
    with pytest.raises(InvalidInput) as refused:
        MbSgdRun(rounds=3, batch_size=2, **told)
    assert refused.value.faults[0].pointer == "/participation"
