"""The steps of a run: each batch with its gradients and its update, and the premises that they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.errors import Observation
from epsilond.integrations.jax_privacy.added_noise import AddedNoise, NoiseState
from epsilond.integrations.jax_privacy.batches import ObservedBatches, SampledBatch
from epsilond.integrations.jax_privacy.journal import Entry, Facts
from epsilond.integrations.jax_privacy.optimizers import OptimizerStates
from epsilond.integrations.jax_privacy.parameters import ChangesState, ParameterChanges
from epsilond.integrations.jax_privacy.plans import PlanReading
from epsilond.integrations.jax_privacy.row_identity import RowIdentity
from epsilond.integrations.jax_privacy.waiting_gradients import WaitingGradients
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import CLIPPING, DIVISOR, FRESH_DRAW, NOISE, PARAMETERS, ROWS, SAME_PARTS, Premise

_MATCH: Final = 1e-4
"""Relative tolerance for equal sums of gradients, which may be rounded differently in single precision."""
_NORM: Final = 1e-2
"""Relative tolerance of the norm of a sum; half precision rounds the clipped gradients."""
_AHEAD: Final = 64
"""Number of next batches that are compared with an update; those before its own batch were skipped."""
_ROWS_REMEDY: Final = "Give the gradient function each record of the batch once; mark padding by is_padding_example."
_SUM_REMEDY: Final = "Give the noise transformation the result of the plan's gradient function as it is."


class StepsState(TypedDict):
    """State of an `ObservedSteps`, which checks the steps of a training run, as JSON values for a checkpoint.

    Attributes:
        evidence: state of the evidence.
        noise: state of the checks of the updates.
        changes: state of the checks of the parameters.
        optimizer: states of the optimizer that its next update may start from.
    """

    evidence: Mapping[str, object]
    noise: NoiseState
    changes: ChangesState
    optimizer: Sequence[Sequence[Sequence[float]]]


class ObservedSteps:
    """A check that a run uses each batch, its gradients and its noise as the privacy theorem assumes.

    The check reads the recorded calls in the order of the program. It matches each noise update with the batch and the
    gradients before it. The results are recorded in the evidence. Large arrays are compared at a sample of their
    coordinates only, the sampled coordinates.

    Attributes:
        noise: checks of the noise of the updates.
    """

    def __init__(self, reading: PlanReading, batches: ObservedBatches, evidence: Evidence) -> None:
        """Prepare the checks of a run, of which no call was recorded yet.

        Args:
            reading: the plan of the run, with the noise and the sampling that its parts have.
            batches: the observed sampler, with the batches that no update has used yet.
            evidence: record of the conditions that were observed to hold or to fail.
        """
        self.noise = AddedNoise(reading, evidence)
        self._reading = reading
        self._batches = batches
        self._evidence = evidence
        self._changes = ParameterChanges(evidence)
        self._optimizer = OptimizerStates(evidence)
        self._identity = RowIdentity()
        self._gradients = WaitingGradients()
        self._following_sizes: set[int] = set()
        self._aligned = True

    def process(self, entries: Iterable[Entry]) -> None:
        """Check further recorded calls of gradient function, noise and optimizer, in the order of the program.

        Args:
            entries: calls of the gradient function, the noise transformation and the optimizer.
        """
        for entry in entries:
            arrays = tuple(np.asarray(array) for array in entry.arrays)
            match entry.kind:
                case "gradient":
                    self._process_gradient(entry.facts, *arrays)
                case "noise":
                    self._process_update(entry.facts, *arrays)
                case "optimizer":
                    self._process_optimizer(*arrays)
                case "optimizer-init":
                    self._optimizer.observe_start(*arrays)
                case _:  # a first state of the noise
                    self.noise.observe_start(arrays[0])

    def _process_optimizer(
        self,
        gradient: NDArray[np.generic],
        step: NDArray[np.generic],
        parameters: NDArray[np.generic],
        *states: Any,
    ) -> None:
        """Check that an update of the optimizer used its last state and the latest noisy sum.

        Args:
            gradient: input of the update, at the sampled coordinates.
            step: its result.
            parameters: parameters of the model before the update.
            *states: identity and buffers of the optimizer's state before, and then after the update.
        """
        self._optimizer.observe_update(*states)
        self._changes.observe_optimizer(*(array.astype(np.float64) for array in (gradient, step, parameters)))

    # Gradients --------------------------------------------------------------------------------------------------------
    def _process_gradient(
        self,
        facts: Facts,
        parameters: NDArray[np.float32],
        value: NDArray[np.float32],
        losses: NDArray[np.floating],
        padding: NDArray[np.bool_],
        marks: NDArray[np.uint32],
    ) -> None:
        """Check one call of the gradient function, and store its gradients until noise is added to them.

        Args:
            facts: properties of the call that do not depend on its values, such as the clipping norm.
            parameters: parameters of the model, at the sampled coordinates.
            value: sum of the clipped gradients, at the sampled coordinates.
            losses: loss of each row.
            padding: whether each row is padding and not a record; empty if there is no padding.
            marks: fingerprint of each row, as two integers.
        """
        # A row with the loss 0 is not active, because it may be padding that the program did not mark.
        is_record = ~padding if padding.size else np.ones(len(losses), dtype=bool)
        is_active = is_record & (losses != 0.0)
        active = int(np.count_nonzero(is_active))
        fingerprints = np.ascontiguousarray(marks).view(np.uint64)[:, 0]
        clipped_sum = value.astype(np.float64)
        waiting = self._gradients
        waiting.record_rows.append(fingerprints[is_record])
        waiting.active_rows.append(fingerprints[is_active])
        waiting.records += int(np.count_nonzero(is_record))
        waiting.active += active
        waiting.add_sum(clipped_sum)

        is_finite = bool(np.all(np.isfinite(losses[is_record])) and np.all(np.isfinite(clipped_sum)))
        self._check_clipping(facts, clipped_sum, active, finite=is_finite)
        self._check_constants(facts)
        self._aligned = self._aligned and bool(facts["aligned"])
        self._changes.observe_parameters(
            parameters.astype(np.float64), aligned=self._aligned, precision=float(facts["precision"])
        )

    def _check_clipping(self, facts: Facts, clipped_sum: NDArray[np.float64], active: int, *, finite: bool) -> None:
        """Check that gradients were clipped to at most the planned norm, and report a contradiction.

        The norm of their sum may be at most their number times that norm. Non-finite gradients must be clipped too.

        Args:
            facts: properties of the call, with the norm to which it clips.
            clipped_sum: sum of the clipped gradients, at the sampled coordinates.
            active: number of rows with a loss other than 0.
            finite: whether all losses and sums are finite.
        """
        bound = float(facts["bound"])
        if bound > self._reading.norm_bound * (1.0 + _MATCH):
            message = (
                f"a gradient function clips to {bound:.6g}, and the noise is scaled to {self._reading.norm_bound:.6g}"
            )
            self._evidence.contradict(CLIPPING, message, remedy="Use the plan's clipped_grad for all gradients.")
        norm = float(np.linalg.norm(clipped_sum))
        largest_norm = active * bound * (1.0 + _NORM) + _MATCH * bound
        if not norm <= largest_norm:  # true for NaN too
            message = "the sum of the clipped gradients is larger than their number times the clipping norm"
            self._evidence.contradict(CLIPPING, message, remedy="Use the plan's clipped_grad for all gradients.")
        if not finite and not facts["nan_safe"]:
            message = "a gradient was not finite, and nan_safe=False does not clip it"
            self._evidence.contradict(CLIPPING, message, remedy="Leave nan_safe as it is, True.")

    def _check_constants(self, facts: Facts) -> None:
        """Check that arguments without a batch axis do not grow with the batch, and report an argument that does.

        An argument with as many rows as two batches of different sizes may contain all records of a batch. Then the
        gradient of one record depends on the others, and clipping does not bound the influence of one record.

        Args:
            facts: properties of a call of the gradient function.
        """
        if not facts["follows"]:
            self._following_sizes = set()
            return
        self._following_sizes.add(int(facts["rows"]))
        if len(self._following_sizes) > 1:
            message = "an argument outside batch_argnums has as many rows as the batch, so that it is not a constant"
            remedy = "Name each argument with a row for each record in batch_argnums."
            self._evidence.contradict(ROWS, message, remedy=remedy)

    # Updates ----------------------------------------------------------------------------------------------------------
    def _process_update(
        self,
        facts: Facts,
        sums: NDArray[np.float32],
        noisy: NDArray[np.float32],
        _parameters: NDArray[np.float32],
        before: NDArray[np.uint32],
        buffers_before: NDArray[np.float64],
        after: NDArray[np.uint32],
        buffers_after: NDArray[np.float64],
    ) -> None:
        """Check a noise update with the batch and the gradients before it, and count it as a step of the run.

        Args:
            facts: precision of the values, and the start of each array in a sample.
            sums: sum to which the noise was added, at the sampled coordinates.
            noisy: noisy sum, at the same coordinates.
            _parameters: not used.
            before: random keys and counters of the noise state before the update.
            buffers_before: some real numbers of that state.
            after: random keys and counters of the noise state after the update.
            buffers_after: some real numbers of that state.
        """
        noise_free_sum = sums.astype(np.float64)
        noise = noisy.astype(np.float64) - noise_free_sum
        rounding_error = float(facts["precision"]) * float(np.max(np.abs(noisy), initial=0.0))
        observed_premises = {ROWS, CLIPPING, DIVISOR}  # deviations from these are reported as contradictions
        observed_premises |= self._match_batch(noise_free_sum)
        self._match_sum(noise_free_sum)
        observed_premises |= self.noise.observe_update(noise, error=rounding_error, groups=facts["groups"])
        observed_premises |= self.noise.observe_states(before, after, (buffers_before, buffers_after))
        self._changes.observe_update(noise_free_sum, noise)
        self._gradients = WaitingGradients()
        self._evidence.count_step(observed_premises)

    def _match_batch(self, noise_free_sum: NDArray[np.float64]) -> set[Premise]:
        """Match the gradients of a noise update with the batch of the sampler from which they were computed.

        It is the first of the next `_AHEAD` batches that fits the number of gradients, of which some may be padding.
        Batches before it count as skipped. If no batch fits, this is reported and the next batch is dropped.

        Args:
            noise_free_sum: the sum to which the noise was added, at the sampled coordinates.

        Returns:
            `FRESH_DRAW` if the rows of the gradients are copies of the records in the batch; otherwise the empty set.
        """
        waiting = self._batches.waiting
        if not waiting:
            message = "an update used no batch of the plan's sampler"
            if self._batches.replays:
                message = "an update used a batch that was drawn before: the sampler's generator was reset"
            remedy = "Take each batch of one iterator of the plan's batch_selection_strategy, in order and once."
            self._evidence.contradict(FRESH_DRAW, message, remedy=remedy)
            return set()

        # If no waiting batch fits, drop the next one, so that later updates can match theirs.
        skipped = self._count_skipped(noise_free_sum)
        if skipped is None:
            waiting.popleft()
            message = "the rows of a step are not as many as the records of its batch"
            if self._gradients.total is None:
                message = "an update added noise to a value that is not a result of the plan's clipped_grad"
            self._evidence.contradict(ROWS, message, remedy=_ROWS_REMEDY)
            return set()

        # The theorem allows a batch that was drawn and not used, but only the caller knows that it was not used.
        for _ in range(skipped):
            waiting.popleft()
            self._evidence.rest_on_caller(FRESH_DRAW, "a batch was drawn and not used")
        return self._match_rows(waiting.popleft())

    def _count_skipped(self, noise_free_sum: NDArray[np.float64]) -> int | None:
        """Return the number of waiting batches before the first one that fits the gradients of an update.

        Args:
            noise_free_sum: the sum to which the noise was added, at the sampled coordinates.

        Returns:
            The number; None if no batch among the next `_AHEAD` ones fits.
        """
        for index, batch in enumerate(islice(self._batches.waiting, _AHEAD)):
            if self._gradients.fits(batch.size, noise_free_sum):
                return index
        return None

    def _match_rows(self, batch: SampledBatch) -> set[Premise]:
        """Check that the rows of the gradients are copies of the records that the batch names.

        Equal records must give equal rows each time, so that the fingerprint of a row identifies its record.

        Args:
            batch: the batch of the update.

        Returns:
            `FRESH_DRAW` if they are. The empty set if rows are changed copies, for which the caller must then vouch.
        """
        gradients = self._gradients
        # If there are more rows than records, rows without a loss are padding that the program did not mark.
        rows = gradients.record_rows if gradients.records == batch.size else gradients.active_rows
        no_rows = np.zeros(0, np.uint64)  # without gradients, there is no array to concatenate
        are_copies = self._identity.observe(batch.rows, np.concatenate([no_rows, *rows]))
        if self._identity.alarm is not None:
            remedy = "Select the rows of the data by the indices of the batch."
            self._evidence.contradict(FRESH_DRAW, self._identity.alarm, remedy=remedy)
        if not are_copies:
            reason = "the rows are not copies of the records that were drawn, by augmentation or by another loader"
            self._evidence.rest_on_caller(FRESH_DRAW, reason)
            return set()
        return {FRESH_DRAW}

    def _match_sum(self, noise_free_sum: NDArray[np.float64]) -> None:
        """Check that noise was added to the sum of the clipped gradients, up to rounding; otherwise report it.

        Args:
            noise_free_sum: the sum to which the noise was added, at the sampled coordinates.
        """
        expected = self._gradients.total
        if expected is None:
            return
        message = "the value that noise was added to is not the sum of the clipped gradients"
        if noise_free_sum.shape == expected.shape:
            # The tolerance grows with the sum of absolute values, as rounding errors do.
            sizes = self._gradients.absolute_total
            tolerance = _MATCH * (sizes + sizes.max(initial=0.0))
            if np.all(np.abs(noise_free_sum - expected) <= tolerance):
                return

            # The factor between the value and the expected sum is a hint at the mistake.
            squared_norm = float(expected @ expected)
            if squared_norm > 0.0:
                factor = float(noise_free_sum @ expected) / squared_norm
                message += f" (about {factor:.3g} times it)"
        self._evidence.contradict(CLIPPING, message, remedy=_SUM_REMEDY)

    # Conclusions ------------------------------------------------------------------------------------------------------
    def conclude(self) -> Evidence:
        """Return a copy of the evidence as if the run ended now.

        The parameters count as observed for updates after the last gradient, because no later gradient can contradict
        them.
        """
        concluded = self._evidence.copy()
        concluded.show({PARAMETERS}, count=self._changes.waiting)
        return concluded

    def open_ends(self) -> tuple[Observation, ...]:
        """Return the observations that contradict the record of the run if it ends now.

        Later updates with noise can remove the contradiction.

        Returns:
            At most one observation: of a run without any noise update, or of gradients without noise.
        """
        if not self.noise.updates:
            message = "no update of the plan's noise was seen"
            remedy = "Use the functions of the observed plan, not those of the plan that it was made of."
            return (Observation(SAME_PARTS.id, message, remedy=remedy),)

        # The gradients of the next batch may still get noise, but not those of further batches.
        batches = self._batches.waiting
        next_size = batches[0].size if batches else 0
        if self._gradients.active > next_size:
            message = "gradients of more than one batch have got no noise"
            remedy = "Update the noise once for each batch, by the observed plan's noise_addition_transform."
            return (Observation(NOISE.id, message, remedy=remedy),)
        return ()

    def state_dict(self) -> StepsState:
        """Return the evidence and the updates so far as JSON values."""
        return {
            "evidence": self._evidence.state_dict(),
            "noise": self.noise.state_dict(),
            "changes": self._changes.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def load_state_dict(self, state: StepsState) -> None:
        """Continue after a checkpoint, with the evidence and the updates that it has stored.

        Args:
            state: value of `state_dict`.
        """
        self._evidence.load_state_dict(state["evidence"])
        self.noise.load_state_dict(state["noise"])
        self._changes.load_state_dict(state["changes"])
        self._optimizer.load_state_dict(state["optimizer"])
