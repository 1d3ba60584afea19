"""Right programs that change noise, norm, rate or learning rate, or that stop or request ε at any time."""

from __future__ import annotations

import itertools

import torch
from opacus import PrivacyEngine
from opacus.schedulers import (
    ExponentialGradClip,
    ExponentialNoise,
    LambdaGradClip,
    LambdaNoise,
    StepGradClip,
    StepNoise,
)
from torch.nn.functional import cross_entropy

from epsilond.integrations.opacus import EpsilondPrivacyEngine, get_noise_multiplier
from tests.integrations.opacus.opacus_parts import (
    DELTA,
    NOISE,
    RATE,
    STEPS,
    Expected,
    draw_records,
    load_batches,
    make_classifier,
    prepare,
    take_step,
    train,
)


def train_for_two_epochs(engine: PrivacyEngine) -> Expected:
    """Train as the first page of Opacus' documentation does."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches)
    return Expected.of(2 * STEPS)


def train_for_many_epochs(engine: PrivacyEngine) -> Expected:
    """Train for so many epochs that tests over the whole run have much to add up."""
    model, optimizer, batches = prepare(engine, noise=2.0)
    train(model, optimizer, batches, epochs=20)
    return Expected.of(20 * STEPS, noise=2.0)


def stop_in_middle_of_epoch(engine: PrivacyEngine) -> Expected:
    """Stop after fourteen steps."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    for batch in itertools.islice(batches, 4):
        take_step(model, optimizer, batch)
    return Expected.of(STEPS + 4)


def break_out_of_each_epoch(engine: PrivacyEngine) -> Expected:
    """Leave each epoch after its third batch, which draws a new one each time."""
    model, optimizer, batches = prepare(engine)
    for _ in range(5):
        for place, batch in enumerate(batches):
            if place == 3:
                break
            take_step(model, optimizer, batch)
    return Expected.of(15)


def call_pre_step_by_hand(engine: PrivacyEngine) -> Expected:
    """Call the two halves of Opacus' step one after the other, to look at the noisy gradient in between."""
    model, optimizer, batches = prepare(engine)
    norms = []
    for features, labels in [*batches, *batches]:
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        if optimizer.pre_step():
            norms.append([float(parameter.grad.norm()) for parameter in optimizer.params])
            optimizer.original_optimizer.step()
    return Expected.of(2 * STEPS)


def ask_for_epsilon_at_each_step(engine: PrivacyEngine) -> Expected:
    """Request ε after each step, and stop once it exceeds a target."""
    model, optimizer, batches = prepare(engine)
    steps = 0
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        steps += 1
        if engine.get_epsilon(DELTA) > 1.5:
            break
    assert 0 < steps < 2 * STEPS
    return Expected.of(steps)


def schedule_noise_exponentially(engine: PrivacyEngine) -> Expected:
    """Let the noise shrink by a tenth in each epoch."""
    model, optimizer, batches = prepare(engine)
    scheduler, noise = ExponentialNoise(optimizer, gamma=0.9), NOISE
    steps = {}
    for _ in range(3):
        train(model, optimizer, batches, epochs=1)
        steps[noise, RATE] = STEPS
        scheduler.step()
        noise *= 0.9
    return Expected(steps)


def schedule_noise_by_function(engine: PrivacyEngine) -> Expected:
    """Let the noise grow by a function of the step."""
    model, optimizer, batches = prepare(engine)
    scheduler = LambdaNoise(optimizer, noise_lambda=lambda step: 1.0 + 0.5 * step)
    for batch in itertools.islice(batches, 4):
        take_step(model, optimizer, batch)
        scheduler.step()
    return Expected({(1.0, RATE): 1, (1.5, RATE): 1, (2.0, RATE): 1, (2.5, RATE): 1})


def schedule_noise_by_steps(engine: PrivacyEngine) -> Expected:
    """Let the noise shrink to three quarters every second epoch."""
    model, optimizer, batches = prepare(engine)
    scheduler = StepNoise(optimizer, step_size=2, gamma=0.75)
    for _ in range(4):
        train(model, optimizer, batches, epochs=1)
        scheduler.step()
    return Expected({(1.0, RATE): 2 * STEPS, (0.75, RATE): 2 * STEPS})


def set_noise_by_hand(engine: PrivacyEngine) -> Expected:
    """Double the noise multiplier of the optimizer between epochs, which Opacus records."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    optimizer.noise_multiplier = 2.0
    train(model, optimizer, batches, epochs=1)
    return Expected({(1.0, RATE): STEPS, (2.0, RATE): STEPS})


def schedule_norm_exponentially(engine: PrivacyEngine) -> Expected:
    """Let the clipping norm shrink in each epoch; the noise shrinks with it."""
    model, optimizer, batches = prepare(engine)
    scheduler = ExponentialGradClip(optimizer, gamma=0.5)
    for _ in range(3):
        train(model, optimizer, batches, epochs=1)
        scheduler.step()
    return Expected.of(3 * STEPS)


def schedule_norm_at_each_step(engine: PrivacyEngine) -> Expected:
    """Change the clipping norm after each step, up and down."""
    model, optimizer, batches = prepare(engine)
    scheduler = LambdaGradClip(optimizer, scheduler_function=lambda step: 1.0 + step % 3)
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        scheduler.step()
    return Expected.of(2 * STEPS)


def schedule_norm_and_noise(engine: PrivacyEngine) -> Expected:
    """Change norm and noise together."""
    model, optimizer, batches = prepare(engine)
    norms, noises = StepGradClip(optimizer, step_size=1, gamma=2.0), StepNoise(optimizer, step_size=1, gamma=1.5)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        norms.step()
        noises.step()
    return Expected({(1.0, RATE): STEPS, (1.5, RATE): STEPS})


def schedule_learning_rate(engine: PrivacyEngine) -> Expected:
    """Use two learning-rate schedulers of PyTorch, one for each step and one for each epoch."""
    model, optimizer, batches = prepare(engine)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2 * STEPS)
    decay = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    for _ in range(2):
        for batch in batches:
            take_step(model, optimizer, batch)
            cosine.step()
        decay.step()
    return Expected.of(2 * STEPS)


def schedule_momentum(engine: PrivacyEngine) -> Expected:
    """Let a scheduler of the original optimizer change the learning rate and the momentum at each step."""
    model = make_classifier()
    inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    cycle = torch.optim.lr_scheduler.OneCycleLR(inner, max_lr=0.2, total_steps=2 * STEPS + 1)
    module, optimizer, batches = prepare(engine, model=model, optimizer=inner)
    for batch in [*batches, *batches]:
        take_step(module, optimizer, batch)
        cycle.step()
    return Expected.of(2 * STEPS)


def calibrate_to_target(engine: PrivacyEngine) -> Expected:
    """Let the engine choose the noise for ε = 3 and three epochs; each engine has its own search."""
    model = make_classifier()
    model, optimizer, batches = engine.make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=load_batches(),
        target_epsilon=3.0,
        target_delta=DELTA,
        epochs=3,
        max_grad_norm=1.0,
    )
    train(model, optimizer, batches, epochs=3)
    noise = get_noise_multiplier(target_epsilon=3.0, target_delta=DELTA, sample_rate=RATE, epochs=3)
    if isinstance(engine, EpsilondPrivacyEngine):
        return Expected.of(3 * STEPS, noise=noise)
    assert noise <= optimizer.noise_multiplier < 1.02 * noise
    return Expected.of(3 * STEPS, noise=optimizer.noise_multiplier)


def change_batch_size(engine: PrivacyEngine) -> Expected:
    """Go on with batches of twice the size, by a second `make_private` for the same records and model."""
    data, model = draw_records(), make_classifier()
    module, optimizer, batches = prepare(engine, model=model, batches=load_batches(data))
    train(module, optimizer, batches, epochs=1)
    module, optimizer, batches = prepare(engine, model=module, batches=load_batches(data, batch_size=24))
    train(module, optimizer, batches, epochs=1)
    return Expected({(NOISE, 0.1): 10, (NOISE, 0.2): 5})


def grow_data_set(engine: PrivacyEngine) -> Expected:
    """Call `make_private` again once more records have come in."""
    data, model = draw_records(), make_classifier()
    module, optimizer, batches = prepare(engine, model=model, batches=load_batches(data))
    train(module, optimizer, batches, epochs=1)
    more = torch.utils.data.ConcatDataset([data, draw_records(60)])
    module, optimizer, batches = prepare(engine, model=module, batches=load_batches(more))
    train(module, optimizer, batches, epochs=1)
    return Expected({(NOISE, 1 / 10): 10, (NOISE, 1 / 15): 15})


PROGRAMS = (
    train_for_two_epochs,
    train_for_many_epochs,
    stop_in_middle_of_epoch,
    break_out_of_each_epoch,
    call_pre_step_by_hand,
    ask_for_epsilon_at_each_step,
    schedule_noise_exponentially,
    schedule_noise_by_function,
    schedule_noise_by_steps,
    set_noise_by_hand,
    schedule_norm_exponentially,
    schedule_norm_at_each_step,
    schedule_norm_and_noise,
    schedule_learning_rate,
    schedule_momentum,
    calibrate_to_target,
    change_batch_size,
    grow_data_set,
)
