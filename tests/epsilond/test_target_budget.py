"""The budget of one run: rounds that fit, a count that never passes its target, and what is refused."""

import doctest
import math

import pytest
from mpmath import exp, mp, mpf, ncdf

from epsilond import Gaussian, InvalidInput, LedgerExhausted, NoCertificate, RunDiffers, Subsampled
from epsilond.accountants.errors import Observation
from epsilond.integrations import target as module
from epsilond.integrations.target import TargetBudget

STEP = Gaussian(noise_multiplier=8.0)
DELTA = 1e-6


def budget(epsilon=2.0, relation="add-or-remove-one", unit="record", observer="server", **more):
    return TargetBudget(epsilon=epsilon, delta=DELTA, relation=relation, unit=unit, observer=observer, **more)


def gaussian_delta(epsilon, mu):
    """δ of the Gaussian mechanism, from the two normal tails, in forty digits."""
    with mp.workdps(40 + int(abs(epsilon))):
        ratio, half = mpf(epsilon) / mpf(mu), mpf(mu) / 2
        return float(ncdf(half - ratio) - exp(mpf(epsilon)) * ncdf(-half - ratio))


def test_the_example_of_the_docstring():
    for example in doctest.DocTestFinder(exclude_empty=True).find(module):
        assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize(("relation", "distance"), [("add-or-remove-one", 1.0), ("replace-one", 2.0)])
def test_as_many_rounds_fit_as_the_mechanism_allows(relation, distance):
    rounds = budget(relation=relation).reserve(STEP, 1000)
    assert gaussian_delta(2.0, distance * math.sqrt(rounds) / 8.0) <= DELTA
    assert gaussian_delta(2.0, distance * math.sqrt(rounds + 1) / 8.0) > DELTA


def test_what_was_paid_for_counts_and_the_last_round_is_the_last():
    paid = budget()
    rounds = paid.reserve(STEP, 1000)
    for _ in range(rounds):
        paid.pay(STEP)
    assert (paid.taken, paid.reserve(STEP, 5), paid.would_exceed(STEP)) == (rounds, 0, True)
    with pytest.raises(LedgerExhausted):
        paid.pay(STEP)
    assert paid.taken == rounds
    assert paid.spent() <= 2.0


def test_different_steps_are_composed():
    paid = budget()
    paid.pay(STEP, 5)
    paid.pay(Gaussian(noise_multiplier=16.0), 5)
    mu = math.sqrt(5) * math.hypot(1 / 8.0, 1 / 16.0)
    assert gaussian_delta(paid.spent(), mu) == pytest.approx(DELTA, rel=1e-8)


def test_asking_changes_nothing_and_no_step_loses_nothing():
    paid = budget()
    assert not paid.would_exceed(STEP, 3)
    assert paid.reserve(STEP, 3) == 3
    assert (paid.spent(), paid.taken, paid.receipts) == (0.0, 0, [])
    paid.close()


@pytest.mark.parametrize("fields", [{"epsilon": 0.0}, {"epsilon": math.nan}])
def test_no_such_target(fields):
    with pytest.raises(InvalidInput):
        budget(**fields)


def test_no_such_delta():
    with pytest.raises(InvalidInput):
        TargetBudget(epsilon=1.0, delta=1.0, relation="replace-one", unit="record", observer="server")


def test_a_step_that_no_theorem_covers_is_refused_by_name():
    step = Subsampled(sampling="without-replacement", batch_size=2, population=9, mechanism=STEP)
    with pytest.raises(NoCertificate, match="add-or-remove-one"):
        budget().reserve(step, 1)


def test_a_contradicted_run_has_no_epsilon_and_pays_nothing_more():
    made = budget()
    made.pay(STEP)
    seen = [
        Observation("noise", "a step had no noise", remedy="Call the optimizer."),
        Observation("rounds", "a gap", "Declare it."),
    ]
    made.contradict(seen[:1])
    made.contradict(seen[1:])
    for refused in (lambda: made.pay(STEP), made.spent, lambda: made.reserve(STEP, 1)):
        with pytest.raises(RunDiffers) as error:
            refused()
        assert error.value.observations == tuple(seen)
    assert made.would_exceed(STEP)
    assert made.taken == 1
