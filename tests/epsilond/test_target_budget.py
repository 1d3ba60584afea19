"""The budget of one run: rounds that fit, a count that never passes its target, and what is refused."""

import doctest
import math

import pytest
from mpmath import erfinv, exp, mp, mpf, ncdf, sqrt

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


SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "server"}
RISKS = {
    "advantage": ({"advantage": 0.3}, lambda mu: 2 * ncdf(mu / 2) - 1),
    "true positives": (
        {"true_positive_rate": 0.2, "false_positive_rate": 0.01},
        lambda mu: ncdf(mu - sqrt(2) * erfinv(1 - 2 * mpf(0.01))),
    ),
    "mu": ({"gaussian_dp_mu": 0.7}, lambda mu: mu),
    "rho": ({"rho": 0.3}, lambda mu: mu**2 / 2),
    "zero epsilon": ({"epsilon": 0.0, "delta": 0.3}, lambda mu: 2 * ncdf(mu / 2) - 1),
    "small delta": ({"epsilon": 1.0, "log10_delta": -6.0}, lambda mu: mpf(gaussian_delta(1.0, mu)) * 1000000),
}


@pytest.mark.parametrize("risk", RISKS)
def test_as_many_rounds_fit_as_a_risk_allows(risk):
    fields, figure = RISKS[risk]
    bound = {"zero epsilon": 0.3, "small delta": 1.0}.get(risk) or next(iter(fields.values()))
    paid = TargetBudget(**fields, **SETTING)
    rounds = paid.reserve(STEP, 1000)
    with mp.workdps(40):
        assert figure(sqrt(mpf(rounds)) / 8) <= bound < figure(sqrt(mpf(rounds + 1)) / 8)
    start = paid.spent()
    assert start == fields.get("false_positive_rate", 0.0)
    paid.pay(STEP, rounds)
    assert start <= paid.spent() <= max(fields.get("epsilon", 0.0), bound)
    with pytest.raises(LedgerExhausted, match=next(iter(fields)).replace("epsilon", "ε")):
        paid.pay(STEP)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, "/epsilon"),
        ({"epsilon": math.nan, "delta": DELTA}, "/epsilon"),
        ({"epsilon": -1.0, "delta": DELTA}, "/epsilon"),
        ({"epsilon": 1.0}, "/delta"),
        ({"epsilon": 1.0, "delta": 1.0}, "/delta"),
        ({"epsilon": 0.0, "delta": 0.0}, "/delta"),
        ({"advantage": 0.0}, "/advantage"),
        ({"advantage": 0.1, "rho": 0.1}, "/rho"),
        ({"advantage": 0.1, "epsilon": 1.0, "delta": DELTA}, "/epsilon"),
        ({"true_positive_rate": 0.1}, "/false_positive_rate"),
        ({"true_positive_rate": 0.1, "false_positive_rate": 0.1}, "/true_positive_rate"),
    ],
)
def test_no_such_target(fields, pointer):
    with pytest.raises(InvalidInput) as error:
        TargetBudget(**fields, **SETTING)
    assert pointer in {fault.pointer for fault in error.value.faults}


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
