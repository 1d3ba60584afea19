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
    """Interface of the run that observed optimizers belong to, with the parts that their checks need.

    Attributes:
        reporter: collector of the observations.
        generators: earlier states of the random generators, which show a reset.
        digests: checksums of the parameters, which show changes between recorded steps.
        saved: checksums of the weights at checkpoints, by which a resumed run is recognised.
    """

    reporter: Reporter
    generators: GeneratorWatches
    digests: Digests
    saved: SavedWeights

    def contradict_parts(self, kind: str, message: str) -> None:
        """Report that an object of the run, such as the accountant, was replaced, rewound or cleared.

        Args:
            kind: short name of the kind of observation, by which repetitions are counted together.
            message: the observation.
        """


class ObservedPart:
    """One private optimizer of a run, with the model and the loader that `make_private` returned with it.

    Attributes:
        run: the run that this optimizer belongs to.
        drawing: checks that each step uses one draw of the loader.
        settings: checks that noise, norm and hyperparameters do not change between forward pass and step.
        update: checks the step and the state of the original optimizer.
        noise: checks the noise of each step.
        sums: checks the sum of clipped gradients; None for optimizers that are not observed.
        parameters: checks that only recorded steps change the parameters and buffers of the model.
        averages: averages of the model that torch computed.
        pending: whether a step was recorded that the original optimizer has not taken yet.
        inside: whether the original optimizer is taking its step.
    """

    def __init__(
        self,
        run: PartOwner,
        optimizer: DPOptimizer,
        *,
        module: torch.nn.Module | None = None,
        loader: DataLoader | None = None,
    ) -> None:
        """Prepare the checks of an optimizer, and watch the forward passes of its model.

        The optimizer and the wrapped model are referred to weakly, so that this object does not keep them alive.

        Args:
            run: the run that the optimizer belongs to.
            optimizer: the private optimizer.
            module: the wrapped model; None if it is not known.
            loader: the loader that returns the batches; None if it is not known.
        """
        inner = inner_module(module)
        is_observed = type(optimizer) in clipping.OBSERVED
        self.run = run
        self.pending = self.inside = False

        self.drawing = DrawCheck(run.reporter, loader)
        self.settings = SettingsCheck(run.reporter)
        self.update = UpdateCheck(run.reporter)
        self.noise = NoiseCheck(run.reporter, run.generators)
        self.sums = SumCheck(run.reporter, optimizer, module) if is_observed else None
        owner = optimizer.original_optimizer if inner is None else inner
        self.parameters = ParameterCheck(run.digests, run.reporter, owner, _tensors_of(optimizer, inner))
        self.averages = Averages(self.parameters)

        self._optimizer = weakref.ref(optimizer)
        self._wrapper = weakref.ref(module) if module is not None else None
        self._original = weakref.ref(optimizer.original_optimizer)
        self._noisy_gradients: list[tuple[int, int]] | None = None  # marks of the gradients after the noise was added
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

        Nothing is checked if the optimizer no longer exists, or if the generator is not known. A reset of a generator
        that draws both the batches and the noise is reported for the noise.
        """
        optimizer = self.optimizer
        generator = self._sampler_generator()
        if optimizer is None or generator is None:
            return

        draws_noise_too = generator is generator_of(optimizer, optimizer.params)
        if draws_noise_too:
            premise, purpose = NOISE, "noise"
            reset = self.run.generators.observe(generator, "batches", "noise")
        else:
            premise, purpose = FRESH_DRAW, "batches"
            reset = self.run.generators.observe(generator, "batches")
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
        # Inside a transform of torch.func, the model has substitutes for its parameters.
        if peek_interpreter_stack() is None:
            self.parameters.see_forward()
        wrapper = self._wrapper() if self._wrapper is not None else None
        optimizer = self.optimizer
        computes_row_gradients = getattr(wrapper, "hooks_enabled", True)
        if optimizer is None or not computes_row_gradients:
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
        """Check one optimizer step, and return the conditions of the privacy theorem that were observed to hold.

        This method must be called after the noise was added, and before the original optimizer uses the gradients.

        Args:
            optimizer: the private optimizer.
            rate: sampling rate of one batch for which the privacy loss is computed.
            batches: number of batches that the step accumulates; Opacus divides the sum by it.

        Returns:
            The conditions. Empty if sums of this class of optimizers are not observed, such as adaptive clipping.
        """
        sums = self.sums
        if sums is None:
            self._report_unobserved_class(optimizer)
            return []
        parameters = optimizer.params
        divisor = divisor_of(optimizer, batches)
        # A generator that also draws the batches is checked before each draw instead, by `before_draw`.
        observe_generator = generator_of(optimizer, parameters) is not self._sampler_generator()
        # Every check runs and reports, even if an earlier one fails.
        results = {
            FRESH_DRAW: self.drawing.check_draw(sums.rows, rate),
            ROWS: self.drawing.check_rows(sums.rows),
            CLIPPING: sums.check_clipping(optimizer, parameters),
            DIVISOR: sums.check_divisor(divisor),
            NOISE: self.noise.check_noise(
                optimizer, parameters, divisor=divisor.number, observe_generator=observe_generator
            ),
            SAME_PARTS: self._check_original(optimizer),
            PARAMETERS: self._check_parameters(optimizer),
        }
        sums.restart()
        changed = self.settings.compare(optimizer)
        self._noisy_gradients = gradient_marks(parameters)
        return [premise for premise, holds in results.items() if holds and premise not in changed]

    def _report_unobserved_class(self, optimizer: DPOptimizer) -> None:
        """Report why steps of an optimizer's class are not certified.

        No theorem covers adaptive clipping. Steps of other classes are not checked, so the caller must ensure that
        they clip the gradients.

        Args:
            optimizer: the private optimizer.
        """
        reporter = self.run.reporter
        if isinstance(optimizer, clipping.ADAPTIVE):
            reporter.contradict(
                CLIPPING,
                "adaptive",
                "adaptive clipping chooses the norm by a count of unclipped gradients that its noise does not cover",
                remedy='Use clipping="flat" or clipping="per_layer".',
            )
        else:
            reporter.rest_on_caller(CLIPPING, f"steps of {type(optimizer).__name__} are not observed")

    def _check_original(self, optimizer: DPOptimizer) -> bool:
        """Check that a private optimizer still wraps its original optimizer, and report it if it does not.

        The original optimizer changes the parameters by the noisy gradients. Another one could use other gradients.

        Args:
            optimizer: the private optimizer.

        Returns:
            True if it wraps the original one.
        """
        if optimizer.original_optimizer is self.original:
            return True
        self.run.contradict_parts("original", "the original optimizer of the private one was replaced")
        return False

    def _check_parameters(self, optimizer: DPOptimizer) -> bool:
        """Check that only recorded steps changed the parameters, and that the next update is observed.

        Args:
            optimizer: the private optimizer.

        Returns:
            True if no deviation was found. Deviations are reported.
        """
        updated = self.update.check_update(optimizer.original_optimizer)
        return self.parameters.check_step() and self._continues_checkpoint() and updated

    def _continues_checkpoint(self) -> bool:
        """Check that the first step of a resumed run starts from the weights of the checkpoint.

        Returns:
            False if a difference was found, which is reported. True for later steps, and for a run that was not
            resumed.
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
        """Check the gradients that the original optimizer is about to use."""
        self.pending, self.inside = False, True
        self._check_noisy_gradients()

    def _check_noisy_gradients(self) -> None:
        """Check that the gradients were not changed since the noise was added to them, and report it if they were.

        Each gradient has a mark, which changes with every write. The marks were stored after the noise was added.
        """
        optimizer = self.optimizer
        if self._noisy_gradients is None or optimizer is None:
            return
        if gradient_marks(optimizer.params) != self._noisy_gradients:
            self.run.reporter.contradict(
                NOISE,
                "gradients",
                "the gradients were changed after the noise was added to them",
                remedy="Leave the gradients as the private optimizer computed them.",
            )

    def after_original(self) -> None:
        """Check the gradients again, and store the parameters as those after a recorded step."""
        self.inside = False
        self._check_noisy_gradients()
        self._noisy_gradients = None
        self.parameters.record()

    def see_foreign_step(self, stepping: torch.optim.Optimizer) -> None:
        """Report that an optimizer is about to change the model's parameters by a step that was not recorded.

        Args:
            stepping: the optimizer that is about to take the step.
        """
        optimizer = self.optimizer
        is_original = stepping is self.original
        lacks_hook = optimizer is not None and not hasattr(optimizer.step_hook, "epsilond_accountant")
        # Without its hook, the private optimizer records no steps, which explains the step.
        if is_original and lacks_hook:
            self.run.contradict_parts("hook", "the accountant's hook of the private optimizer was replaced")
            return
        name = "the original optimizer" if is_original else f"another optimizer ({type(stepping).__name__})"
        message = f"{name} took a step that is not recorded"
        self.run.reporter.contradict(PARAMETERS, name, message, remedy=REMEDY)

    # Conclusions ------------------------------------------------------------------------------------------------------
    def is_settled(self) -> bool:
        """Return whether the parameters have values that the accounted optimizer steps explain.

        These are the values after such a step, or averages of them. Before the first step, they are the initial values
        or, in a resumed run, the weights of the checkpoint.

        Returns:
            True if the parameters have such values, or while a step is under way.
        """
        if self.pending:
            return True
        saved = self.run.saved
        awaits_first_step = saved.waiting > 0 and not self.parameters.is_trained()  # in a resumed run
        # `compare` returns None for the weights of the checkpoint, and otherwise a reason.
        if awaits_first_step and saved.compare(self.parameters.trained_tensors()) is not None:
            return False
        return self.parameters.is_settled()

    def flush(self) -> None:
        """Run the statistical tests that wait for more data, and report parameters that were added or replaced."""
        if self.parameters.has_other_tensors():
            self.parameters.report("to other tensors after make_private")
        self.drawing.flush()
        self.noise.flush()


class ForwardHook:
    """A forward hook of torch that reports the forward passes of one model in training mode.

    torch copies the hooks of a model with the model. The copy of this hook has no effect.

    Args:
        part: the model with its private optimizer; its `see_forward` is called. None for a hook without effect.
        module: the model.
    """

    def __init__(self, part: ObservedPart | None = None, module: torch.nn.Module | None = None) -> None:
        self._part = weakref.ref(part) if part is not None else None
        self._module = weakref.ref(module) if module is not None else None

    def __call__(self, module: torch.nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        """Report the inputs of a forward pass to the `ObservedPart`, if the model is in training mode."""
        part = self._part() if self._part is not None else None
        is_watched = self._module is not None and module is self._module()
        is_training = module.training and torch.is_grad_enabled()
        if part is not None and is_watched and is_training:
            part.see_forward([*args, *kwargs.values()])

    def __reduce__(self) -> tuple[type[ForwardHook], tuple[()]]:
        return ForwardHook, ()


def _tensors_of(optimizer: DPOptimizer, module: torch.nn.Module | None) -> list[torch.Tensor]:
    """Return the tensors that are watched for changes.

    Args:
        optimizer: the private optimizer.
        module: the model; None if it is not known.

    Returns:
        The parameters of the model, and its buffers of real numbers. Without a model, the parameters of the optimizer.
    """
    if isinstance(module, torch.nn.Module):
        return tensors_of(module)
    parameters: list[torch.Tensor] = []
    for group in optimizer.param_groups:
        parameters.extend(group["params"])
    return parameters
