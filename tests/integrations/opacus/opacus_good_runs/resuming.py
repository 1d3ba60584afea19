"""Right programs that stop and go on, with their accountant, or that run next to others."""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.utils.batch_memory_manager import BatchMemoryManager

from tests.integrations.opacus.opacus_parts import (
    DELTA,
    FEATURES,
    RATE,
    STEPS,
    Expected,
    draw_records,
    load_batches,
    make_classifier,
    prepare,
    start_engine_like,
    take_step,
    train,
)

TWO_EPOCHS = Expected.of(2 * STEPS)


def resume_by_engine(engine: PrivacyEngine) -> Expected:
    """Save a checkpoint by the engine, and load it in a new one for the second epoch."""
    data, file = draw_records(), io.BytesIO()
    first = start_engine_like(engine)
    model, optimizer, batches = prepare(first, batches=load_batches(data))
    train(model, optimizer, batches, epochs=1)
    first.save_checkpoint(path=file, module=model, optimizer=optimizer)
    file.seek(0)
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    engine.load_checkpoint(path=file, module=model, optimizer=optimizer)
    train(model, optimizer, batches, epochs=1)
    return TWO_EPOCHS


def resume_twice(engine: PrivacyEngine) -> Expected:
    """Go on from a checkpoint that itself was made by a run that went on."""
    data, state = draw_records(), None
    for part in (start_engine_like(engine), start_engine_like(engine), engine):
        model, optimizer, batches = prepare(part, batches=load_batches(data))
        if state is not None:
            state.seek(0)
            part.load_checkpoint(path=state, module=model, optimizer=optimizer)
        train(model, optimizer, batches, epochs=1)
        state = io.BytesIO()
        part.save_checkpoint(path=state, module=model, optimizer=optimizer)
    return Expected.of(3 * STEPS)


def resume_by_hand(engine: PrivacyEngine) -> Expected:
    """Save the states of model, optimizer and accountant by hand, and load them before `make_private`."""
    data, file = draw_records(), io.BytesIO()
    first = start_engine_like(engine)
    model, optimizer, batches = prepare(first, batches=load_batches(data))
    train(model, optimizer, batches, epochs=1)
    states = {
        "model": model._module.state_dict(),
        "optimizer": optimizer.state_dict(),
        "accountant": first.accountant.state_dict(),
    }
    torch.save(states, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=False)
    fresh = make_classifier()
    fresh.load_state_dict(loaded["model"])
    engine.accountant.load_state_dict(loaded["accountant"])
    model, optimizer, batches = prepare(engine, model=fresh, batches=load_batches(data))
    optimizer.load_state_dict(loaded["optimizer"])
    train(model, optimizer, batches, epochs=1)
    return TWO_EPOCHS


def resume_from_json(engine: PrivacyEngine) -> Expected:
    """Keep the accountant's state as JSON next to the weights."""
    data = draw_records()
    first = start_engine_like(engine)
    model, optimizer, batches = prepare(first, batches=load_batches(data))
    train(model, optimizer, batches, epochs=1)
    text = json.dumps(first.accountant.state_dict())
    again = make_classifier()
    again.load_state_dict(model._module.state_dict())
    module, optimizer, batches = prepare(engine, model=again, batches=load_batches(data))
    engine.accountant.load_state_dict(json.loads(text))
    train(module, optimizer, batches, epochs=1)
    return TWO_EPOCHS


def save_without_resuming(engine: PrivacyEngine) -> Expected:
    """Save a checkpoint after each epoch, and never load one."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        engine.save_checkpoint(path=io.BytesIO(), module=model, optimizer=optimizer)
    return TWO_EPOCHS


def state_result_of_checkpoint(engine: PrivacyEngine) -> Expected:
    """Load a finished run's accountant only to request its ε once more."""
    first = start_engine_like(engine)
    train(*prepare(first))
    engine.accountant.load_state_dict(first.accountant.state_dict())
    return TWO_EPOCHS


def run_two_engines_in_one_process(engine: PrivacyEngine) -> Expected:
    """Train two models on different records, each with an engine, in turns."""
    model, optimizer, batches = prepare(engine)
    prepared = prepare(start_engine_like(engine), batches=load_batches(batch_size=30), noise=0.7)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        train(*prepared, epochs=1)
    return TWO_EPOCHS


def start_from_trained_model(engine: PrivacyEngine) -> Expected:
    """Start from public weights that were trained without privacy before `make_private`."""
    model = make_classifier()
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), load_batches(draw_records(50)), epochs=3)
    train(*prepare(engine, model=model))
    return TWO_EPOCHS


def share_accountant_between_engines(engine: PrivacyEngine) -> Expected:
    """Let two engines fill one accountant, as was wished for in https://github.com/meta-pytorch/opacus/pull/254."""
    data, second = draw_records(), start_engine_like(engine)
    second.accountant = engine.accountant
    train(*prepare(engine, batches=load_batches(data)), epochs=1)
    train(*prepare(second, batches=load_batches(data)), epochs=1)
    return TWO_EPOCHS


def call_hook_within_own_hook(engine: PrivacyEngine) -> Expected:
    """Wrap the accountant's hook in one that logs, and tells a second accountant of Opacus."""
    model, optimizer, batches = prepare(engine)
    hook, renyi = optimizer.step_hook, RDPAccountant()
    another = renyi.get_optimizer_hook_fn(sample_rate=RATE)

    def log(stepping: Any) -> None:
        hook(stepping)
        another(stepping)

    optimizer.attach_step_hook(log)
    train(model, optimizer, batches)
    assert renyi.history == [(1.0, RATE, 2 * STEPS)]
    return TWO_EPOCHS


def copy_and_save_whole_model(engine: PrivacyEngine) -> Expected:
    """Copy the wrapped model between epochs, and save it whole, as Opacus allows."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        optimizer.zero_grad()
        copied = copy.deepcopy(model)
        with torch.no_grad():
            copied(torch.randn(3, FEATURES))
        torch.save(model, io.BytesIO())
    return TWO_EPOCHS


def look_at_history(engine: PrivacyEngine) -> Expected:
    """Read, copy and log the history, and predict the ε of further steps with a copy of the accountant."""
    model, optimizer, batches = prepare(engine)
    for _ in range(2):
        train(model, optimizer, batches, epochs=1)
        history = list(engine.accountant.history)
        history.append((1.0, RATE, 100))
        copied = copy.deepcopy(engine.accountant)
        assert len(copied) == len(engine.accountant) > 0
        assert engine.accountant.get_epsilon(delta=DELTA) == copied.get_epsilon(delta=DELTA)
    return TWO_EPOCHS


def request_epsilon_within_virtual_steps(engine: PrivacyEngine) -> Expected:
    """Request ε after each physical batch, and so in the middle of steps."""
    model, optimizer, batches = prepare(engine, batches=load_batches(batch_size=40))
    for _ in range(2):
        with BatchMemoryManager(data_loader=batches, max_physical_batch_size=15, optimizer=optimizer) as parts:
            for batch in parts:
                take_step(model, optimizer, batch)
                assert engine.get_epsilon(DELTA) >= 0.0
                assert engine.accountant.status == "certified"
    return Expected.of(6, rate=1 / 3)


PROGRAMS = (
    resume_by_engine,
    resume_twice,
    resume_by_hand,
    resume_from_json,
    save_without_resuming,
    state_result_of_checkpoint,
    run_two_engines_in_one_process,
    start_from_trained_model,
    share_accountant_between_engines,
    call_hook_within_own_hook,
    copy_and_save_whole_model,
    look_at_history,
    request_epsilon_within_virtual_steps,
)
