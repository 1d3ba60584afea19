"""Right programs with batches of other forms."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import Dataset, TensorDataset

from tests.integrations.opacus.opacus_parts import (
    CLASSES,
    RECORDS,
    STEPS,
    Expected,
    draw_records,
    load_batches,
    make_classifier,
    prepare,
    take_step,
    train,
)

TWO_EPOCHS = Expected.of(2 * STEPS)


def reshape_and_cast_inputs(engine: PrivacyEngine) -> Expected:
    """Reshape and cast each record before the model sees it."""
    model, optimizer, batches = prepare(engine, model=make_classifier().double())
    for features, labels in itertools.chain(batches, batches):
        inputs = features.view(-1, 2, 3).flatten(1).clone().double()
        take_step(model, optimizer, (inputs, labels.long().view(-1)))
    return TWO_EPOCHS


def cast_batches_drawn_ahead(engine: PrivacyEngine) -> Expected:
    """Draw an epoch into a list, and copy each batch before the model sees it, as for another device."""
    model, optimizer, batches = prepare(engine, model=make_classifier().double())
    for _ in range(2):
        for features, labels in list(batches):
            take_step(model, optimizer, (features.double(), labels))
    return TWO_EPOCHS


class Records(Dataset[Any]):
    """Records in a form of their own."""

    def __init__(self, form: Any) -> None:
        self._data, self._form = draw_records(), form

    def __len__(self) -> int:
        return RECORDS

    def __getitem__(self, place: int) -> Any:
        return self._form(*self._data[place])


class Pair(NamedTuple):
    """A record and its label."""

    features: torch.Tensor
    label: torch.Tensor


def use_dictionaries(engine: PrivacyEngine) -> Expected:
    """Use records that are dictionaries, as those of tokenizers are."""
    data = Records(lambda features, label: {"features": features, "label": label})
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    for batch in [*batches, *batches]:
        take_step(model, optimizer, (batch["features"], batch["label"]))
    return TWO_EPOCHS


def use_named_tuples_and_own_collation(engine: PrivacyEngine) -> Expected:
    """Use named tuples and a collate function of the program's own."""

    def collate(records: list[Pair]) -> Any:
        return torch.stack([each.features for each in records]), torch.stack([each.label for each in records])

    train(*prepare(engine, batches=load_batches(Records(Pair), collate_fn=collate)))
    return TWO_EPOCHS


def call_model_with_keywords(engine: PrivacyEngine) -> Expected:
    """Call the model with keyword arguments, as trainers of language models do."""
    data = Records(lambda features, label: {"features": features, "label": label})
    model, optimizer, batches = prepare(engine, batches=load_batches(data))
    for batch in itertools.chain(batches, batches):
        optimizer.zero_grad()
        cross_entropy(model(input=batch["features"]), batch["label"]).backward()
        optimizer.step()
    return TWO_EPOCHS


def cut_sequences_short(engine: PrivacyEngine) -> Expected:
    """Cut the sequences of each batch to a length before the model reads them."""
    data = TensorDataset(torch.randint(0, 20, (RECORDS, 9)), torch.randint(0, CLASSES, (RECORDS,)))
    layers = [nn.Embedding(20, 4), nn.Flatten(), nn.Linear(20, CLASSES)]
    model, optimizer, batches = prepare(engine, model=nn.Sequential(*layers), batches=load_batches(data))
    for words, labels in itertools.chain(batches, batches):
        take_step(model, optimizer, (words[:, :5], labels))
    return TWO_EPOCHS


PROGRAMS = (
    reshape_and_cast_inputs,
    cast_batches_drawn_ahead,
    use_dictionaries,
    use_named_tuples_and_own_collation,
    call_model_with_keywords,
    cut_sequences_short,
)
