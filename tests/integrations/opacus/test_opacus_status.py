"""The status of runs that are really trained: certified, declared, or contradicted without any ε."""

import copy
import pickle

import pytest
import torch
from opacus import GradSampleModule, PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer
from opacus.schedulers import ExponentialGradClip, ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.utils.data import DataLoader

import epsilond
from epsilond.integrations import opacus as ours
from tests.integrations.opacus.opacus_loops import (
    BATCH,
    RATE,
    RECORDS,
    assert_certified,
    assert_contradicted,
    data,
    declarations,
    loader,
    made,
    step,
    trained,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:Secure RNG turned off"),
    pytest.mark.filterwarnings("ignore:Full backward hook is firing"),
    pytest.mark.filterwarnings("ignore::epsilond.integrations.opacus.DataDependentDenominator"),
    pytest.mark.filterwarnings("ignore:PrivacyEngine detected new dataset object"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
ADAPTIVE = {
    "clipping": "adaptive",
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 10.0,
    "min_clipbound": 0.1,
    "unclipped_num_std": 2.0,
}


@pytest.fixture(autouse=True)
def registered():
    ours.register()


@pytest.fixture(params=["plain", "epsilond"])
def engine(request):
    if request.param == "plain":
        return PrivacyEngine(accountant="epsilond")
    return ours.EpsilondPrivacyEngine(public_size=True)


# The audit -------------------------------------------------------------------------------------------------------------
def test_a_loop_over_the_original_loader_has_no_epsilon(engine):
    given = loader()
    model, optimizer, _ = made(engine, given=given)
    trained(model, optimizer, given, 20)
    message = assert_contradicted(engine.accountant, "fresh-draw")
    assert "a batch that the returned loader did not hand out for it (20 times)" in message
    assert "Loop over the loader that make_private returned" in message
    with pytest.raises(epsilond.RunDiffers):
        engine.get_epsilon(1e-5)


@pytest.mark.parametrize("batch", [10, 12, 15, 30, 60])
def test_a_loader_of_few_batches_is_seen_at_the_first_step(engine, batch):
    given = loader(batch_size=batch)
    model, optimizer, _ = made(engine, given=given)
    trained(model, optimizer, given, 1)
    assert_contradicted(engine.accountant, "fresh-draw")


def test_all_records_at_every_step_have_no_epsilon(engine):
    records = data()
    model, optimizer, _ = made(engine, given=DataLoader(records, batch_size=BATCH))
    trained(model, optimizer, [records.tensors], 16)
    message = assert_contradicted(engine.accountant, "fresh-draw")
    assert f"a batch has {RECORDS} records where the recorded sampling draws 12.0 of {RECORDS} on average" in message


def test_own_batches_from_midway_have_no_epsilon(engine):
    given = loader()
    model, optimizer, batches = made(engine, given=given)
    trained(model, optimizer, batches, 10)
    assert_certified(engine.accountant, 10)
    trained(model, optimizer, given, 10)
    assert "(10 times)" in assert_contradicted(engine.accountant, "fresh-draw")


def test_a_run_without_poisson_sampling_has_no_epsilon(engine):
    model, optimizer, batches = made(engine, poisson_sampling=False)
    trained(model, optimizer, batches, 12)
    message = assert_contradicted(engine.accountant, "fresh-draw")
    assert "poisson_sampling=False" in message
    assert 'declare("fresh-draw", …) before make_private' in message


def test_a_loader_that_the_caller_vouches_for_is_declared(engine):
    engine.accountant.declare("fresh-draw", "our loader draws Poisson batches at 1/10")
    model, optimizer, batches = made(engine, poisson_sampling=False)
    trained(model, optimizer, batches, 12)
    assert "our loader draws Poisson batches at 1/10" in declarations(engine.accountant)


def test_adaptive_clipping_has_no_epsilon(engine):
    trained(*made(engine, **ADAPTIVE), steps=3)
    message = assert_contradicted(engine.accountant, "clipping")
    assert "a count of unclipped gradients that its noise does not cover (3 times)" in message


def test_steps_of_the_original_optimizer_have_no_epsilon(engine):
    model, optimizer, batches = made(engine)
    for features, labels in batches:
        model.zero_grad()
        nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.original_optimizer.step()
    message = assert_contradicted(engine.accountant, "parameters")
    assert "the original optimizer took a step that is not recorded (10 times)" in message


# Good runs -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["hooks", "functorch", "ew"])
def test_per_sample_gradients_of_each_kind_are_certified(engine, mode):
    trained(*made(engine, grad_sample_mode=mode, model=nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))), steps=15)
    assert_certified(engine.accountant, 15)


def test_ghost_clipping_is_certified(engine):
    model, optimizer, criterion, batches = made(engine, grad_sample_mode="ghost", criterion=nn.CrossEntropyLoss())
    trained(model, optimizer, batches, 15, criterion)
    assert_certified(engine.accountant, 15)


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_virtual_steps_are_certified(engine, mode):
    model, optimizer, *criterion, batches = made(engine, grad_sample_mode=mode)
    loss = criterion[0] if criterion else nn.functional.cross_entropy
    with BatchMemoryManager(data_loader=batches, max_physical_batch_size=4, optimizer=optimizer) as parts:
        for _ in range(2):
            for features, labels in parts:
                step(model, optimizer, features, labels, loss)
    assert_certified(engine.accountant, 20)


def test_norms_of_layers_are_certified(engine):
    trained(*made(engine, clipping="per_layer", max_grad_norm=[0.5, 0.7]), steps=15)
    assert_certified(engine.accountant, 15)


def test_schedules_of_noise_norm_and_learning_rate_are_certified(engine):
    model, optimizer, batches = made(engine)
    schedules = [
        ExponentialNoise(optimizer, gamma=0.9),
        ExponentialGradClip(optimizer, gamma=0.8),
        torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5),
    ]
    for _ in range(3):
        trained(model, optimizer, batches, 10)
        for each in schedules:
            each.step()
    assert_certified(engine.accountant, 30)
    assert len(engine.accountant.history) == 3


def test_frozen_layers_and_averaged_weights_in_evaluation_are_certified(engine):
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    network[0].requires_grad_(False)
    optimizer = torch.optim.Adam(network[2].parameters(), lr=0.01)
    model, optimizer, batches = made(engine, model=network, optimizer=optimizer)
    average = torch.optim.swa_utils.AveragedModel(network)
    for _ in range(3):
        trained(model, optimizer, batches, 5)
        average.update_parameters(network)
        kept = copy.deepcopy(network.state_dict())
        network.load_state_dict(average.module.state_dict())
        network.load_state_dict(kept)
    assert_certified(engine.accountant, 15)


def test_workers_that_draw_ahead_and_early_stops_are_certified(engine):
    model, optimizer, batches = made(engine, given=loader(num_workers=2))
    for steps in (10, 3, 4):
        trained(model, optimizer, batches, steps)
    assert_certified(engine.accountant, 17)


@pytest.mark.parametrize("poisson", [True, False])
def test_full_batches_are_certified(engine, poisson):
    model, optimizer, batches = made(engine, given=loader(batch_size=RECORDS), poisson_sampling=poisson)
    trained(model, optimizer, batches, 12)
    assert_certified(engine.accountant, 12)


def test_empty_batches_are_certified(engine):
    records = data(30)
    model, optimizer, batches = made(engine, given=DataLoader(records, batch_size=1))
    trained(model, optimizer, batches, 60)
    assert_certified(engine.accountant, 60)


def test_two_models_on_one_engine_and_a_growing_data_set_are_certified(engine):
    first, second = made(engine), made(engine)
    trained(*first, steps=7)
    trained(*second, steps=5)
    grown = DataLoader(data(RECORDS + 60), batch_size=15)
    trained(*made(engine, given=grown, model=first[0], optimizer=first[1]), steps=4)
    assert_certified(engine.accountant, 16)


def test_a_cast_a_copy_and_another_shape_are_the_same_batch(engine):
    model, optimizer, batches = made(engine, model=nn.Sequential(nn.Flatten(), nn.Linear(4, 2)).double())
    for features, labels in batches:
        step(model, optimizer, features.double().clone().reshape(-1, 2, 2), labels)
    assert_certified(engine.accountant, 10)


def test_generators_of_their_own_are_certified(engine):
    given = loader(generator=torch.Generator().manual_seed(3))
    trained(*made(engine, given=given, noise_generator=torch.Generator().manual_seed(4)), steps=25)
    assert_certified(engine.accountant, 25)


def test_sums_of_losses_are_certified(engine):
    loss = nn.CrossEntropyLoss(reduction="sum")
    trained(*made(engine, loss_reduction="sum"), steps=12, loss=loss)
    assert_certified(engine.accountant, 12)


# Declared runs ---------------------------------------------------------------------------------------------------------
def test_steps_that_were_only_told_are_declared():
    accountant = ours.EpsilondAccountant()
    for _ in range(5):
        accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    assert "only told of the step (5 times)" in declarations(accountant)


def test_a_typed_history_and_one_of_opacus_are_declared():
    typed, loaded, theirs = ours.EpsilondAccountant(), ours.EpsilondAccountant(), RDPAccountant()
    typed.history = theirs.history = [(1.0, 0.1, 10)]
    loaded.load_state_dict(theirs.state_dict())
    assert "the history of the accountant was typed" in declarations(typed)
    assert "a history without evidence" in declarations(loaded)


def test_a_hook_that_is_attached_by_hand_is_declared():
    accountant, records = ours.EpsilondAccountant(), data()
    model = GradSampleModule(nn.Linear(4, 2))
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=BATCH
    )
    optimizer.attach_step_hook(accountant.get_optimizer_hook_fn(RATE))
    trained(model, optimizer, DPDataLoader(records, sample_rate=RATE), 20)
    assert "the sampling rate was typed, and the loader is not known (20 times)" in declarations(accountant)
    trained(model, optimizer, DataLoader(records, batch_size=BATCH), 20)
    assert "Poisson batches differ in size" in assert_contradicted(accountant, "fresh-draw")


def test_skipped_batches_are_declared(engine):
    model, optimizer, batches = made(engine)
    for place, (features, labels) in enumerate(batches):
        if place % 3 != 1:
            step(model, optimizer, features, labels)
    assert "batches were skipped" in declarations(engine.accountant)


def test_inputs_that_the_loop_computes_are_declared(engine):
    model, optimizer, batches = made(engine)
    for features, labels in batches:
        step(model, optimizer, features + 0.1 * torch.randn_like(features), labels)
    assert "inputs that the loop computed from the batch" in declarations(engine.accountant)


def test_weights_that_were_averaged_after_the_last_step_are_declared_until_they_are_restored(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 10)
    kept = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    assert "the parameters changed after the last recorded step" in declarations(engine.accountant)
    model.load_state_dict(kept)
    assert_certified(engine.accountant, 10)


# Contradicted runs -----------------------------------------------------------------------------------------------------
def test_other_changes_of_the_parameters_have_no_epsilon_unless_declared(engine):
    model, optimizer, batches = made(engine)
    for features, labels in batches:
        step(model, optimizer, features, labels)
        for parameter in model.parameters():
            parameter.data.mul_(1.01)
    assert "changed between two recorded steps (9 times)" in assert_contradicted(engine.accountant, "parameters")
    with pytest.raises(epsilond.InvalidInput):
        engine.accountant.declare("noise", "it is large")
    other = type(engine)(accountant="epsilond") if type(engine) is PrivacyEngine else type(engine)()
    other.accountant.declare("parameters", "we shrink the weights by a public schedule")
    model, optimizer, batches = made(other)
    for features, labels in batches:
        step(model, optimizer, features, labels)
        for parameter in model.parameters():
            parameter.data.mul_(0.99)
    assert "by a public schedule" in declarations(other.accountant)


def test_replaced_parts_have_no_epsilon(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 5)
    watching = engine.accountant
    engine.accountant = ours.EpsilondAccountant()
    assert "the accountant of the engine was replaced" in assert_contradicted(watching, "same-parts")
    assert_contradicted(engine.accountant, "same-parts")
    engine.__dict__["accountant"] = RDPAccountant()
    with pytest.raises(epsilond.RunDiffers, match="was replaced after make_private"):
        engine.get_epsilon(1e-5)


def test_a_detached_hook_has_no_epsilon(engine):
    model, optimizer, batches = made(engine)
    optimizer.attach_step_hook(lambda _: None)
    trained(model, optimizer, batches, 5)
    assert "hook of the private optimizer was replaced (5 times)" in assert_contradicted(
        engine.accountant, "same-parts"
    )


@pytest.mark.parametrize("edit", [list.clear, lambda history: history.append((2.0, RATE, 3))])
def test_an_edited_history_has_no_epsilon(engine, edit):
    trained(*made(engine), steps=5)
    edit(engine.accountant.history)
    assert "edited, cleared or replaced" in assert_contradicted(engine.accountant, "same-parts")


# Budgets ---------------------------------------------------------------------------------------------------------------
class Budget:
    """A budget that notes its payments and contradictions."""

    def __init__(self):
        self.paid, self.contradictions = 0, []

    def pay(self, _step, count=1):
        self.paid += count

    def contradict(self, observations):
        self.contradictions.append(observations)


def test_a_budget_is_informed_of_the_first_contradiction_only():
    budget, given = Budget(), loader()
    engine = ours.EpsilondPrivacyEngine(budget=budget, public_size=True)
    model, optimizer, batches = made(engine, given=given)
    trained(model, optimizer, batches, 4)
    assert (budget.paid, budget.contradictions) == (4, [])
    trained(model, optimizer, given, 3)
    assert len(budget.contradictions) == 1
    assert budget.contradictions[0][0].premise == "fresh-draw"


def test_models_and_loaders_of_a_watched_run_can_be_copied_and_pickled(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 3)
    copied = copy.deepcopy(model)
    with torch.no_grad():
        copied(torch.randn(2, 4))
    assert pickle.loads(pickle.dumps(model._module)).weight.shape == (2, 4)
    assert len(copy.deepcopy(batches.batch_sampler)) == len(batches)
    assert_certified(engine.accountant, 3)
