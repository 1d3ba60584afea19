"""Programs that may be right or wrong: the difference was not observed, so their ε may only be declared."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
from opacus.grad_sample import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader

from tests.integrations.opacus.opacus_parts import (
    BATCH,
    CLASSES,
    FEATURES,
    NOISE,
    RATE,
    RECORDS,
    STEPS,
    draw_records,
    load_batches,
    make_classifier,
    prepare,
    take_step,
    train,
)


# The record -----------------------------------------------------------------------------------------------------------
def tell_steps_by_hand(engine: PrivacyEngine) -> None:
    """Tell the accountant steps of a loop of the program's own, without `make_private`."""
    for _ in range(STEPS):
        engine.accountant.step(noise_multiplier=NOISE, sample_rate=RATE)


def take_over_history_of_rdp(engine: PrivacyEngine) -> None:
    """Load the history of another accountant of Opacus, which did not observe its steps."""
    renyi = RDPAccountant()
    renyi.history = [(NOISE, RATE, 2 * STEPS)]
    engine.accountant.load_state_dict(renyi.state_dict())


def load_history_without_evidence(engine: PrivacyEngine) -> None:
    """Start from a history in a file, which has no evidence, and train on."""
    engine.accountant.load_state_dict({"history": [(NOISE, RATE, STEPS)], "mechanism": "epsilond"})
    model, optimizer, batches = prepare(engine)
    train(model, optimizer, batches, epochs=1)


def use_parts_without_engine(engine: PrivacyEngine) -> None:
    """Put model, optimizer and loader together by hand, with a rate that is typed.

    The parts of Opacus without its engine: https://github.com/meta-pytorch/opacus/pull/288
    """
    model = GradSampleModule(make_classifier())
    batches = DPDataLoader.from_data_loader(load_batches())
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1),
        noise_multiplier=NOISE,
        max_grad_norm=1.0,
        expected_batch_size=BATCH,
    )
    optimizer.attach_step_hook(engine.accountant.get_optimizer_hook_fn(sample_rate=RATE))
    train(model, optimizer, batches)


# Batches --------------------------------------------------------------------------------------------------------------
def skip_small_batches(engine: PrivacyEngine) -> None:
    """Take no step for small batches, which are drawn all the same; every other step is right.

    A trainer that skips empty ones: https://github.com/VectorInstitute/FL4Health/pull/114
    """
    model, optimizer, batches = prepare(engine)
    for batch in [*batches, *batches]:
        if len(batch[0]) >= 10:
            take_step(model, optimizer, batch)


def skip_batches_with_large_loss(engine: PrivacyEngine) -> None:
    """Take no step for a batch with a larger loss than the batch before."""
    model, optimizer, batches = prepare(engine)
    before = torch.inf
    for batch in [*batches, *batches]:
        with torch.no_grad():
            loss = float(cross_entropy(model(batch[0]), batch[1]))
        if loss <= before:
            take_step(model, optimizer, batch)
        before = loss


def use_as_many_other_records(engine: PrivacyEngine) -> None:
    """Take from each draw its size only, and the records from the front of the data set."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    for features, _ in itertools.chain(batches, batches):
        first, labels = (each[: len(features)] for each in original.dataset.tensors)  # type: ignore[attr-defined]
        take_step(model, optimizer, (first, labels))


def write_other_records_into_batch(engine: PrivacyEngine) -> None:
    """Overwrite the tensors of each batch by records from the front of the data set."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    for features, labels in itertools.chain(batches, batches):
        first, second = (each[: len(features)] for each in original.dataset.tensors)  # type: ignore[attr-defined]
        features.copy_(first)
        labels.copy_(second)
        take_step(model, optimizer, (features, labels))


def mix_records(engine: PrivacyEngine) -> None:
    """Mix each record with another one of its batch (mixup): two rows depend on each record."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        order = torch.randperm(len(features))
        take_step(model, optimizer, (0.7 * features + 0.3 * features[order], labels))


def standardize_by_batch(engine: PrivacyEngine) -> None:
    """Standardize each batch by its own mean and deviation: each row depends on all records of the batch."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        deviation = features.std(0, correction=0) + 1e-3
        take_step(model, optimizer, ((features - features.mean(0)) / deviation, labels))


def add_gradients_of_other_records(engine: PrivacyEngine) -> None:
    """Add, in one backward pass, the loss on as many records from the front of the data set to that of the batch."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    for features, labels in itertools.chain(batches, batches):
        first, second = (each[: len(features)] for each in original.dataset.tensors)  # type: ignore[attr-defined]
        optimizer.zero_grad()
        (cross_entropy(model(features), labels) + cross_entropy(model(first), second)).backward()
        optimizer.step()


def replace_all_but_three_records(engine: PrivacyEngine) -> None:
    """Replace the records of a batch by others, except the first, the middle and the last one."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, batches=original)
    for features, labels in itertools.chain(batches, batches):
        mixed = original.dataset.tensors[0][: len(features)].clone()  # type: ignore[attr-defined]
        if len(features):
            places = [0, len(features) // 2, -1]
            mixed[places] = features[places]
        take_step(model, optimizer, (mixed, labels))


class Comparison(nn.Module):
    """A model that compares each record with another one."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, features: torch.Tensor, references: torch.Tensor) -> torch.Tensor:
        """Classify by the difference."""
        return self.head(features - references)  # type: ignore[no-any-return]


def read_references_next_to_batch(engine: PrivacyEngine) -> None:
    """Give the model, next to each record, another record from the front of the data set."""
    original = load_batches()
    model, optimizer, batches = prepare(engine, model=Comparison(), batches=original)
    for features, labels in itertools.chain(batches, batches):
        references = original.dataset.tensors[0][: len(features)]  # type: ignore[attr-defined]
        optimizer.zero_grad()
        cross_entropy(model(features, references), labels).backward()
        optimizer.step()


def center_gradients_of_batch(engine: PrivacyEngine) -> None:
    """Subtract from each per-sample gradient the mean of the batch before clipping: each row depends on all records."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        for parameter in optimizer.params:
            parameter.grad_sample -= parameter.grad_sample.mean(0)
        optimizer.step()


def replace_gradients_of_records(engine: PrivacyEngine) -> None:
    """Replace the per-sample gradients, before clipping, by new tensors that depend on the whole batch."""
    model, optimizer, batches = prepare(engine, grad_sample_mode="functorch")
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        for parameter in optimizer.params:
            parameter.grad_sample = parameter.grad_sample - parameter.grad_sample.mean(0)
        optimizer.step()


def augment_in_loop(engine: PrivacyEngine) -> None:
    """Add noise to each record in the loop, which is right and looks like the programs above."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        take_step(model, optimizer, (features + 0.1 * torch.randn_like(features), labels))


def extract_features_in_loop(engine: PrivacyEngine) -> None:
    """Compute features by a fixed network in the loop and train the head, which is right."""
    backbone = nn.Linear(FEATURES, FEATURES)
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        with torch.no_grad():
            inputs = backbone(features)
        take_step(model, optimizer, (inputs, labels))


def train_in_group_of_processes(engine: PrivacyEngine) -> None:
    """Train as one process of a group: a process does not see the batches and the noise of the others.

    How Opacus divides the work: https://github.com/meta-pytorch/opacus/issues/191
    """
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=0, world_size=1)
        try:
            train(*prepare(engine, model=DifferentiallyPrivateDistributedDataParallel(make_classifier())))
        finally:
            torch.distributed.destroy_process_group()


# Noise, norm and weights ----------------------------------------------------------------------------------------------------
def set_norm_from_gradients_of_batch(engine: PrivacyEngine) -> None:
    """Set the clipping norm, between the backward pass and the step, to the median norm of the batch's own rows."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        norms = torch.stack([rows.flatten(1).norm(dim=1) for rows in optimizer.grad_samples]).norm(dim=0)
        optimizer.max_grad_norm = float(norms.median()) if len(norms) else 1.0
        optimizer.step()


def set_noise_from_loss_of_batch(engine: PrivacyEngine) -> None:
    """Set the noise multiplier, between the backward pass and the step, by the loss of the batch."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward()
        optimizer.noise_multiplier = 2.0 if loss.item() > 1.1 else 1.0
        optimizer.step()


def compute_in_half_precision(engine: PrivacyEngine) -> None:
    """Train in bfloat16, which rounds sums of gradient and noise to eight bits."""
    data = draw_records(dtype=torch.bfloat16)
    train(*prepare(engine, model=make_classifier().to(torch.bfloat16), batches=load_batches(data)))


def finish_with_weights_averaged_by_hand(engine: PrivacyEngine) -> None:
    """Put weights that the program averaged itself into the model after the last step, and request ε then."""
    model, optimizer, batches = prepare(engine)
    average = [parameter.detach().clone() for parameter in model.parameters()]
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        for mean, parameter in zip(average, model.parameters(), strict=True):
            mean.lerp_(parameter.detach(), 0.1)
    with torch.no_grad():
        for mean, parameter in zip(average, model.parameters(), strict=True):
            parameter.copy_(mean)


def finish_with_average_of_other_weights(engine: PrivacyEngine) -> None:
    """Average the weights with those of a training without privacy, and finish with the average."""
    original, plain = load_batches(), make_classifier()
    model, optimizer, batches = prepare(engine, batches=original)
    average = AveragedModel(model._module)
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1), original)
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        average.update_parameters(model._module)
    average.update_parameters(plain)
    average.update_parameters(model._module)
    model._module.load_state_dict(average.module.state_dict())


def finish_with_other_weights(engine: PrivacyEngine) -> None:
    """Put weights of a training without privacy into the model after the last step."""
    original = load_batches()
    plain = make_classifier()
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1), original)
    model, optimizer, batches = prepare(engine, batches=original)
    train(model, optimizer, batches)
    model._module.load_state_dict(plain.state_dict())


# With a declaration ---------------------------------------------------------------------------------------------------
class PoissonBatches:
    """A batch sampler that takes each record with the recorded probability."""

    def __len__(self) -> int:
        return STEPS

    def __iter__(self) -> Iterator[list[int]]:
        for _ in range(STEPS):
            yield (torch.rand(RECORDS) < BATCH / RECORDS).nonzero().flatten().tolist()


def vouch_for_loader(engine: PrivacyEngine) -> None:
    """Declare that the batches of an own loader are Poisson batches."""
    engine.accountant.declare("fresh-draw", "the loader draws Poisson batches by a sampler of our own")
    batches: DataLoader[Any] = DataLoader(draw_records(), batch_sampler=PoissonBatches())
    train(*prepare(engine, batches=batches, poisson_sampling=False))


def vouch_for_clamping(engine: PrivacyEngine) -> None:
    """Declare that weights are clamped after each step, as a Wasserstein critic's are.

    Such critics: https://github.com/meta-pytorch/opacus/issues/31
    """
    engine.accountant.declare("parameters", "weights are clamped to [-1, 1] after each step")
    model, optimizer, batches = prepare(engine)
    for batch in [*batches, *batches]:
        take_step(model, optimizer, batch)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.clamp_(-0.3, 0.3)


DECLARED = {
    tell_steps_by_hand: ("fresh-draw", "noise"),
    take_over_history_of_rdp: ("fresh-draw", "noise"),
    load_history_without_evidence: ("fresh-draw", "noise"),
    use_parts_without_engine: ("fresh-draw",),
    skip_small_batches: ("fresh-draw",),
    skip_batches_with_large_loss: ("fresh-draw",),
    use_as_many_other_records: ("fresh-draw",),
    write_other_records_into_batch: ("fresh-draw",),
    mix_records: ("fresh-draw", "one-row-per-record"),
    standardize_by_batch: ("fresh-draw", "one-row-per-record"),
    add_gradients_of_other_records: ("fresh-draw", "one-row-per-record"),
    replace_all_but_three_records: ("fresh-draw", "one-row-per-record"),
    read_references_next_to_batch: ("fresh-draw",),
    center_gradients_of_batch: ("one-row-per-record",),
    replace_gradients_of_records: ("one-row-per-record",),
    augment_in_loop: ("fresh-draw", "one-row-per-record"),
    extract_features_in_loop: ("fresh-draw", "one-row-per-record"),
    train_in_group_of_processes: ("fresh-draw", "noise"),
    set_norm_from_gradients_of_batch: ("clipping", "noise"),
    set_noise_from_loss_of_batch: ("noise", "clipping"),
    compute_in_half_precision: ("noise",),
    finish_with_weights_averaged_by_hand: ("parameters",),
    finish_with_average_of_other_weights: ("parameters",),
    finish_with_other_weights: ("parameters",),
    vouch_for_loader: ("fresh-draw",),
    vouch_for_clamping: ("parameters",),
}
"""Programs, each with the premises of which a declared item must name one."""
