"""Programs with an update of the weights that is not observed: it may read more than the noisy gradients."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import torch
from opacus import PrivacyEngine
from torch.nn.functional import cross_entropy

from tests.integrations.opacus.opacus_parts import BATCH, make_classifier, prepare, take_step, train


# Steps of the program's own -------------------------------------------------------------------------------------------
class NoiselessDescent(torch.optim.SGD):
    """An optimizer that reads the clipped sum of Opacus before the noise."""

    @torch.no_grad()
    def step(self, _closure: Any = None) -> None:  # type: ignore[override]
        """Subtract the mean of the clipped gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.summed_grad / BATCH


def descend_without_noise(engine: PrivacyEngine) -> None:
    """Give `make_private` an optimizer that leaves out the noise."""
    model = make_classifier()
    train(*prepare(engine, model=model, optimizer=NoiselessDescent(model.parameters(), lr=0.1)))


def replace_step_of_optimizer(engine: PrivacyEngine) -> None:
    """Replace the method `step` of one optimizer of PyTorch by a function that leaves out the noise."""
    model = make_classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step = NoiselessDescent.step.__get__(optimizer)  # type: ignore[method-assign]
    train(*prepare(engine, model=model, optimizer=optimizer))


class Lookahead(torch.optim.Optimizer):
    """An optimizer around another one that moves back to slow weights at each third step."""

    def __init__(self, inner: torch.optim.Optimizer) -> None:
        self._inner = inner
        self._slow = [each.detach().clone() for group in inner.param_groups for each in group["params"]]
        self._steps = 0
        super().__init__([each for group in inner.param_groups for each in group["params"]], {})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Step, and average with the slow weights where it is time."""
        loss = self._inner.step(closure)
        self._steps += 1
        if self._steps % 3 == 0:
            for slow, parameter in zip(self._slow, self.param_groups[0]["params"], strict=True):
                parameter.copy_(slow.lerp_(parameter, 0.5))
        return loss


def use_optimizer_around_another(engine: PrivacyEngine) -> None:
    """Use an optimizer of the program's own that calls one of PyTorch, which is right and is not observed."""
    model = make_classifier()
    optimizer = Lookahead(torch.optim.SGD(model.parameters(), lr=0.1))
    train(*prepare(engine, model=model, optimizer=optimizer))


def change_weights_in_hook(engine: PrivacyEngine) -> None:
    """Add clipped gradients without noise to the weights in a hook after each step of the original optimizer."""
    model = make_classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.no_grad()
    def descend(stepping: Any, _arguments: Any, _keywords: Any) -> None:
        """Descend once more, without noise."""
        for parameter in stepping.param_groups[0]["params"]:
            parameter -= 0.1 * parameter.summed_grad / BATCH

    optimizer.register_step_post_hook(descend)
    train(*prepare(engine, model=model, optimizer=optimizer))


# State and settings ---------------------------------------------------------------------------------------------------
def add_records_to_momentum(engine: PrivacyEngine) -> None:
    """Add the mean of the batch to the momentum of the optimizer before each step."""
    model = make_classifier()
    inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    module, optimizer, batches = prepare(engine, model=model, optimizer=inner)
    for features, labels in itertools.chain(batches, batches):
        for state in optimizer.state.values():
            state["momentum_buffer"].add_(features.sum() / BATCH)
        take_step(module, optimizer, (features, labels))


def load_momentum_between_steps(engine: PrivacyEngine) -> None:
    """Set the state of the optimizer back to that of an earlier step, by its state dictionary."""
    model = make_classifier()
    inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    module, optimizer, batches = prepare(engine, model=model, optimizer=inner)
    train(module, optimizer, batches, epochs=1)
    earlier = copy.deepcopy(optimizer.state_dict())
    train(module, optimizer, batches, epochs=1)
    optimizer.load_state_dict(earlier)
    train(module, optimizer, batches, epochs=1)


def choose_direction_by_loss(engine: PrivacyEngine) -> None:
    """Turn the direction of the step, after the backward pass, where the loss of the batch is large."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        loss = cross_entropy(model(features), labels)
        loss.backward()
        optimizer.param_groups[0]["maximize"] = loss.item() > 1.1
        optimizer.step()


def set_decay_from_batch(engine: PrivacyEngine) -> None:
    """Set the weight decay, between the backward pass and the step, to a multiple of the sum of the batch."""
    model, optimizer, batches = prepare(engine)
    for features, labels in itertools.chain(batches, batches):
        optimizer.zero_grad()
        cross_entropy(model(features), labels).backward()
        optimizer.param_groups[0]["weight_decay"] = 0.01 * float(features.sum())
        optimizer.step()


DECLARED = {
    descend_without_noise: ("parameters",),
    replace_step_of_optimizer: ("parameters",),
    use_optimizer_around_another: ("parameters",),
    change_weights_in_hook: ("parameters",),
    add_records_to_momentum: ("parameters",),
    load_momentum_between_steps: ("parameters",),
    choose_direction_by_loss: ("parameters",),
    set_decay_from_batch: ("parameters",),
}
"""Programs, each with the premises of which a declared item must name one."""
