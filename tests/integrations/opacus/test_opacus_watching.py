"""The single parts that watch a run: draws, generators, contents, parameters and noise."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch import nn

from epsilond.integrations.opacus.watching.contents import Contents, has_numbers
from epsilond.integrations.opacus.watching.draws import record_draws
from epsilond.integrations.opacus.watching.generators import GeneratorWatches
from epsilond.integrations.opacus.watching.parameters import Digests, ParameterCheck, _device_digest, digests_of
from epsilond.integrations.opacus.watching.record import append, extends
from epsilond.integrations.opacus.watching.reporting import Reporter
from epsilond.integrations.opacus.watching.settings import SettingsCheck
from epsilond.runs.evidence import Evidence
from epsilond.runs.noise_samples import NoiseSamples
from epsilond.runs.premises import CLIPPING, NOISE, PARAMETERS


def nothing():
    return None


# Draws -----------------------------------------------------------------------------------------------------------------
def recorded(records=50, rate=0.2, seed=1):
    generator = torch.Generator().manual_seed(seed)
    sampler = UniformWithReplacementSampler(num_samples=records, sample_rate=rate, generator=generator)
    return sampler, record_draws(sampler, before_draw=nothing, after_draw=nothing)


def test_recorded_draws_are_those_of_opacus():
    sampler, draws = recorded()
    plain = UniformWithReplacementSampler(num_samples=50, sample_rate=0.2, generator=torch.Generator().manual_seed(1))
    assert list(sampler) == (expected := list(plain))
    assert [draw.size for draw in draws.epochs[0].draws] == [len(each) for each in expected]
    assert draws.alarm is None
    assert record_draws(sampler, before_draw=nothing, after_draw=nothing) is draws
    assert record_draws(iter(()), before_draw=nothing, after_draw=nothing) is None


def test_a_draw_that_repeats_an_earlier_one_is_seen_unless_it_is_probable():
    sampler, draws = recorded(records=200)
    list(sampler)
    sampler.generator.manual_seed(1)
    list(sampler)
    assert "repeats an earlier draw" in draws.alarm
    sampler, draws = recorded(records=3, rate=0.5)
    for _ in range(20):
        list(sampler)
    assert draws.alarm is None


def test_a_generator_of_the_sampler_that_is_replaced_is_seen():
    sampler, draws = recorded()
    list(sampler)
    sampler.generator = torch.Generator().manual_seed(2)
    list(sampler)
    assert draws.alarm == "the random generator of the sampler was replaced"


def test_earlier_draws_of_a_pass_count_as_skipped_once():
    sampler, draws = recorded()
    list(sampler)
    epoch = draws.epochs[0]
    first, second, third, fourth, _ = epoch.draws
    assert [epoch.use(third), epoch.use(fourth), epoch.use(first)] == [2, 0, 0]
    assert epoch.draws[0] is second


# Generators ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("numbers", [1, 700, 5000])
def test_a_generator_that_goes_on_is_in_order(numbers):
    generator, watches = torch.Generator().manual_seed(5), GeneratorWatches()
    for _ in range(40):
        assert watches.observe(generator) is None
        torch.rand(numbers, generator=generator)
        watches.note_draw(generator)


@pytest.mark.parametrize("numbers", [1, 700, 5000])
def test_a_generator_that_is_reset_is_seen(numbers):
    generator, watches = torch.Generator().manual_seed(5), GeneratorWatches()
    start = generator.get_state()
    for _ in range(3):
        watches.observe(generator)
        torch.rand(numbers, generator=generator)
        watches.note_draw(generator)
    watches.observe(generator)
    generator.set_state(start)
    assert watches.observe(generator) is not None
    generator.manual_seed(6)
    torch.rand(1, generator=generator)
    assert watches.observe(generator) == "was seeded anew"


@pytest.mark.parametrize(("seed", "message"), [(5, "starts with the seed of the run that is resumed"), (6, None)])
def test_the_seed_of_a_resumed_run_is_compared(seed, message):
    first, second = GeneratorWatches(), GeneratorWatches()
    generator = torch.Generator().manual_seed(5)
    for _ in range(5):
        first.observe(generator)
        torch.rand(1000, generator=generator)
    second.compare_with(first.state_dict())
    assert second.observe(torch.Generator().manual_seed(seed)) == message


def draw(watches, generator, purpose, draws=3):
    """Draw as a sampler does, and return the message of the first draw."""
    messages = []
    for _ in range(draws):
        messages.append(watches.observe(generator, purpose))
        torch.rand(700, generator=generator)
        watches.note_draw(generator)
    return messages[0]


def test_a_new_generator_with_an_earlier_seed_is_seen_and_other_new_generators_are_in_order():
    watches = GeneratorWatches()
    first = torch.Generator().manual_seed(5)
    assert draw(watches, first, "batches") is None
    assert draw(watches, torch.Generator().manual_seed(6), "batches") is None
    assert draw(watches, torch.Generator().manual_seed(5), "noise") is None
    going_on = torch.Generator()
    going_on.set_state(first.get_state())
    assert draw(watches, going_on, "batches") is None
    assert "had started" in draw(watches, torch.Generator().manual_seed(5), "batches")
    assert "had started" in draw(watches, torch.Generator().manual_seed(6), "batches", draws=1)


def test_a_generator_that_goes_on_from_an_earlier_state_is_seen():
    watches, first = GeneratorWatches(), torch.Generator().manual_seed(5)
    torch.rand(100_000, generator=first)
    states = []
    for _ in range(4):
        states.append(first.get_state())
        draw(watches, first, "batches", draws=1)
    copied = torch.Generator()
    copied.set_state(states[1])
    assert "had started" in draw(watches, copied, "batches")


# Parameters ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("digest", [lambda tensor: digests_of([tensor]), _device_digest])
@pytest.mark.parametrize("shape", [(8, 6), (500, 300), (3,)])
def test_digests_depend_on_the_order_of_values(digest, shape):
    tensor = torch.randn(shape)
    assert digest(tensor) == digest(tensor.clone())
    assert digest(tensor) != digest(tensor.flip(0))


@pytest.mark.parametrize("digest", [lambda tensor: digests_of([tensor]), _device_digest])
@pytest.mark.parametrize("kind", [torch.float64, torch.float32])
def test_digests_depend_on_the_sign_of_every_entry(digest, kind):
    tensor = torch.randn(48, dtype=kind)
    for index in range(len(tensor)):
        changed = tensor.clone()
        changed[index] = -changed[index]
        assert digest(tensor) != digest(changed)


# Contents --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch,
        lambda batch: batch.view(6, 2, 2),
        lambda batch: batch.to(torch.float16),
        lambda batch: batch.clone().reshape(6, 2, 2).transpose(1, 2),
        lambda batch: {"features": [batch]},
    ],
)
def test_a_batch_is_recognised_after_harmless_changes(change):
    contents, batch = Contents(), torch.randn(6, 4)
    contents.hand_out((batch, torch.zeros(6)), None)
    contents.hand_out((torch.randn(6, 4), torch.ones(6)), None)
    found = contents.recognise([change(batch)], by_value=True)
    assert found[0] is not None
    assert found == contents.recognise([batch], by_value=False)


@pytest.mark.parametrize(
    "change",
    [
        lambda batch: batch + 1.0,
        lambda batch: batch[:5],
        lambda batch: batch.flip(0),
        lambda batch: batch[[0, 2, 1, 3, 4, 5]],
        lambda batch: batch.mul_(2.0),
        torch.zeros_like,
    ],
)
def test_another_batch_is_not_recognised(change):
    contents, batch = Contents(), torch.arange(24.0).reshape(6, 4)
    contents.hand_out([batch], None)
    assert contents.recognise([change(batch).clone()], by_value=True) == (None, False)


@pytest.mark.parametrize(
    ("choose", "foreign"),
    [
        (lambda _: torch.randn(6, 4), True),
        (lambda batches: batches[1][0], True),
        (lambda batches: batches[0][1].clone(), False),
        (lambda batches: batches[0][0][:, :2], False),
        (lambda _: torch.zeros(6, 4), False),
        (lambda _: torch.zeros(0, 4), False),
        (lambda _: torch.arange(6), False),
    ],
)
def test_other_numbers_next_to_a_batch_are_noticed(choose, foreign):
    contents, batches = Contents(), [(torch.randn(6, 4), torch.ones(6)) for _ in range(2)]
    for batch in batches:
        contents.hand_out(batch, None)
    batch, _ = contents.recognise([batches[0][0]], by_value=True)
    assert contents.recognise([batches[0][0], choose(batches)], by_value=True) == (batch, foreign)


def test_empty_batches_are_recognised_as_objects_and_else_in_their_order():
    contents, batches = Contents(), [torch.zeros(0, 4) for _ in range(12)]
    for batch in batches:
        contents.hand_out([batch], None)
    handed = [contents.recognise([batch], by_value=False)[0] for batch in batches]
    assert len({id(batch) for batch in handed}) == 12
    for batch in handed:
        assert contents.recognise([torch.zeros(0, 4)], by_value=True)[0] is batch
        batch.used = True
    assert contents.recognise([torch.zeros(0, 4)], by_value=True)[0] is None
    assert not has_numbers([batches[0]])
    assert has_numbers([batches[0], torch.zeros(1)])


# Settings --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "value", "premise"),
    [("noise_multiplier", 2.0, NOISE), ("max_grad_norm", 0.5, CLIPPING), ("max_grad_norms", [1.0, 2.0], CLIPPING)],
)
def test_settings_that_change_after_the_forward_pass_rest_on_the_caller(name, value, premise):
    evidence = Evidence((NOISE, CLIPPING, PARAMETERS), outside=())
    check = SettingsCheck(Reporter(evidence))
    values = {
        "noise_multiplier": 1.0,
        "max_grad_norm": 1.0,
        "max_grad_norms": [1.0, 1.0],
        "param_groups": [{"params": [], "lr": 1}],
    }
    optimizer = SimpleNamespace(**values)
    check.see_forward(optimizer)
    assert check.compare(optimizer) == set()
    setattr(optimizer, name, value)
    check.see_forward(optimizer)
    assert check.compare(optimizer) == set()
    assert evidence.declared == ()
    check.see_forward(optimizer)
    optimizer.param_groups[0]["lr"] = 2
    setattr(optimizer, name, values[name])
    assert check.compare(optimizer) == {premise, PARAMETERS}
    assert len(evidence.declared) == 2
    assert all("after the model had read the batch" in item for item in evidence.declared)


# Parameters ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(3,), (2, 2), (5, 7)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_each_change_of_a_parameter_is_seen_and_earlier_states_are_in_order(shape, dtype):
    module = nn.Module()
    module.weight = nn.Parameter(torch.randn(shape).to(dtype))
    evidence = Evidence((PARAMETERS,), outside=())
    check = ParameterCheck(Digests(), Reporter(evidence), module, [module.weight])
    check.record()
    first = module.weight.detach().clone()
    module.weight.data.view(-1)[0] += 1.0
    assert not check.is_settled()
    check.record()
    assert check.is_settled()
    module.weight.data = first.clone()
    assert check.is_settled()
    module.weight.data.view(-1)[-1] += 2.0
    assert not check.check_step()
    assert evidence.observations[0].premise == "parameters"


# Noise -----------------------------------------------------------------------------------------------------------------
GROUPS = np.array([0, 64])


def alarm_of(draw, steps=60):
    samples = NoiseSamples()
    for _ in range(steps):
        samples.observe(draw(), GROUPS)
    return samples.alarm


def test_gaussian_noise_raises_no_alarm_and_other_noise_does():
    random = np.random.default_rng(3)
    fixed = random.standard_normal(128)
    assert alarm_of(lambda: random.standard_normal(128), steps=400) is None
    assert "times the recorded one" in alarm_of(lambda: np.zeros(128))
    assert "times the recorded one" in alarm_of(lambda: 0.8 * random.standard_normal(128))
    assert "repeats the noise of an earlier step" in alarm_of(lambda: fixed)
    assert "same noise in one step" in alarm_of(lambda: np.tile(random.standard_normal(8), 16))
    assert "Laplace" in alarm_of(lambda: random.laplace(scale=0.5**0.5, size=128))
    assert alarm_of(lambda: random.choice([-1.0, 1.0], size=128)) is not None


# The record ------------------------------------------------------------------------------------------------------------
def test_a_record_extends_an_earlier_one():
    record = []
    for noise in (1.0, 1.0, 2.0):
        append(record, (noise, 0.1, 1))
    assert record == [(1.0, 0.1, 2), (2.0, 0.1, 1)]
    assert extends(record, [])
    assert extends(record, [(1.0, 0.1, 1)])
    assert extends(record, [(1.0, 0.1, 2), (2.0, 0.1, 1)])
    assert not extends(record, [(1.0, 0.1, 3)])
    assert not extends(record, [(1.0, 0.1, 2), (2.0, 0.1, 2)])
