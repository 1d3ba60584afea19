"""Plan: every algorithm on one problem, ranked."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.planners import PLANNERS
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import Outcome, answer_of, draft_at, drafts, settle
from epsilond.executors import run_in_order
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
    """Calibrate every algorithm on one problem, and rank those with guarantees of one kind.

    An algorithm that does not apply has the reason in its entry. The others are calibrated, which may take a minute for
    all of them.

    With a ledger, each algorithm is calibrated within the budget that is left, as `epsilond.calibrate` does. Leave out
    the target, the relation, the unit and the observer, which the ledger sets. If one run fits, a second one need not
    fit after it.

    Args:
        executor: calibrates the algorithms in parallel, to the same figures; excludes `given`.
        progress: called with the number of algorithms that are done, and the number of algorithms.
        given: a ledger that pays for the run; None without one.
        slot: kind of slot. A slot is the part of the ledger's budget that counts in one notion of privacy: gdp, zcdp,
            rdp or pure.
        item: name of an item of the ledger's plan: a mechanism with its number of runs, for which budget is set aside.
        eta: η, the largest amount that the charge may add to δ in a Gaussian slot; None for the slot's default.
        **fields: fields of the HTTP body: the target, the federation, the learning problem, the trust of the caller and
            the measure to rank by; or a risk to `reach`, and the field to solve for.

    Returns:
        The entries of all algorithms, ranked in groups of one kind of guarantee, and the recommended entry.

    Example:
        >>> import epsilond
        >>> answer = epsilond.plan(
        ...     epsilon=1.0, delta=1e-5, clients=50, samples_per_client=1000, dimension=20, lipschitz=1.0, diameter=2.0,
        ...     smoothness=1.0, relation="replace-one", unit="record", observers=["server"],
        ...     algorithms=["one-pass-accelerated-mb-sgd", "mu2-sgd", "ppsgd"],
        ... )
        >>> [group.ranked for group in answer.groups]
        [('one-pass-accelerated-mb-sgd', 'mu2-sgd (untrusted server)')]

    Raises:
        InvalidInput: fields out of range, or an unknown algorithm.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    arguments = {"slot": slot, "item": item, "eta": eta}
    payment = {name: value for name, value in arguments.items() if value is not None}
    if given is not None:
        from epsilond.questions.given import plan_within  # noqa: PLC0415  few plans are within a ledger

        if executor is not None:
            raise InvalidInput.at("/executor", "does not go with a ledger")
        return plan_within(given, fields, payment, progress)
    # Without a ledger, the arguments of `payment` are rejected as unknown fields: no plan has them.
    problem = read(PlanProblem, {**fields, **payment})
    entries = drafts(PLANNERS, problem)
    calls = [(problem, index) for index in range(len(entries))]
    outcomes = run_in_order(executor, _settle_draft, calls, progress)
    return answer_of(problem, list(zip(entries, outcomes, strict=True)))


def _settle_draft(problem: PlanProblem, index: int) -> Outcome | None:
    """Calibrate one draft of a plan in a worker process, and return its outcome.

    A draft is the request that one variant of an algorithm makes from the common learning problem. Drafts contain
    functions, which cannot be pickled. The worker therefore makes the draft again from its index.

    Args:
        problem: the learning problem.
        index: number of the draft among all drafts of the problem, from 0.

    Returns:
        The calibration or its error. None if the draft has no request to calibrate.
    """
    return settle(draft_at(PLANNERS, problem, index), problem)
