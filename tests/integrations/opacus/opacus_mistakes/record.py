"""Mistakes with the record: steps that are missing from it, or changed in it."""

from __future__ import annotations

import copy
import io
import itertools

import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant

from tests.integrations.opacus.opacus_parts import (
    NOISE,
    RATE,
    STEPS,
    draw_records,
    load_batches,
    prepare,
    start_engine_like,
    take_step,
    train,
)


def clear_history(engine: PrivacyEngine) -> None:
    """Clear the history after the first epoch."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    engine.accountant.history.clear()
    train(model, optimizer, batches, epochs=1)


def assign_empty_history(engine: PrivacyEngine) -> None:
    """Assign an empty history after the last step."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches)
    engine.accountant.history = []


def edit_noise_in_history(engine: PrivacyEngine) -> None:
    """Write a larger noise multiplier into the history."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches)
    engine.accountant.history[0] = (4.0 * NOISE, RATE, 2 * STEPS)


def drop_steps_from_history(engine: PrivacyEngine) -> None:
    """Write a smaller number of steps into the history, as if only the last epoch counted."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches)
    engine.accountant.history[-1] = (NOISE, RATE, STEPS)


def replace_accountant(engine: PrivacyEngine) -> None:
    """Give the engine a new accountant in the middle of the run; the old one goes on counting."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    engine.accountant = create_accountant("epsilond")
    train(model, optimizer, batches, epochs=1)


def put_back_earlier_accountant(engine: PrivacyEngine) -> None:
    """Put a copy of the accountant from before the last epoch back into the engine."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    earlier = copy.deepcopy(engine.accountant)
    train(model, optimizer, batches, epochs=1)
    engine.accountant = earlier


def rewind_accountant(engine: PrivacyEngine) -> None:
    """Load the accountant's state of the first epoch after the second, and keep the model.

    How a state is meant to be restored: https://github.com/meta-pytorch/opacus/pull/429
    """
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    state = copy.deepcopy(engine.accountant.state_dict())
    train(model, optimizer, batches, epochs=1)
    engine.accountant.load_state_dict(state)


def rewind_accountant_and_go_on(engine: PrivacyEngine) -> None:
    """Load the accountant's earlier state, and take more steps from the later model."""
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    state = copy.deepcopy(engine.accountant.state_dict())
    train(model, optimizer, batches, epochs=2)
    engine.accountant.load_state_dict(state)
    train(model, optimizer, batches, epochs=1)


def detach_hook(engine: PrivacyEngine) -> None:
    """Remove the optimizer's step hook after the first epoch: later steps are not recorded.

    A hook on the wrong optimizer in the migration guide: https://github.com/meta-pytorch/opacus/pull/307
    """
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)
    optimizer.attach_step_hook(None)
    train(model, optimizer, batches, epochs=1)


def detach_hook_at_start(engine: PrivacyEngine) -> None:
    """Replace the step hook by one for logging before the first step: no step is recorded."""
    model, optimizer, batches = prepare(engine)
    logged: list[float] = []
    optimizer.attach_step_hook(lambda each: logged.append(each.noise_multiplier))
    train(model, optimizer, batches)
    assert logged


def record_more_noise(engine: PrivacyEngine) -> None:
    """Record each step by an own hook with four times the noise that was added."""
    model, optimizer, batches = prepare(engine)
    optimizer.attach_step_hook(
        lambda each: engine.accountant.step(noise_multiplier=4.0 * each.noise_multiplier, sample_rate=RATE)
    )
    train(model, optimizer, batches)


def record_smaller_rate(engine: PrivacyEngine) -> None:
    """Attach the accountant's hook again, with a tenth of the rate that the loader has."""
    model, optimizer, batches = prepare(engine)
    optimizer.attach_step_hook(engine.accountant.get_optimizer_hook_fn(sample_rate=RATE / 10))
    train(model, optimizer, batches)


def take_steps_after_last_statement(engine: PrivacyEngine) -> None:
    """Keep a copy of the accountant as "the statement", train on, and restore the copy.

    An early stop by ε that does not stop: the model is later than the statement.
    """
    model, optimizer, batches = prepare(engine)
    for batch in itertools.islice(batches, 5):
        take_step(model, optimizer, batch)
    statement = engine.accountant.state_dict()
    for _ in range(4):
        train(model, optimizer, batches, epochs=1)
    engine.accountant.load_state_dict(statement)


def tell_steps_in_advance_and_detach(engine: PrivacyEngine) -> None:
    """Tell the accountant the planned steps, remove the hook, and train for twice as long."""
    model, optimizer, batches = prepare(engine)
    for _ in range(STEPS):
        engine.accountant.step(noise_multiplier=NOISE, sample_rate=RATE)
    optimizer.attach_step_hook(lambda _: None)
    train(model, optimizer, batches)


def load_clean_state_over_contradiction(engine: PrivacyEngine) -> None:
    """Train on the wrong loader, and load the accountant's state of another run that was right."""
    original = load_batches()
    model, optimizer, _ = prepare(engine, batches=original)
    train(model, optimizer, original)
    second = start_engine_like(engine)
    train(*prepare(second))
    engine.accountant.load_state_dict(second.accountant.state_dict())


def resume_with_same_seed(engine: PrivacyEngine) -> None:
    """Set the same seed when the program starts and when it goes on: noise and batches of the start are repeated."""
    data, first = draw_records(), start_engine_like(engine)
    torch.manual_seed(0)
    model, optimizer, batches = prepare(first, batches=load_batches(data))
    train(model, optimizer, batches, epochs=1)
    file = io.BytesIO()
    first.save_checkpoint(path=file, module=model, optimizer=optimizer)
    file.seek(0)
    torch.manual_seed(0)
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    engine.load_checkpoint(path=file, module=model, optimizer=optimizer)
    train(model, optimizer, batches, epochs=1)


MISTAKES = {
    load_clean_state_over_contradiction: ("fresh-draw", "same-parts"),
    resume_with_same_seed: ("noise", "fresh-draw"),
    clear_history: ("same-parts",),
    assign_empty_history: ("same-parts",),
    edit_noise_in_history: ("same-parts", "noise"),
    drop_steps_from_history: ("same-parts",),
    replace_accountant: ("same-parts", "parameters"),
    put_back_earlier_accountant: ("same-parts", "parameters"),
    rewind_accountant: ("same-parts", "parameters"),
    rewind_accountant_and_go_on: ("same-parts", "parameters"),
    detach_hook: ("same-parts", "parameters"),
    detach_hook_at_start: ("same-parts", "parameters"),
    record_more_noise: ("noise", "same-parts"),
    record_smaller_rate: ("fresh-draw", "same-parts"),
    take_steps_after_last_statement: ("same-parts", "parameters"),
    tell_steps_in_advance_and_detach: ("same-parts", "parameters"),
}
"""Programs, each with the premises of which the message must name one."""
