"""Conditions of Theorems 2.1 and 2.2 of Lowy and Razaviyayn, and of their proofs, at the inputs of a run."""

from __future__ import annotations

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import DRAWN_ONCE, binding_sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import proof_chain
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import POISSON_BATCHES, TheoremAtInputs
from epsilond.calibrators.mb_sgd.members import Member
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Reading

IDENTICAL = ConditionResult(
    "identical-clients",
    "the records of all clients are identically distributed (needed for the risk, not for the privacy)",
    Verdict.NO,
)


def conditions_of(
    problem: MbSgdProblem, evaluation: TheoremAtInputs, reading: Reading, members: tuple[Member, ...]
) -> list[ConditionResult]:
    """Evaluate the conditions of a paper's theorem for a run, in one interpretation of the theorem's text.

    The interpretation `proof` has the conditions of the steps of the theorem's proof. Poisson batches add a condition
    that fails. Records that are not identically distributed add another one, except for `proof`.

    Args:
        problem: the request, with its sampling of batches and the distribution of records.
        evaluation: the theorem at the request's inputs.
        reading: the interpretation of the theorem, which determines the conditions that apply.
        members: one entry for each kind of client, with the printed rounds.

    Returns:
        The conditions, each with its verdict and, for an inequality, with both of its sides.
    """
    if reading == "proof":
        results = [*_proof_conditions(members), DRAWN_ONCE.at(evaluation.inputs)]
    else:
        results = list(evaluation.conditions(without=_excluded_conditions(problem, reading)))
    if problem.sampling == "poisson":
        results.append(POISSON_BATCHES)
    if not problem.identically_distributed and reading != "proof":
        results.append(IDENTICAL)
    return results


def _excluded_conditions(problem: MbSgdProblem, reading: Reading) -> tuple[str, ...]:
    """Return the ids of conditions of a paper's theorem that do not apply to a request, in one interpretation.

    Args:
        problem: the request, with the strong convexity of the losses and the client groups.
        reading: name of the interpretation of the theorem's text.

    Returns:
        The ids, some of which may be repeated.
    """
    excluded = []
    # The informal statement leaves out these conditions.
    if reading == "informal":
        excluded += ["prescribed-rounds", "client-sampling", "equal-shares"]
    # Only the bound for strongly convex losses has a logarithm.
    if problem.strong_convexity == 0.0:
        excluded.append("logarithm")
    # Clients of one kind have equal shares of the records.
    if not problem.client_groups:
        excluded.append("equal-shares")
    return tuple(excluded)


def _proof_conditions(members: tuple[Member, ...]) -> list[ConditionResult]:
    """Check for a run the two inequalities on ε by which Lowy and Razaviyayn prove privacy.

    The ε of one round before subsampling must be at most 1. The composition of all rounds must be at most the target ε.

    Args:
        members: one entry for each kind of client, with the printed rounds.

    Returns:
        The two conditions, each with both sides of its inequality. They are those of the client that violates it by
        most or, if all clients meet it, of the client that is closest to violating it.
    """
    round_sides = []
    total_sides = []
    for member in members:
        target = member.target
        chain = proof_chain(
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            rounds=member.rounds,
            epsilon=target.epsilon,
            log_delta=target.log_delta,
        )
        round_sides.append(Sides.at_most(chain.inner_epsilon, 1.0))
        total_sides.append(Sides.at_most(chain.printed_total, target.epsilon))

    return [
        result_of("inner-epsilon", "the ε of one round before sampling is at most 1", binding_sides(round_sides)),
        result_of(
            "composition-closes",
            "the printed composition of the rounds (Dwork and Roth 3.20) is at most ε",
            binding_sides(total_sides),
        ),
    ]


def result_of(name: str, statement: str, sides: Sides) -> ConditionResult:
    """Return an evaluated condition with both sides of its inequality.

    Args:
        name: id of the condition.
        statement: the condition in words.
        sides: the two compared numbers, with the verdict on the inequality.
    """
    return ConditionResult(name, statement, sides.holds, sides.left, sides.right)
