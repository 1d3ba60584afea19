"""Runs that are resumed from checkpoints, and the weights that they go on from."""

import copy
import io
import json
import pickle

import pytest
import torch
from opacus import PrivacyEngine
from torch import nn

from epsilond.integrations import opacus as ours
from epsilond.integrations.opacus.watching.saved_weights import DIFFERENT, SavedWeights, digest_of
from epsilond.runs.status import RunStatus
from tests.integrations.opacus.opacus_loops import (
    RATE,
    assert_certified,
    assert_contradicted,
    declarations,
    made,
    trained,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:Secure RNG turned off"),
    pytest.mark.filterwarnings("ignore:Full backward hook is firing"),
    pytest.mark.filterwarnings("ignore::epsilond.integrations.opacus.DataDependentDenominator"),
    pytest.mark.filterwarnings("ignore:PrivacyEngine detected new dataset object"),
]


@pytest.fixture(autouse=True)
def register_accountant():
    ours.register()


@pytest.fixture(params=["plain", "epsilond"])
def engine(request):
    if request.param == "plain":
        return PrivacyEngine(accountant="epsilond")
    return ours.EpsilondPrivacyEngine(public_size=True)


# Checkpoints -----------------------------------------------------------------------------------------------------------
def saved(engine, model, optimizer):
    buffer = io.BytesIO()
    engine.save_checkpoint(path=buffer, module=model, optimizer=optimizer)
    buffer.seek(0)
    return buffer


def test_a_resumed_run_stays_certified(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 7)
    other = PrivacyEngine(accountant="epsilond")
    resumed, resumed_optimizer, resumed_batches = made(other)
    other.load_checkpoint(path=saved(engine, model, optimizer), module=resumed, optimizer=resumed_optimizer)
    assert_certified(other.accountant, 7)
    trained(resumed, resumed_optimizer, resumed_batches, 5)
    assert_certified(other.accountant, 12)


def test_a_resumed_run_with_the_seed_of_the_first_has_no_epsilon(engine):
    torch.manual_seed(11)
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 7)
    checkpoint = saved(engine, model, optimizer)
    torch.manual_seed(11)
    other = PrivacyEngine(accountant="epsilond")
    resumed, resumed_optimizer, resumed_batches = made(other)
    other.load_checkpoint(path=checkpoint, module=resumed, optimizer=resumed_optimizer)
    trained(resumed, resumed_optimizer, resumed_batches, 2)
    assert "starts with the seed of the run that is resumed" in assert_contradicted(other.accountant, "noise")


def test_a_record_that_is_set_back_has_no_epsilon_unless_declared(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 5)
    state = json.loads(json.dumps(engine.accountant.state_dict()))
    trained(model, optimizer, batches, 5)
    engine.accountant.declare("same-parts", "the steps after the checkpoint diverged and were deleted")
    engine.accountant.load_state_dict(state)
    assert "diverged and were deleted" in declarations(engine.accountant)
    trained(model, optimizer, batches, 3)
    undeclared = pickle.loads(pickle.dumps(engine.accountant))
    assert len(undeclared) == 8
    assert undeclared.status is RunStatus.DECLARED


def test_a_record_that_is_set_back_has_no_epsilon(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 5)
    state = copy.deepcopy(engine.accountant.state_dict())
    trained(model, optimizer, batches, 5)
    engine.accountant.load_state_dict(state)
    assert "set back to a record with other or fewer steps" in assert_contradicted(engine.accountant, "same-parts")


def test_a_checkpoint_with_an_edited_history_has_no_epsilon(engine):
    trained(*made(engine), steps=5)
    state = engine.accountant.state_dict()
    state["history"] = [(1.0, RATE, 2)]
    other = ours.EpsilondAccountant()
    other.load_state_dict(state)
    assert_contradicted(other, "same-parts")


# Weights ---------------------------------------------------------------------------------------------------------------
def copy_weights(model):
    """Return a model without the hooks of Opacus that has the weights of a wrapped one."""
    copied = nn.Linear(4, 2)
    copied.load_state_dict(model._module.state_dict())
    return copied


def resume(first, model):
    """Return the engine and the parts of a run that goes on from the accountant of another one with this model."""
    second = PrivacyEngine(accountant="epsilond")
    second.accountant.load_state_dict(json.loads(json.dumps(first.accountant.state_dict())))
    return second, made(second, model=model)


def test_a_run_that_is_resumed_with_other_weights_has_no_epsilon_unless_declared(engine):
    trained(*made(engine), steps=7)
    second, parts = resume(engine, nn.Linear(4, 2))
    assert "changed after the last recorded step" in declarations(second.accountant)
    trained(*parts, steps=3)
    message = assert_contradicted(second.accountant, "parameters")
    assert DIFFERENT in message
    third, parts = resume(engine, nn.Linear(4, 2))
    third.accountant.declare("parameters", "the second model starts anew from random weights")
    trained(*parts, steps=3)
    assert "starts anew from random weights" in declarations(third.accountant)


def test_a_model_of_other_shapes_after_a_resumption_is_declared(engine):
    trained(*made(engine), steps=7)
    second, parts = resume(engine, nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)))
    trained(*parts, steps=3)
    assert "the checkpoint has no model of these shapes" in declarations(second.accountant)


def test_a_run_that_goes_on_from_an_earlier_checkpoint_of_its_own_is_certified(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 5)
    engine.accountant.state_dict()
    earlier = copy_weights(model)
    trained(model, optimizer, batches, 5)
    second, parts = resume(engine, earlier)
    assert_certified(second.accountant, 10)
    trained(*parts, steps=3)
    assert_certified(second.accountant, 13)
    trained(*made(second), steps=2)
    assert_certified(second.accountant, 15)


def test_weights_that_changed_before_the_checkpoint_are_declared_or_have_no_epsilon(engine):
    model, optimizer, batches = made(engine)
    trained(model, optimizer, batches, 5)
    optimizer.zero_grad()
    with torch.no_grad():
        model._module.weight.mul_(0.9)
    second, parts = resume(engine, copy_weights(model))
    trained(*parts, steps=3)
    assert "differ from the weights after every recorded step" in declarations(second.accountant)
    trained(*parts, steps=1)
    model(torch.randn(3, 4)).sum().backward()
    polished, _ = resume(engine, copy_weights(model))
    assert "while gradients were computed" in assert_contradicted(polished.accountant, "parameters")


def test_digests_depend_on_values_shapes_and_types_and_not_on_the_layout():
    weights = torch.arange(48.0).reshape(2, 3, 2, 4)
    digest = digest_of([weights])
    assert digest == digest_of([weights.to(memory_format=torch.channels_last)])
    assert digest == digest_of([torch.cat([torch.zeros(1), weights.flatten()])[1:].reshape(weights.shape)])
    for other in (weights.flip(0), weights + 1.0, weights.flatten(), weights.double(), weights.to(torch.bfloat16)):
        assert digest != digest_of([other])
    assert digest[0] == digest_of([weights + 1.0])[0]


def test_several_saved_models_are_continued_one_by_one():
    first, second, other = ([torch.full((3,), value)] for value in (1.0, 2.0, 3.0))
    state = SavedWeights().save([(first, True), (second, True)])
    saved = SavedWeights()
    saved.load(json.loads(json.dumps(state)))
    assert saved.save([]) == state
    assert saved.compare(second) is None
    saved.take_step()
    assert "several models" in saved.compare(other)
    saved.take_step()
    assert saved.compare(other) is None
