"""Every algorithm on one problem."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import Outcome, answer_of, draft_at, drafts, settle
from epsilond.executors import in_order
from epsilond.progress import Progress, in_silence
from epsilond.reading import read

if TYPE_CHECKING:
    from epsilond.ledgers.client.bodies import AmountTold
    from epsilond.ledgers.client.ledgers import Ledger
    from epsilond.ledgers.mathematics.state import SlotKind


def plan(
    *,
    executor: Executor | None = None,
    progress: Progress = in_silence,
    given: Ledger | None = None,
    slot: SlotKind | None = None,
    item: str | None = None,
    eta: AmountTold | None = None,
    **fields: object,
) -> PlanAnswer:
    """Every algorithm on one problem side by side, ranked among those whose guarantees are of one kind.

    The fields are those of the HTTP body: the target, the federation, the learning problem, whom the caller trusts, and
    what to rank by; or a risk to `reach`, and the field to solve for. An algorithm that does not apply says why. Each
    that does is calibrated in turn, which may take a minute for all; `progress` is called with how many are done and
    how many there are. An `executor` calibrates them side by side, to the same figures.

    With a ledger that is `given`, each is calibrated within what is left of it, as `epsilond.calibrate` does: of its
    Gaussian slot, the `slot` that is named, or the plan's `item`. The target and the setting are then the ledger's, and
    are left out. That one of them fits does not mean that two do. They are calibrated one after the other: an executor
    does not go with it.

    Example:
        >>> import epsilond
        >>> found = epsilond.plan(
        ...     epsilon=1.0, delta=1e-5, clients=50, samples_per_client=1000, dimension=20, lipschitz=1.0, diameter=2.0,
        ...     smoothness=1.0, relation="replace-one", unit="record", observers=["server"],
        ...     algorithms=["one-pass-accelerated-mb-sgd", "mu2-sgd", "ppsgd"],
        ... )
        >>> [group.ranked for group in found.groups]
        [('one-pass-accelerated-mb-sgd', 'mu2-sgd (untrusted server)')]

    Raises:
        InvalidInput: fields that no run can have, or an algorithm that there is not.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    place = {name: value for name, value in (("slot", slot), ("item", item), ("eta", eta)) if value is not None}
    if given is not None:
        from epsilond.questions.plan_given import within  # noqa: PLC0415  few plans are within a ledger

        if executor is not None:
            raise InvalidInput.at("/executor", "does not go with a ledger")
        return within(given, fields, place, progress)
    problem = read(PlanProblem, {**fields, **place})  # no plan has such fields
    drafted = drafts(PLANNERS, problem)
    settled = in_order(executor, _settled, [(problem, place) for place in range(len(drafted))], progress)
    return answer_of(problem, list(zip(drafted, settled, strict=True)))


def _settled(problem: PlanProblem, place: int) -> Outcome | None:
    """What becomes of the draft at this place. Drafts hold functions, so that one is made anew there."""
    return settle(draft_at(PLANNERS, problem, place), problem)
