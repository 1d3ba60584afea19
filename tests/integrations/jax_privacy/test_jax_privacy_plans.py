"""Plans of jax_privacy whose parts contradict each other, and what a budget learns of a run that does."""

from functools import partial

import numpy as np
import pytest
from jax_privacy import batch_selection, clipping, noise_addition
from jax_privacy.experimental import accounting

from epsilond import RunDiffers
from epsilond.integrations.jax_privacy import observe, paid_steps, spec_from_execution_plan
from tests.integrations.jax_privacy.jax_runs import CENTRAL, make_plan
from tests.integrations.jax_privacy.test_jax_privacy_mistakes import Mean
from tests.integrations.jax_privacy.test_jax_privacy_runs import changed, fixed

pytestmark = pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")


def banded():
    """Return the plan of the fourth finding of the audit: four bands, and a sampler that knows of none."""
    plan = make_plan(bands=4, iterations=300, noise=2.0, rate=1.0)
    return changed(plan, batch_selection_strategy=batch_selection.CyclicPoissonSampling(1.0, 75, cycle_length=1))


def weak(**options):
    """Return a plan whose noise has half the recorded standard deviation."""
    noise = noise_addition.gaussian_privatizer(stddev=0.75, prng_key=1)
    return changed(make_plan(**options), noise_addition_transform=noise)


CONTRADICTORY = {
    "bands that the sampler does not keep apart": (banded, "noise-correlation", "has 4 bands"),
    "bands under batches of a fixed size": (
        lambda: changed(fixed(), noise_addition_transform=make_plan(bands=2, iterations=10).noise_addition_transform),
        "noise-correlation",
        "has 2 bands",
    ),
    "noise of another standard deviation": (weak, "noise", "0.75 times"),
    # Configurations of jax_privacy 2.0.0 scale the noise to the norm of the strategy, also where its columns are
    # normalised afterwards.
    "columns that are normalised after the noise was scaled": (
        lambda: make_plan(strategy=[0.5, 0.25], column_normalize=True),
        "noise",
        "0.838525 times",
    ),
    "gradients of another norm": (
        lambda: changed(make_plan(), clipped_grad=partial(clipping.clipped_grad, l2_clip_norm=5.0)),
        "noise",
        "0.3 times",
    ),
    "an event of more noise": (
        lambda: changed(make_plan(), dp_event=accounting.dpsgd_event(2.0, 12, sampling_prob=0.2)),
        "noise",
        "event says 2",
    ),
    "an event of smaller batches": (
        lambda: changed(make_plan(), dp_event=accounting.dpsgd_event(1.5, 12, sampling_prob=0.1)),
        "event",
        "probability 0.2",
    ),
    "an event of fewer steps": (
        lambda: changed(make_plan(), dp_event=accounting.dpsgd_event(1.5, 6, sampling_prob=0.2)),
        "event",
        "12 iterations",
    ),
    "an event of other batches": (lambda: changed(fixed(), dp_event=make_plan().dp_event), "event", "40 records"),
}


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_a_plan_that_contradicts_itself_has_no_epsilon(name):
    make, premise, text = CONTRADICTORY[name]
    relation = "replace-one" if "size" in name and "fixed" in name else "zero-out-one"
    for read in (partial(spec_from_execution_plan, relation=relation), partial(observe, **CENTRAL)):
        with pytest.raises(RunDiffers, match=text) as differs:
            read(make())
        assert [each.premise for each in differs.value.observations] == [premise]


def test_the_audited_plan_would_have_had_three_quarters_of_its_true_epsilon():
    """Its four bands make the sum of all columns larger than that of 75 independent releases."""
    strategy = np.linspace(1.0, 0.5, 4)
    columns = sum(np.convolve(strategy, np.eye(1, 75, place)[0])[:75] for place in range(75))
    ratio = np.linalg.norm(columns) / np.linalg.norm(strategy) / np.sqrt(75)
    assert ratio > 1.5
    with pytest.raises(RunDiffers, match="cycle_length=4"):
        spec_from_execution_plan(banded())


class Contradicted:
    """A budget that remembers what it was informed of."""

    relation = "zero-out-one"
    refused = None

    def __init__(self):
        self.paid, self.observations = 0, ()

    def pay(self, step, count=1):  # noqa: ARG002
        self.paid += count

    def contradict(self, observations):
        self.observations = tuple(observations)


def train_while_paid(loop, budget):
    """Take each step once it is paid for."""
    for _, batch in zip(paid_steps(loop.observed, budget), loop.batches(), strict=False):
        loop.parameters, loop.state = loop.one_step(loop.parameters, loop.state, *loop.rows(batch))


def test_a_contradicted_run_is_paid_no_further_and_the_budget_knows_why():
    budget, loop = Contradicted(), Mean(make_plan(iterations=30), mode="own")
    with pytest.raises(RunDiffers, match=r"0[.]0125 times"):
        train_while_paid(loop, budget)
    assert 2 <= budget.paid < 10
    assert budget.observations[0].premise == "clipping"


def test_a_contradictory_plan_is_never_paid():
    budget = Contradicted()
    with pytest.raises(RunDiffers):
        next(paid_steps(banded(), budget))
    assert (budget.paid, budget.observations[0].premise) == (0, "noise-correlation")
    budget = Contradicted()
    with pytest.raises(RunDiffers):
        observe(banded(), budget=budget, **CENTRAL)
    assert budget.observations[0].premise == "noise-correlation"
