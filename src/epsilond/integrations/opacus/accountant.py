"""An accountant for Opacus whose ε is a certified upper end, and which may stop the training by a ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opacus.accountants import IAccountant
from opacus.accountants.registry import register_accountant

from epsilond.accountants.curve import Interval
from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.opacus.history import spec_from_opacus_history, step_of
from epsilond.integrations.opacus.pitfalls import Watch
from epsilond.questions.account import account

if TYPE_CHECKING:
    from epsilond.integrations.budget import LedgerBudget

MECHANISM = "epsilond"
_SAME_HISTORY = frozenset({MECHANISM, "rdp", "gdp", "prv"})
"""Accountants whose histories are triples of noise multiplier, sample rate and steps, with the same meaning."""

_step = lru_cache(maxsize=1024)(step_of)


class EpsilondAccountant(IAccountant):
    """An Opacus accountant: `register()` it, and say `PrivacyEngine(accountant="epsilond")`.

    Neighbours differ by one record more or less, batches are Poisson, as Opacus has it. What its history cannot say,
    that a loader is not Poisson, or that a mean divides by a number that depends on the data, it warns of.

    Guarantees: `get_epsilon` and `get_delta` are never below the truth of the history, all errors of the computation
    charged. With a budget, a step is committed in the ledger before the model moves.
    """

    def __init__(self) -> None:
        super().__init__()
        self._budget: LedgerBudget | None = None
        self._watch = Watch()
        self._known: tuple[tuple[Any, ...], PrivacyCurve] | None = None

    # Steps ------------------------------------------------------------------------------------------------------------
    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record a step that is about to be taken; where there is a budget, it is committed first.

        Raises:
            LedgerExhausted: the budget does not allow it; nothing is recorded.
            InvalidInput: a budget pays for steps with noise and a rate above 0 alone.
        """
        if self._budget is not None:
            self._budget.pay(_step(noise_multiplier, sample_rate))
        if self.history and tuple(self.history[-1][:2]) == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def would_exceed(self, *, noise_multiplier: float, sample_rate: float, steps: int = 1) -> bool:
        """Whether the budget would refuse so many more steps; never, without one."""
        return self._budget is not None and self._budget.would_exceed(_step(noise_multiplier, sample_rate), steps)

    def stop_by(self, budget: LedgerBudget | None) -> None:
        """Commit every step in this budget from now on, and stop where it is exhausted.

        The optimizer's `step` then raises `LedgerExhausted` before it moves the model, and forgets the gradients. It is
        meant for training in one process: where several train one model, each of them would pay for every step.
        """
        self._budget = budget

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What a `DPOptimizer` calls after it has added noise and before it moves the model."""

        def hook(optimizer: Any) -> None:
            batches = optimizer.accumulated_iterations
            self._watch.before_step(optimizer, sample_rate=sample_rate, batches=batches)
            try:
                self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate * batches)
            except EpsilondError:
                _forget(optimizer)
                raise

        return hook

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    # What is lost -----------------------------------------------------------------------------------------------------
    def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
        """The upper end of ε at δ; 0 before the first step, infinite where a step had no noise.

        Other arguments are those of Opacus' own accountants and mean nothing here.

        Raises:
            InvalidInput: δ is outside (0, 1), or a step is none that can be.
        """
        del args, kwargs
        return self.epsilon(delta=delta).upper

    def epsilon(self, *, delta: float) -> Interval:
        """Both ends of ε at δ.

        Raises:
            InvalidInput: δ is outside (0, 1), or a step is none that can be.
        """
        curve = self._curve()
        return curve if isinstance(curve, Interval) else curve.epsilon(delta=delta)

    def get_delta(self, epsilon: float) -> float:
        """The upper end of δ at ε.

        Raises:
            InvalidInput: ε is negative, or a step is none that can be.
        """
        curve = self._curve()
        if isinstance(curve, Interval):
            return 0.0 if curve.upper == 0.0 else 1.0
        return curve.delta(epsilon=epsilon).upper

    @property
    def spec(self) -> Spec:
        """What was run.

        Raises:
            InvalidInput: nothing was, or it is none that can be.
        """
        return spec_from_opacus_history(self.history)

    def _curve(self) -> PrivacyCurve | Interval:
        """The curve of the history; the ε itself where it is 0 or infinite at every δ."""
        taken = _taken(self.history)
        if not taken:
            return Interval(0.0, 0.0)
        if any(entry[0] == 0 for entry in taken):
            return Interval(math.inf, math.inf)
        if self._known is None or self._known[0] != taken:
            found = account(spec_from_opacus_history(taken), relation="add-or-remove-one")
            self._known = (taken, found.guarantee.curve)
        return self._known[1]

    # Checkpoints ------------------------------------------------------------------------------------------------------
    @classmethod
    def mechanism(cls) -> str:
        """The name that it is registered by."""
        return MECHANISM

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """The history of a checkpoint, also of Opacus' own accountants: theirs means the same.

        A budget stays as it is: what a ledger has committed it does not take back.

        Raises:
            ValueError: it is no state of an accountant.
            InvalidInput: an entry of the history is none that can be.
        """
        told = dict(state_dict or {})
        if told.get("mechanism") in _SAME_HISTORY:
            told["mechanism"] = MECHANISM
        history = [tuple(entry) for entry in told.get("history", ())]
        if taken := _taken(history):
            spec_from_opacus_history({"history": [(noise or 1.0, rate, steps) for noise, rate, steps in taken]})
        super().load_state_dict(told)
        self.history = history


def _taken(history: Iterable[Any]) -> tuple[tuple[Any, ...], ...]:
    """The entries of steps that read anything."""
    return tuple(tuple(entry) for entry in history if entry[1] != 0 and entry[2] != 0)


def register(*, force: bool = False) -> None:
    """Make `PrivacyEngine(accountant="epsilond")` possible; calling it again changes nothing.

    Raises:
        ValueError: another class has the name, and it is not forced.
    """
    from opacus.accountants.registry import _ACCOUNTANTS  # noqa: PLC0415  it has no other list of names

    if _ACCOUNTANTS.get(MECHANISM) is not EpsilondAccountant:
        register_accountant(MECHANISM, EpsilondAccountant, force=force)


def _forget(optimizer: Any) -> None:
    """Drop what a refused step has computed: nothing of it may be released."""
    for parameter in optimizer.params:
        parameter.grad = parameter.grad_sample = parameter.summed_grad = None
