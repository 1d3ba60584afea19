"""The ε of a run of jax_privacy, with the status that its observed functions support."""

from __future__ import annotations

from typing import Final

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.accountants.specs import Spec
from epsilond.integrations.jax_privacy.batches import BatchesState, ObservedBatches
from epsilond.integrations.jax_privacy.journal import Journal
from epsilond.integrations.jax_privacy.plans import PlannedSteps, PlanReading
from epsilond.integrations.jax_privacy.steps import ObservedSteps, StepsState
from epsilond.integrations.setting import StatedSetting
from epsilond.integrations.stated import Stated
from epsilond.questions.account import account
from epsilond.runs.evidence import Contradictable, Evidence
from epsilond.runs.premises import (
    CLIPPING,
    CORRELATION,
    DIVISOR,
    EVENT,
    FRESH_DRAW,
    NOISE,
    PARAMETERS,
    ROWS,
    SAME_PARTS,
)

PREMISES: Final = (FRESH_DRAW, ROWS, CLIPPING, NOISE, CORRELATION, DIVISOR, EVENT, SAME_PARTS, PARAMETERS)
"""Premises of the theorems that cover a plan: subsampled Gaussian noise, banded where the plan has a strategy."""
_BEHIND: Final = 6
"""Number of latest entries that wait while the program runs, so that it does not wait for the device."""


class AccountState(StepsState):
    """State of a `RunAccount`."""

    batches: BatchesState


class RunAccount(Stated):
    """The privacy account of a training run that uses the functions of an observed plan.

    It counts the updates with noise. If the correlated noise of several iterations is one release, the whole release
    counts from its first iteration on.
    """

    def __init__(
        self,
        reading: PlanReading,
        steps: ObservedSteps,
        journal: Journal,
        batches: ObservedBatches,
        evidence: Evidence,
        *,
        setting: StatedSetting,
    ) -> None:
        """Keep the parts of the account. The privacy curve is computed when it is first needed.

        Args:
            reading: the plan, and its noise and sampling as read from its parts.
            steps: checks of the recorded calls.
            journal: the recorded calls that were not checked yet.
            batches: the observed sampler.
            evidence: the conditions of the privacy theorem that were observed to hold or to fail.
            setting: neighbouring relation, protected unit and observer of the account.
        """
        self._reading = reading
        self._steps = steps
        self._journal = journal
        self._batches = batches
        self._evidence = evidence
        self._setting = setting
        self._curve: tuple[Spec, PrivacyCurve] | None = None

    @property
    def planned(self) -> PlannedSteps:
        """Mechanisms and iterations of the plan."""
        return self._reading.steps

    @property
    def steps(self) -> int:
        """Number of updates so far."""
        self.advance(wait=True)
        return self._steps.noise.updates

    @property
    def spec(self) -> Spec | None:
        """Composition of the updates so far; None before the first."""
        steps = self.steps
        return self._reading.steps.after(steps) if steps else None

    @property
    def evidence(self) -> Evidence:
        """A copy of the evidence, as it would be if the run ended here."""
        self.advance(wait=True)
        return self._steps.conclude()

    def advance(self, *, wait: bool = False) -> None:
        """Check the recorded calls that were not checked yet.

        Args:
            wait: whether to include calls that the device still computes. Otherwise the latest ones are left for later.
        """
        self._steps.process(self._journal.take(keep=0 if wait else _BEHIND))

    def require_consistent(self, budget: Contradictable | None = None) -> None:
        """Raise an error if the run so far was observed to differ from its recorded steps.

        Args:
            budget: object that is informed of contradictions from now on, unless the run has such an object already.

        Raises:
            RunDiffers: there is a contradiction. The error lists all of them.
        """
        self.advance()
        if budget is not None and self._evidence.budget is None:
            self._evidence.inform(budget)
        self._evidence.require_consistent()

    def state_dict(self) -> AccountState:
        """Return the account as JSON values, for a checkpoint next to the parameters and the noise state."""
        self.advance(wait=True)
        return {**self._steps.state_dict(), "batches": self._batches.state_dict()}

    def load_state_dict(self, state: AccountState) -> None:
        """Restore the account from a checkpoint, as `state_dict` returned it.

        The caller must then draw the batches again, from the first one and with the same seed. The account recognises
        those before the checkpoint.

        Args:
            state: value of `state_dict`, from an account of the same plan.

        Raises:
            InvalidInput: the state does not come from `state_dict`.
        """
        try:
            self._steps.load_state_dict(state)
            self._batches.load_state_dict(state["batches"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput.at("", "is not the account of a checkpoint") from None

    def _open_observations(self) -> tuple[Observation, ...]:
        """Return contradictions that would remain if the run ended now, but that later steps may resolve."""
        return self._steps.open_ends()

    def _find_curve(self) -> PrivacyCurve:
        """Return the privacy curve of the updates so far, computed again only if their spec has changed."""
        spec = self._reading.steps.after(self._steps.noise.updates)
        if self._curve is None or self._curve[0] != spec:
            self._curve = (spec, account(spec, **self._setting).guarantee.curve)
        return self._curve[1]
