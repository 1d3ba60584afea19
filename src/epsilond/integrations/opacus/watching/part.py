"""One optimizer of a run with its model and loader, and the observations of its steps."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol

import torch
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from torch._C._functorch import peek_interpreter_stack

from epsilond.integrations.opacus.watching import clipping
from epsilond.integrations.opacus.watching.averages import Averages, inner_module
from epsilond.integrations.opacus.watching.draw_check import DrawCheck
from epsilond.integrations.opacus.watching.noise_check import SEED_REMEDY, NoiseCheck, generator_of
from epsilond.integrations.opacus.watching.parameters import REMEDY, ParameterCheck, tensors_of
from epsilond.integrations.opacus.watching.rows import has_rows
from epsilond.integrations.opacus.watching.saved_weights import DIFFERENT, DIFFERENT_REMEDY
from epsilond.integrations.opacus.watching.settings import SettingsCheck, UpdateCheck
from epsilond.integrations.opacus.watching.sum_check import SumCheck, divisor_of, gradient_marks
from epsilond.runs.premises import CLIPPING, DIVISOR, FRESH_DRAW, NOISE, PARAMETERS, ROWS, SAME_PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch.utils.data import DataLoader

    from epsilond.integrations.opacus.watching.generators import GeneratorWatches
    from epsilond.integrations.opacus.watching.parameters import Digests
    from epsilond.integrations.opacus.watching.reporting import Reporter
    from epsilond.integrations.opacus.watching.saved_weights import SavedWeights
    from epsilond.runs.premises import Premise


class PartOwner(Protocol):
    """The run that a part belongs to: `run.ObservedRun`.

    Attributes:
        reporter: passes observations to the evidence.
        generators: states of the random generators.
        digests: digests of the parameters.
        saved: weights at checkpoints.
    """

    reporter: Reporter
    generators: GeneratorWatches
    digests: Digests
    saved: SavedWeights

    def contradict_parts(self, kind: str, message: str) -> None:
        """Report that a part of the run was replaced, rewound or cleared."""


class ObservedPart:
    """One private optimizer of a run, with the model and the loader that `make_private` returned with it.

    Attributes:
        run: the run that this optimizer belongs to.
        drawing: follows the draws of the loader.
        settings: compares noise, norm and hyperparameters with those at the first forward pass.
        update: looks at the step and the state of the original optimizer.
        sums: follows the sum of gradients; None for optimizers that are not observed.
        parameters: compares the parameters and buffers of the model.
        averages: averages of the model that torch computed.
        pending: whether a recorded step waits for the original optimizer.
        inside: whether the original optimizer is in its step.
    """

    def __init__(
        self,
        run: PartOwner,
        optimizer: DPOptimizer,
        *,
        module: torch.nn.Module | None = None,
        loader: DataLoader | None = None,
    ) -> None:
        inner = inner_module(module)
        self.run = run
        self.pending = self.inside = False
        self.observed = type(optimizer) in clipping.OBSERVED
        self.drawing = DrawCheck(run.reporter, loader)
        self.settings = SettingsCheck(run.reporter)
        self.update = UpdateCheck(run.reporter)
        self.noise = NoiseCheck(run.reporter, run.generators)
        self.sums = SumCheck(run.reporter, optimizer, module) if self.observed else None
        owner = optimizer.original_optimizer if inner is None else inner
        self.parameters = ParameterCheck(run.digests, run.reporter, owner, _tensors_of(optimizer, inner))
        self.averages = Averages(self.parameters)
        self._optimizer = weakref.ref(optimizer)
        self._wrapper = weakref.ref(module) if module is not None else None
        self._original = weakref.ref(optimizer.original_optimizer)
        self._grads: list[tuple[int, int]] | None = None
        if isinstance(inner, torch.nn.Module):
            inner.register_forward_pre_hook(ForwardHook(self, inner), with_kwargs=True)

    @property
    def optimizer(self) -> DPOptimizer | None:
        """The private optimizer; None if it is gone."""
        return self._optimizer()

    @property
    def original(self) -> torch.optim.Optimizer | None:
        """The optimizer that the private one wraps; None if it is gone."""
        return self._original()

    # Draws and forward passes -----------------------------------------------------------------------------------------
    def before_draw(self) -> None:
        """Check before each draw that the sampler's random generator was not reset, and report a reset.

        Nothing is checked if the optimizer no longer exists, or if the generator is not known.
        """
        optimizer = self.optimizer
        generator = self._sampler_generator()
        if optimizer is None or generator is None:
            return
        generators = self.run.generators
        if generator is generator_of(optimizer, optimizer.params):  # it draws the noise too
            reset = generators.observe(generator, "batches", "noise")
            premise = NOISE
            purpose = "noise"
        else:
            reset = generators.observe(generator, "batches")
            premise = FRESH_DRAW
            purpose = "batches"
        if reset is not None:
            message = f"the random generator of the {purpose} {reset}"
            self.run.reporter.contradict(premise, "reset", message, remedy=SEED_REMEDY)

    def after_draw(self) -> None:
        """Note that the sampler has drawn."""
        generator = self._sampler_generator()
        if generator is not None:
            self.run.generators.note_draw(generator)

    def see_forward(self, inputs: list[object]) -> None:
        """Check the parameters, the settings and the inputs at a forward pass in training mode.

        Args:
            inputs: arguments of the model.
        """
        if peek_interpreter_stack() is None:  # no transform of torch.func runs, which has other parameters
            self.parameters.see_forward()
        wrapper = self._wrapper() if self._wrapper is not None else None
        optimizer = self.optimizer
        if optimizer is None or not getattr(wrapper, "hooks_enabled", True):  # no rows come of this pass
            return
        self.settings.see_forward(optimizer)
        ghost = isinstance(optimizer, DPOptimizerFastGradientClipping)
        self.drawing.see_forward(inputs, starts_rows=lambda: not has_rows(optimizer.params, ghost=ghost))

    def _sampler_generator(self) -> torch.Generator | None:
        """Return the generator of the sampler; None if the sampler or its generator is not observed."""
        draws = self.drawing.draws
        if draws is None:
            return None
        generator = draws.sampler.generator
        if generator is None:
            return torch.default_generator
        return generator if isinstance(generator, torch.Generator) else None

    # Steps ------------------------------------------------------------------------------------------------------------
    def observe_step(self, optimizer: DPOptimizer, *, rate: float, batches: int) -> list[Premise]:
        """Check one optimizer step, after the noise was added and before the original optimizer uses the gradients.

        Args:
            optimizer: the private optimizer.
            rate: recorded sampling rate of one batch.
            batches: number of batches whose gradients the step accumulates, by which Opacus divides the sum.

        Returns:
            The premises (conditions of the privacy theorem) that were observed to hold for this step.
        """
        if self.sums is None:
            return self._report_kind(optimizer)
        sums, parameters, divisor = self.sums, optimizer.params, divisor_of(optimizer, batches)
        separate = generator_of(optimizer, parameters) is not self._sampler_generator()
        checks = (
            (FRESH_DRAW, self.drawing.shows_draw(sums.rows, rate)),
            (ROWS, self.drawing.shows_rows(sums.rows)),
            (CLIPPING, sums.shows_clipping(optimizer, parameters)),
            (DIVISOR, sums.shows_divisor(divisor)),
            (
                NOISE,
                self.noise.shows_noise(optimizer, parameters, divisor=divisor[1], observe_generator=separate),
            ),
            (SAME_PARTS, self._shows_original(optimizer)),
            (PARAMETERS, self._shows_parameters(optimizer)),
        )
        sums.restart()
        changed = self.settings.compare(optimizer)
        self._grads = gradient_marks(parameters)
        return [premise for premise, shown in checks if shown and premise not in changed]

    def _report_kind(self, optimizer: DPOptimizer) -> list[Premise]:
        report = self.run.reporter
        if isinstance(optimizer, clipping.ADAPTIVE):
            report.contradict(
                CLIPPING,
                "adaptive",
                "adaptive clipping chooses the norm by a count of unclipped gradients that its noise does not cover",
                remedy='Use clipping="flat" or clipping="per_layer".',
            )
        else:
            report.rest_on_caller(CLIPPING, f"steps of {type(optimizer).__name__} are not observed")
        return []

    def _shows_original(self, optimizer: DPOptimizer) -> bool:
        if optimizer.original_optimizer is self.original:
            return True
        self.run.contradict_parts("original", "the original optimizer of the private one was replaced")
        return False

    def _shows_parameters(self, optimizer: DPOptimizer) -> bool:
        """Return whether the parameters and their update are those of recorded steps."""
        updated = self.update.shows_update(optimizer.original_optimizer)
        return self.parameters.shows_step() and self._continues_checkpoint() and updated

    def _continues_checkpoint(self) -> bool:
        """Return whether the first step of a resumed run starts from the weights of the checkpoint.

        A difference is reported. For later steps, and for a run that was not resumed, the result is True.
        """
        saved = self.run.saved
        if self.parameters.is_trained() or not saved.waiting:
            return True
        difference = saved.compare(self.parameters.trained_tensors())
        saved.take_step()
        if difference == DIFFERENT:
            self.run.reporter.contradict(PARAMETERS, "checkpoint", difference, remedy=DIFFERENT_REMEDY)
        elif difference is not None:
            self.run.reporter.rest_on_caller(PARAMETERS, difference)
        return difference is None

    # The step of the original optimizer -------------------------------------------------------------------------------
    def before_original(self) -> None:
        """Compare the gradients that the original optimizer uses with those that the noise was added to."""
        self.pending, self.inside = False, True
        self._compare_gradients()

    def _compare_gradients(self) -> None:
        optimizer, grads = self.optimizer, self._grads
        if grads is not None and optimizer is not None and grads != gradient_marks(optimizer.params):
            self.run.reporter.contradict(
                NOISE,
                "gradients",
                "the gradients were changed after the noise was added to them",
                remedy="Leave the gradients as the private optimizer computed them.",
            )

    def after_original(self) -> None:
        """Take the parameters as those after a recorded step."""
        self.inside = False
        self._compare_gradients()
        self._grads = None
        self.parameters.record()

    def see_foreign_step(self, stepping: torch.optim.Optimizer) -> None:
        """Report a step of an optimizer that changes these parameters and was not recorded by the accountant.

        Args:
            stepping: the optimizer that is about to take the step.
        """
        optimizer = self.optimizer
        own = stepping is self.original
        hook = getattr(optimizer, "step_hook", None)
        if own and optimizer is not None and not hasattr(hook, "epsilond_accountant"):
            self.run.contradict_parts("hook", "the accountant's hook of the private optimizer was replaced")
            return
        name = "the original optimizer" if own else f"another optimizer ({type(stepping).__name__})"
        message = f"{name} took a step that is not recorded"
        self.run.reporter.contradict(PARAMETERS, name, message, remedy=REMEDY)

    # Conclusions ------------------------------------------------------------------------------------------------------
    def is_settled(self) -> bool:
        """Return whether the parameters are those after the last recorded step."""
        if self.pending:
            return True
        waits = self.run.saved.waiting and not self.parameters.is_trained()
        if waits and self.run.saved.compare(self.parameters.trained_tensors()) is not None:
            return False
        return self.parameters.is_settled()

    def flush(self) -> None:
        """Run the tests that wait."""
        if self.parameters.has_other_tensors():
            self.parameters.report("to other tensors after make_private")
        self.drawing.flush()
        self.noise.flush()


class ForwardHook:
    """A forward hook of torch that reports forward passes of one model. A copy of the model gets a hook without effect.

    Args:
        part: takes the reports; None for a hook without effect.
        module: the model.
    """

    def __init__(self, part: ObservedPart | None = None, module: torch.nn.Module | None = None) -> None:
        self._part = weakref.ref(part) if part is not None else None
        self._module = weakref.ref(module) if module is not None else None

    def __call__(self, module: torch.nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        """Show the part the inputs of a forward pass in training mode."""
        part = self._part() if self._part is not None else None
        watched = self._module is not None and module is self._module()
        if part is not None and watched and module.training and torch.is_grad_enabled():
            part.see_forward([*args, *kwargs.values()])

    def __reduce__(self) -> tuple[type[ForwardHook], tuple[()]]:
        return ForwardHook, ()


def _tensors_of(optimizer: DPOptimizer, module: torch.nn.Module | None) -> list[torch.Tensor]:
    """Return the tensors with recorded changes: all of the model, or those of the optimizer."""
    if isinstance(module, torch.nn.Module):
        return tensors_of(module)
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
