"""The ε of a stored experiment is what the engine certifies today, and its lower end is one that neighbours attain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import epsilond
from epsilond.calibrators.answer import Ends
from epsilond.witness import cells
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Cell
from epsilond.witness.experiments.own_data.lowy_protocol import Algorithm, ArmSettings
from epsilond.witness.joins.mb_sgd import account_batches
from epsilond.witness.kind import kind_of
from epsilond.witness.presets import CELL_KINDS
from epsilond.witness.trials.trials import TrialSimulation
from scripts.pages.experiments import stored

WITH_EPSILON = [name for name in stored.names() if any(cell.epsilon for cell in stored.load(name).cells)]
SPREAD = 3
"""Cells that are certified anew, evenly spread over those of an answer, besides all whose ε a verdict rests on."""


def certify(cell: Cell) -> Ends | None:
    """Return the ε of a cell as the engine certifies it today, without a run."""
    simulation = cell.simulation
    if isinstance(simulation, TrialSimulation):
        return simulation.arm.certify({})
    prepared = kind_of(simulation, CELL_KINDS).prepare(simulation)
    if hasattr(prepared, "certified"):
        return prepared.certified  # type: ignore[no-any-return]
    guarantee = None if prepared.calibration is None else prepared.calibration.guarantee
    return cells._epsilon(cell, SimpleNamespace(guarantee=guarantee))  # type: ignore[arg-type]


def chosen_cells(answer: stored.Stored) -> Iterator[tuple[CellAnswer, Cell]]:
    """Yield stored cells with an ε, each with its cell of the present code.

    They are the first at each claimed ε, and `SPREAD` others.
    """
    tuned = answer.preset.tuned
    present = {frozenset(cell.place.items()): cell for cell in answer.preset.cells(answer.repetitions, answer.seed)}
    certified = [cell for cell in answer.cells if cell.epsilon is not None]
    claimed = {cell.claimed_epsilon: cell for cell in reversed(certified) if cell.claimed_epsilon is not None}
    spread = [certified[place] for place in np.linspace(0, len(certified) - 1, SPREAD).astype(int)]
    for cell in [*claimed.values(), *spread]:
        place = dict(cell.place)
        if tuned is not None:
            assert cell.tuned is not None
            place[tuned.name] = cell.tuned["private"]
        yield cell, present[frozenset(place.items())]


@pytest.mark.parametrize("name", WITH_EPSILON)
def test_a_stored_epsilon_is_what_the_engine_certifies_today(name: str) -> None:
    for kept, cell in chosen_cells(stored.load(name)):
        today = certify(cell)
        assert today is not None
        assert kept.epsilon is not None
        assert (kept.epsilon.lower, kept.epsilon.upper) == pytest.approx((today.lower, today.upper), rel=1e-5), kept


@pytest.mark.parametrize("epsilon", [0.75, 12.0, 18.0])
@pytest.mark.parametrize(("algorithm", "ratio"), [("mini-batch", 2.0), ("mini-batch", 1.0), ("local", 2.0)])
def test_trials_have_the_two_ends_of_an_account_of_their_noise(
    algorithm: Algorithm, ratio: float, epsilon: float
) -> None:
    records = 1238
    settings = ArmSettings(algorithm=algorithm, noise="printed", epsilon=epsilon, participants=12)
    gradients = settings.gradients(records)
    batch, times = settings.draws(gradients)
    batches = epsilond.Subsampled(
        sampling="with-replacement",
        batch_size=batch,
        population=records,
        mechanism=epsilond.Gaussian(
            noise_multiplier=settings.noise_std(records, 1.0, ratio, gradients=gradients) * ratio * batch
        ),
    )
    spec = epsilond.Repeated(times=times, mechanism=batches)
    account = epsilond.account(spec, relation="replace-one", unit="record", observer="server")
    lower, upper = account.guarantee.curve.epsilon(delta=records**-2.0)
    found = settings.certify(records, ratio)
    assert found is not None
    assert (found.lower, found.upper) == pytest.approx((lower, upper), rel=1e-6)
    assert found.lower < 0.998 * found.upper  # no neighbours are known that attain the upper bound


def test_given_noise_of_simulated_batches_has_the_lower_end_that_neighbours_attain() -> None:
    shape = {"batch_size": 43, "samples_per_client": 356, "times": 35, "log_delta": -2.0 * math.log(356)}
    found = account_batches(noise_multiplier=3.464, sampling="without-replacement", **shape)  # type: ignore[arg-type]
    batches = epsilond.Subsampled(
        sampling="without-replacement",
        batch_size=43,
        population=356,
        mechanism=epsilond.Gaussian(noise_multiplier=3.464),
    )
    account = epsilond.account(
        epsilond.Repeated(times=35, mechanism=batches), relation="replace-one", unit="record", observer="server"
    )
    lower, upper = account.guarantee.curve.epsilon(delta=356**-2.0)
    assert (found.lower, found.upper) == pytest.approx((lower, upper), rel=1e-6)
    assert 2.0 < lower < 0.97 * upper
