"""The observed run of an accountant of Opacus: its optimizers and models, its record, and the evidence for its ε."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypedDict

from epsilond.integrations.opacus.watching import watch
from epsilond.integrations.opacus.watching.draws import record_draws
from epsilond.integrations.opacus.watching.generators import GeneratorWatches
from epsilond.integrations.opacus.watching.parameters import Digests
from epsilond.integrations.opacus.watching.part import ObservedPart
from epsilond.integrations.opacus.watching.record import Entry, append, as_entry, extends
from epsilond.integrations.opacus.watching.reporting import Reporter
from epsilond.integrations.opacus.watching.saved_weights import SavedWeights
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import (
    CLIPPING,
    DIVISOR,
    FRESH_DRAW,
    NOISE,
    OUTSIDE_RECORDS,
    PARAMETERS,
    ROWS,
    SAME_PARTS,
    Premise,
)
from epsilond.runs.premises import (
    PREMISES as PREMISES_BY_ID,
)

if TYPE_CHECKING:
    import torch
    from opacus.optimizers import DPOptimizer
    from torch.utils.data import DataLoader

    from epsilond.integrations.opacus.watching.generators import GeneratorState
    from epsilond.integrations.opacus.watching.saved_weights import WeightsState

PREMISES: Final = (FRESH_DRAW, ROWS, CLIPPING, NOISE, DIVISOR, SAME_PARTS, PARAMETERS)
"""Conditions of the privacy theorem on the subsampled Gaussian mechanism, as Opacus computes this mechanism."""

_POISSON_REMEDY: Final = (
    "Leave poisson_sampling=True and loop over the loader that make_private returns, "
    'or declare("fresh-draw", …) before make_private if the batches of your loader are Poisson batches.'
)


class RunState(TypedDict):
    """State of an `ObservedRun`, as JSON values."""

    evidence: Mapping[str, object]
    record: Sequence[list[Any]]
    generators: Sequence[GeneratorState]
    weights: WeightsState


class ObservedRun:
    """The optimizers, models and loaders of one accountant, and the observations of their steps.

    Attributes:
        evidence: record of the conditions that were observed, contradicted or vouched for.
        reporter: passes observations to the evidence.
        generators: states of the random generators.
        digests: digests of the parameters.
        saved: digests of the weights at checkpoints.
        parts: one entry for each private optimizer.
        record: the steps that were counted, as entries of noise multiplier, sampling rate and number of steps.
    """

    def __init__(self) -> None:
        self.evidence = Evidence(PREMISES, outside=OUTSIDE_RECORDS)
        self.reporter = Reporter(self.evidence)
        self.generators = GeneratorWatches()
        self.digests = Digests()
        self.saved = SavedWeights()
        self.parts: list[ObservedPart] = []
        self.record: list[Entry] = []
        self._lacks_steps = True  # whether no step was counted and no checkpoint was loaded

    # Parts ------------------------------------------------------------------------------------------------------------
    def watch_made(
        self, *, module: torch.nn.Module, optimizer: DPOptimizer, loader: DataLoader, poisson_sampling: bool
    ) -> None:
        """Start to observe the model, the optimizer and the loader that Opacus' `make_private` returned.

        The record of the run assumes Poisson batches. A loader contradicts it if it draws other batches and does not
        return all records in one batch.

        Args:
            module: the wrapped model.
            optimizer: the private optimizer.
            loader: the loader.
            poisson_sampling: whether the returned loader draws Poisson batches.
        """
        part = ObservedPart(self, optimizer, module=module, loader=loader)
        drawing = part.drawing
        drawing.draws = record_draws(loader.batch_sampler, before_draw=part.before_draw, after_draw=part.after_draw)
        self._add(part)
        if drawing.draws is not None:
            return
        # The draws of this loader cannot be observed. The statement about the run says why.
        if poisson_sampling:
            drawing.explanation = "the sampler of several processes is not observed"
        elif len(loader) == 1:
            drawing.records = len(loader.dataset)
        else:
            drawing.explanation = "batches are those of the given loader"
            self.reporter.contradict(
                FRESH_DRAW,
                "not-poisson",
                "poisson_sampling=False: batches are those of the given loader, and the record has Poisson batches",
                remedy=_POISSON_REMEDY,
            )

    def part_of(self, optimizer: DPOptimizer) -> ObservedPart | None:
        """Return the observed part of the run that belongs to an optimizer, or None if it was not observed before.

        An optimizer that `make_private` did not return is observed from the first call on.

        Args:
            optimizer: the private optimizer.
        """
        for part in self.parts:
            if part.optimizer is optimizer:
                return part
        self._add(ObservedPart(self, optimizer))
        return None

    def _add(self, part: ObservedPart) -> None:
        """Observe a private optimizer, and forget those that no longer exist."""
        self.parts = [*(earlier for earlier in self.parts if earlier.optimizer is not None), part]
        watch.add(part)

    # Steps ------------------------------------------------------------------------------------------------------------
    def count_step(self, entry: Entry, premises: Iterable[Premise]) -> None:
        """Count a recorded step, with the premises that it was observed to fulfil.

        Args:
            entry: noise multiplier, sampling rate and number of steps.
            premises: conditions of the privacy theorem that were observed to hold for the step.
        """
        self._lacks_steps = False
        self.evidence.count_step(premises)
        append(self.record, entry)

    def count_unobserved_step(self, entry: Entry, reason: str = "the accountant was only told of the step") -> None:
        """Count a recorded step that was not observed, so that the caller must vouch for its draw of records.

        Args:
            entry: noise multiplier, sampling rate and number of steps.
            reason: why the step was not observed.
        """
        self.evidence.rest_on_caller(FRESH_DRAW, reason)
        self.count_step(entry, ())

    def adopt(self, history: Sequence[Entry], reason: str) -> None:
        """Replace the record of the run by a history, and count the steps of the history as not observed.

        The program may have set the history, or the history comes from a checkpoint without evidence.

        Args:
            history: entries of noise multiplier, sampling rate and number of steps.
            reason: why the steps were not observed.
        """
        steps = sum(entry[2] for entry in history)
        self.evidence.count_step(count=steps)
        if steps:
            self.evidence.rest_on_caller(SAME_PARTS, reason, count=steps)
        self.record = [as_entry(entry) for entry in history]

    def compare_history(self, history: Sequence[Entry], *, whole: bool) -> None:
        """Check that the history of Opacus' accountant agrees with the record of the run.

        If the history differs before any step was counted or a checkpoint was loaded, the program has set it. Its steps
        are then counted, and the caller must vouch for them. Any other difference contradicts the record of the run.

        Args:
            history: `accountant.history`, with entries of noise multiplier, sampling rate and number of steps.
            whole: whether to compare every entry, or only the number of entries and the last one.
        """
        first_compared = 0 if whole else -1
        entries = [as_entry(entry) for entry in history[first_compared:]]
        if len(history) == len(self.record) and entries == self.record[first_compared:]:
            return
        if self._lacks_steps:
            self._forget()
            self.adopt(history, "the history of the accountant was typed")
            return
        self.contradict_parts("history", "the history of the accountant was edited, cleared or replaced")
        self.record = [as_entry(entry) for entry in history]

    def _forget(self) -> None:
        """Remove the counted steps from the evidence, but not the declarations and contradictions."""
        present = self.evidence.state_dict()
        self.evidence.load_state_dict({**present, "steps": 0, "shown": {}, "reasons": []})

    def contradict_parts(self, kind: str, message: str) -> None:
        """Report that a part of the run, such as its history, was replaced, cleared or reset to an earlier state.

        Args:
            kind: kind of the observation; observations of the same kind are counted together.
            message: the observation as a sentence.
        """
        self.reporter.contradict(
            SAME_PARTS,
            kind,
            message,
            remedy="Keep the accountant and its history as they are, "
            'or declare("same-parts", …) if nothing of the missing steps was used or released.',
        )

    # Conclusions ------------------------------------------------------------------------------------------------------
    def conclusion(self, history: Sequence[Entry]) -> Evidence:
        """Return the evidence for the run's ε, after checks of the history, of waiting tests and of the models.

        Parameters that changed after the last recorded step contradict the record if gradients were computed since
        then. Otherwise the parameters may be averages of released models, for which the caller must vouch. This is
        noted only in the returned copy of the evidence, because the run may go on.

        Args:
            history: `accountant.history`, with entries of noise multiplier, sampling rate and number of steps.

        Returns:
            The conditions of the guarantee that were observed, contradicted or vouched for.
        """
        self.compare_history(history, whole=True)
        for part in self.parts:
            part.flush()
        changed = [part for part in self.parts if not part.is_settled()]
        self._report_trained(changed)
        averaged = [part for part in changed if not part.parameters.has_new_gradients()]
        if not averaged or self.evidence.steps == 0:
            return self.evidence
        evidence = self.evidence.copy()
        for _ in averaged:
            evidence.rest_on_caller(PARAMETERS, "the parameters changed after the last recorded step")
        return evidence

    def _report_trained(self, changed: Iterable[ObservedPart]) -> None:
        """Report each model that changed after the last recorded step, if its gradients were computed since then."""
        for part in changed:
            if part.parameters.has_new_gradients():
                part.parameters.report("after the last recorded step, while gradients were computed")

    # Checkpoints ------------------------------------------------------------------------------------------------------
    def state_dict(self) -> RunState:
        """Return the observations of the run as JSON values, with which a run is resumed from a checkpoint.

        Returns:
            The evidence, the recorded steps, the states of the random generators, and digests of the models' weights.
        """
        for part in self.parts:
            part.flush()
        # Only for trained models, digests of the weights are saved.
        models = [part for part in self.parts if part.parameters.is_trained() and part.parameters.trained_tensors()]
        changed = [part for part in models if not part.is_settled()]
        self._report_trained(changed)
        weights = self.saved.save((part.parameters.trained_tensors(), part not in changed) for part in models)
        return {
            "evidence": self.evidence.state_dict(),
            "record": [list(entry) for entry in self.record],
            "generators": self.generators.state_dict(),
            "weights": weights,
        }

    def load_state_dict(self, state: RunState | None, history: Sequence[Entry]) -> None:
        """Continue a run from a checkpoint.

        Contradictions and declarations of the present run remain, because a checkpoint cannot undo them. If the present
        run has observed steps that the checkpoint lacks, this contradicts the record. The budget of a ledger is
        informed at the end.

        Args:
            state: value of `state_dict`; None if the checkpoint has no evidence.
            history: the accountant's history in the checkpoint.
        """
        was_observed = bool(self.parts) and self.evidence.steps > 0
        earlier_record = list(self.record)
        earlier_evidence = self.evidence.copy()
        budget = self.evidence.budget
        self.evidence.budget = None
        self._lacks_steps = False

        # Replace the evidence and the record by those of the checkpoint.
        weights = None
        if state is None:
            self.evidence.clear()
            self.record = []
            self.adopt(history, "the checkpoint has a history without evidence")
        else:
            self.evidence.load_state_dict(state["evidence"])
            self.record = [as_entry(entry) for entry in state["record"]]
            self.generators.compare_with(state["generators"])
            weights = state["weights"]
        self.saved.load(weights)

        # Compare the checkpoint with the accountant and with the earlier record.
        self._restore_conclusions(earlier_evidence)
        self.evidence.budget = budget
        if state is not None:
            self.compare_history(history, whole=True)
        if was_observed and not extends(self.record, earlier_record):
            self.contradict_parts("rewound", "the accountant was set back to a record with other or fewer steps")
        self.evidence.inform(budget)

    def _restore_conclusions(self, earlier: Evidence) -> None:
        """Add the declarations and contradictions of earlier evidence to the present evidence."""
        for name, declaration in earlier.state_dict()["vouched"].items():
            self.evidence.vouch(name, declaration)
        for observation in earlier.observations:
            premise = PREMISES_BY_ID[observation.premise]
            self.evidence.contradict(premise, observation.message, remedy=observation.remedy, count=observation.count)
