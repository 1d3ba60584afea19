"""An accountant for Opacus that gives ε a status, and may stop the training by a ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from opacus.accountants import IAccountant
from opacus.accountants.registry import register_accountant

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.opacus.history import SETTING, spec_from_opacus_history, step_of
from epsilond.integrations.opacus.pitfalls import DenominatorWatch
from epsilond.integrations.opacus.watching.record import append
from epsilond.integrations.opacus.watching.run import ObservedRun
from epsilond.integrations.opacus.wrapping import install
from epsilond.integrations.stated import Stated
from epsilond.questions.account import account

if TYPE_CHECKING:
    from opacus.optimizers import DPOptimizer

    from epsilond.integrations.budget import LedgerBudget
    from epsilond.runs.evidence import Evidence

MECHANISM = "epsilond"
_step = lru_cache(maxsize=1024)(step_of)


class EpsilondAccountant(Stated, IAccountant):
    """An accountant for Opacus that bounds ε and observes whether the run fulfils the conditions of the bound.

    Call `register()` once, and use `PrivacyEngine(accountant="epsilond")`. Neighbouring data sets differ by one record
    more or less, and batches are Poisson batches. The model, optimizer and loader that `make_private` returns are
    observed in each step.

    Guarantees: `get_epsilon` and `get_delta` are upper bounds for the recorded history, with all errors of the
    computation. They raise `RunDiffers` if an observation contradicts the history. With a budget, each step is
    committed in a ledger before the model changes.

    Attributes:
        run: observations of the run's models and optimizers, and the evidence for the conditions.
        loadable: names of Opacus' mechanisms with checkpoints that can be loaded, as their histories have the same
            meaning.
    """

    loadable: ClassVar[frozenset[str]] = frozenset({MECHANISM, "rdp", "gdp", "prv"})

    def __init__(self) -> None:
        super().__init__()
        self._budget: LedgerBudget | None = None
        self.run = ObservedRun()
        self._evidence, self._setting = self.run.evidence, SETTING
        self._denominator_watch = DenominatorWatch()
        # The steps for which the privacy curve was computed last, and this curve.
        self._curve_of_steps: tuple[tuple[tuple[float, ...], ...], PrivacyCurve] | None = None

    # Steps ------------------------------------------------------------------------------------------------------------
    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record a training step that was not observed, after paying for it if there is a budget.

        Without a budget, values out of range are only rejected when ε is computed.

        Args:
            noise_multiplier: standard deviation of the noise divided by the clipping norm.
            sample_rate: probability of each record to be in the batch.

        Raises:
            LedgerExhausted: too little is left of the budget. The step is not recorded.
            RunDiffers: there is a budget, and the run was observed to differ from its recorded steps.
            InvalidInput: there is a budget, and the noise or the rate is out of range, for example 0.
        """
        self.run.compare_history(self.history, whole=False)
        self._pay(noise_multiplier, sample_rate)
        self.run.count_unobserved_step((noise_multiplier, sample_rate, 1))

    def _pay(self, noise_multiplier: float, sample_rate: float) -> None:
        """Pay for a step from the budget, if there is one, and write the step into the history.

        Args:
            noise_multiplier: standard deviation of the noise divided by the clipping norm.
            sample_rate: probability of each record to be in the batch.

        Raises:
            EpsilondError: the budget rejects the step, which is then not in the history.
        """
        if self._budget is not None:
            self._budget.pay(_step(noise_multiplier, sample_rate))
        append(self.history, (noise_multiplier, sample_rate, 1))

    def would_exceed(self, *, noise_multiplier: float, sample_rate: float, steps: int = 1) -> bool:
        """Return whether the budget would reject further steps; False without a budget.

        Args:
            noise_multiplier: noise multiplier of each step, above 0.
            sample_rate: sampling rate of each step, in (0, 1].
            steps: number of steps.

        Returns:
            True if the budget cannot pay for all these steps. Nothing is paid.

        Raises:
            InvalidInput: there is a budget, and the noise or the rate is out of range.
        """
        return self._budget is not None and self._budget.would_exceed(_step(noise_multiplier, sample_rate), steps)

    def stop_by(self, budget: LedgerBudget | None) -> None:
        """Pay for every step from a budget from now on.

        When the budget is exhausted, the optimizer's `step` raises `LedgerExhausted` before it changes the model, and
        drops the gradients. Train in one process only, because each process would pay for every step. A budget with a
        method `contradict` is also informed if an observation contradicts the recorded steps.

        Args:
            budget: the budget; None to pay for no further steps.
        """
        self._budget = budget
        informed_budget = budget if hasattr(budget, "contradict") else None
        self._evidence.inform(informed_budget)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[DPOptimizer], None]:
        """Return the function that a `DPOptimizer` calls in each step, after adding noise, before changing the model.

        Args:
            sample_rate: probability of each record to be in a batch.

        Returns:
            The function, which has this accountant as an attribute.
        """

        def hook(optimizer: DPOptimizer) -> None:
            """Observe a step of the optimizer, pay for it and record it."""
            self._process_step(optimizer, sample_rate)

        hook.epsilond_accountant = self  # type: ignore[attr-defined]
        return hook

    def _process_step(self, optimizer: DPOptimizer, sample_rate: float) -> None:
        """Observe a step, pay for it and record it, before the original optimizer changes the model.

        A step of several accumulated batches is recorded at the sum of their rates. If the budget rejects the step, the
        optimizer drops its gradients.

        Args:
            optimizer: the private optimizer, which has added the noise to its gradients.
            sample_rate: probability of each record to be in one batch.

        Raises:
            EpsilondError: the budget rejects the step, for example because it is exhausted.
        """
        # Observe which premises, the conditions of the privacy theorem, hold in this step.
        batches = optimizer.accumulated_iterations
        self._denominator_watch.before_step(optimizer, sample_rate=sample_rate)
        part = self.run.part_of(optimizer)
        premises = [] if part is None else part.observe_step(optimizer, rate=sample_rate, batches=batches)
        self.run.compare_history(self.history, whole=False)

        noise = optimizer.noise_multiplier
        rate = sample_rate * batches
        try:
            self._pay(noise, rate)
        except EpsilondError:
            _drop_gradients(optimizer)
            raise

        if part is None:
            # `make_private` did not return this optimizer. Nothing was observed, but `part_of` has added a part for it.
            part = self.run.parts[-1]
            self.run.count_unobserved_step((noise, rate, 1), part.drawing.explanation)
        else:
            self.run.count_step((noise, rate, 1), premises)
        part.pending = True

    def __len__(self) -> int:
        """Return the number of recorded steps."""
        return sum(steps for _, _, steps in self.history)

    # The status -------------------------------------------------------------------------------------------------------
    def _summarize(self) -> Evidence:
        """Return the evidence as if the run ended now, after comparing the history with the observed steps."""
        return self.run.conclusion(self.history)

    # Figures ----------------------------------------------------------------------------------------------------------
    def get_epsilon(self, delta: float, *args: object, **kwargs: object) -> float:
        """Return an upper bound on ε at δ. It is 0 before the first step, and infinite if a step had no noise.

        Other arguments of Opacus' own accountants are accepted and have no effect.

        Args:
            delta: δ of the account, between 0 and 1, exclusive.
            *args: not used.
            **kwargs: not used.

        Returns:
            The upper bound, in nats.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
            InvalidInput: δ is outside (0, 1), or the history has an impossible step.
        """
        del args, kwargs
        return self.epsilon(delta=delta).upper

    def epsilon(self, *, delta: float) -> Interval:
        """Return a lower and an upper bound on ε at δ.

        Args:
            delta: δ of the account, between 0 and 1, exclusive.

        Returns:
            The interval from a lower to an upper bound on ε [nat].

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
            InvalidInput: δ is outside (0, 1), or the history has an impossible step.
        """
        self._conclude()
        return self._enclose_epsilon(delta)

    def get_delta(self, epsilon: float) -> float:
        """Return an upper bound on δ at ε. It is 0 before the first step, and 1 if a step had no noise.

        Args:
            epsilon: ε [nat], at least 0.

        Returns:
            The upper bound, from 0 to 1.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
            InvalidInput: ε is negative, or the history has an impossible step.
        """
        if not self._lacks_noise():
            return super().get_delta(epsilon)
        self._conclude()
        return 1.0

    def _enclose_epsilon(self, delta: float) -> Interval:
        """Return proved bounds on ε [nat] at δ. Both are ∞ if a step had no noise, and 0 before the first step.

        Args:
            delta: δ of the account, between 0 and 1, exclusive.
        """
        if self._lacks_noise():
            return Interval(math.inf, math.inf)
        return super()._enclose_epsilon(delta)

    def _lacks_noise(self) -> bool:
        """Return whether a step that reads records had no noise."""
        return any(noise == 0 for noise, _, _ in _list_reading_steps(self.history))

    @property
    def spec(self) -> Spec:
        """Description of all recorded steps together, for privacy accounting.

        Raises:
            InvalidInput: the history is empty, or has values out of range.
        """
        return spec_from_opacus_history(self.history)

    def _find_curve(self) -> PrivacyCurve | None:
        """Return the privacy curve δ(ε) of all recorded steps that read records; None if there are none.

        The curve is kept, and computed again only if these steps have changed.
        """
        steps = _list_reading_steps(self.history)
        if not steps:
            return None
        if self._curve_of_steps is not None:
            steps_of_curve, computed_curve = self._curve_of_steps
            if steps_of_curve == steps:
                return computed_curve

        curve = account(spec_from_opacus_history(steps), **SETTING).guarantee.curve
        self._curve_of_steps = (steps, curve)
        return curve

    # Checkpoints ------------------------------------------------------------------------------------------------------
    @classmethod
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds the accountant."""
        return MECHANISM

    def state_dict(self, destination: MutableMapping[str, object] | None = None) -> MutableMapping[str, object]:
        """Return the state of the accountant for a checkpoint: its steps, and what was observed in the run.

        The steps are entries of `history`, as in Opacus. They are compared with the observed ones first.

        Args:
            destination: mapping to which the entries are added, and which is returned; None for a new one.
        """
        self.run.compare_history(self.history, whole=True)
        state: MutableMapping[str, object] = super().state_dict(destination)
        state["evidence"] = self.run.state_dict()
        return state

    def __reduce__(
        self,
    ) -> tuple[Callable[..., EpsilondAccountant], tuple[type[EpsilondAccountant], dict[str, object]]]:
        return _restore, (type(self), dict(self.state_dict()))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a checkpoint of this accountant or of one of Opacus' own accountants.

        A checkpoint of Opacus' own has no observations of the run. The status of the run is then `declared`: no
        observation supports the conditions of the ε. The budget is not changed, because a ledger does not revoke
        payments.

        Args:
            state_dict: value of `state_dict` of the accountant that wrote the checkpoint.

        Raises:
            ValueError: the mapping is not the state of an accountant, or is that of another mechanism.
            InvalidInput: the history has an impossible step, or the evidence is damaged.
        """
        state = dict(state_dict or {})
        evidence = state.pop("evidence", None)
        if state.get("mechanism") in self.loadable:
            state["mechanism"] = self.mechanism()
        history = [tuple(entry) for entry in state.get("history", ())]
        reading_steps = _list_reading_steps(history)
        if reading_steps:
            # Only check the entries. A noise of 0 is allowed: its ε is infinite, although no spec describes it.
            checked = [(noise or 1.0, rate, steps) for noise, rate, steps in reading_steps]
            spec_from_opacus_history({"history": checked})
        super().load_state_dict(state)
        self.history = history
        self.run.load_state_dict(evidence, history)


def _restore(kind: type[EpsilondAccountant], state: Mapping[str, object]) -> EpsilondAccountant:
    """Return a new accountant with a saved state, for `copy` and `pickle`. It observes no optimizer and has no budget.

    Args:
        kind: class of the accountant.
        state: value of `state_dict`.
    """
    accountant = kind()
    accountant.load_state_dict(state)
    return accountant


def _list_reading_steps(history: Iterable[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """Return the entries of steps that read records: neither the sampling rate nor the number of steps is 0.

    Args:
        history: triples of noise multiplier, sampling rate and number of steps.

    Returns:
        These triples, in the order of the history.
    """
    reading_steps = []
    for entry in history:
        sample_rate, steps = entry[1], entry[2]
        if sample_rate != 0 and steps != 0:
            reading_steps.append(tuple(entry))
    return tuple(reading_steps)


def register(*, force: bool = False) -> None:
    """Make `PrivacyEngine(accountant="epsilond")` possible, and observe its runs. A second call changes nothing.

    The class is added to Opacus' list of accountants. Opacus' methods that make a run private are wrapped, so that the
    run is observed.

    Args:
        force: whether to replace another class of the name `epsilond` in Opacus' list.

    Raises:
        ValueError: another class has the name, and `force` is false.
    """
    from opacus.accountants.registry import _ACCOUNTANTS  # noqa: PLC0415  it has no other list of names

    if _ACCOUNTANTS.get(MECHANISM) is not EpsilondAccountant:
        register_accountant(MECHANISM, EpsilondAccountant, force=force)
    install(EpsilondAccountant)


def _drop_gradients(optimizer: DPOptimizer) -> None:
    """Drop the gradients of a rejected step, so that nothing of them is released.

    Args:
        optimizer: the private optimizer. Its parameters lose their gradients and their sums of clipped gradients.
    """
    for parameter in optimizer.params:
        parameter.grad = parameter.grad_sample = parameter.summed_grad = None
