"""The certified noise of each kind of client of a run, and the parts of the answer for each kind and for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Generic, Literal

from typing_extensions import TypeVar

from epsilond.accountants.guarantee import Tightness
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities.risks import RISK_FIELDS
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.structure.random_draws import draws_of
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Ends, GuaranteeAnswer, NumericalAnswer, Served, TargetAnswer
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.envelope import guarantee_answer, numerical_answer
from epsilond.calibrators.mb_sgd.members import Member, root_mean_square
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.schedule import Averaging
from epsilond.calibrators.solution import Solution

if TYPE_CHECKING:
    from epsilond.calibrators.search import Certified

Answered_co = TypeVar("Answered_co", bound=MiniBatchProblem, covariant=True, default=MiniBatchProblem)


@dataclass(frozen=True, kw_only=True)
class MembersSolution(Solution[Answered_co], Generic[Answered_co]):
    """A run with the certified noise of its clients, which may differ in their data, batches and targets.

    Clients with equal data sizes, batches, losses and targets are one kind. The inherited `certified` and `norm` are
    those of the first kind.

    Attributes:
        run: the batch size and the rounds.
        certificates: computes certified noise for any kind of client of the request, and stores it.
        members: the kinds of clients.
        certified_members: noise multiplier and guarantee of each of `members`.
        noise_stds: certified standard deviation σ of the noise per coordinate, of each of `members`.
        printed_stds: σ by the formula of the paper for each of `members`, at this number of rounds; empty if whole
            clients are protected.
    """

    run: Run
    certificates: Certificates[Answered_co, Member]
    members: tuple[Member, ...]
    certified_members: tuple[Certified, ...]
    noise_stds: tuple[float, ...]
    printed_stds: tuple[float, ...] = ()

    @cached_property
    def answers(self) -> tuple[GuaranteeAnswer, ...]:
        """The guarantee of each kind of client. It is computed on first use, because a ledger needs only the noise."""
        return guarantees_of(self.certificates, self.members)

    @property
    def norms(self) -> tuple[float, ...]:
        """Bounds on the norm of one contribution of each kind of client."""
        return tuple(map(self.certificates.norm, self.members))

    @property
    def mean_noise_std(self) -> float:
        """Standard deviation σ of the noise per coordinate, root mean square over clients."""
        return root_mean_square(zip(self.noise_stds, self.members, strict=True))


def guarantees_of(
    certificates: Certificates[MiniBatchProblem, Member], members: Sequence[Member]
) -> tuple[GuaranteeAnswer, ...]:
    """Return the certified guarantee of each kind of client, with the sensitivity of its own messages.

    Kinds of clients that share a certificate have the same ε and δ, which are computed once.

    Args:
        certificates: the certified noise of each kind of client.
        members: the kinds of clients.

    Returns:
        One guarantee per kind of client, in their order. Only the sensitivity may differ between equal certificates.
    """
    problem = certificates.problem
    # Keyed by the identity of the certificate, because equal kinds of clients share one object.
    answer_of_certificate: dict[int, GuaranteeAnswer] = {}
    answers = []
    for member in members:
        certified = certificates.of(member)
        sensitivity = sensitivity_factor(problem.relation) * certificates.norm(member)
        key = id(certified)
        if key not in answer_of_certificate:
            answer_of_certificate[key] = guarantee_answer(
                certified,
                member.target,
                definition="local",
                sampling=problem.sampling,
                sensitivity=sensitivity,
                draws=draws_of(certificates.spec(member), problem.unit),
            )
        answers.append(replace(answer_of_certificate[key], sensitivity=sensitivity))
    return tuple(answers)


@dataclass(frozen=True, kw_only=True)
class GroupParameters:
    """Parameters of one group of clients, and their guarantee."""

    clients: Annotated[int, Served("number of clients in this group")]
    samples_per_client: Annotated[int, Served("number of records of each client in this group")]
    batch_size: Annotated[int, Served("number of records that each client in this group uses in one round")]
    lipschitz: Annotated[
        float,
        Served(
            "bound on the ℓ2 norm of a record's gradient of the weighted loss. The weighted loss is the "
            "loss times p_i N, for the weight p_i of the client among N clients"
        ),
    ]
    noise_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise that a client adds to the mean of its "
            "batch_size weighted gradients"
        ),
    ]
    noise_multiplier: Annotated[float, Served("noise_std divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    printed_noise_std: Annotated[
        float | None,
        Served(
            "noise_std by the formula of Theorem 2.1 of Lowy and Razaviyayn at the rounds of the answer, "
            "with the Lipschitz constant of this group. Absent if clients are protected"
        ),
    ] = None
    guarantee: GuaranteeAnswer


@dataclass(frozen=True, kw_only=True)
class MembersParameters:
    """The parameters of a run for all clients. Where groups of clients need different values, a parameter is absent."""

    noise_std: Annotated[
        float | None,
        Served(
            "standard deviation per coordinate of the noise that each client adds to the mean of its "
            "batch_size gradients; absent if client groups differ in it"
        ),
    ] = None
    noise_multiplier: Annotated[
        float | None, Served("noise_std divided by contribution_norm; absent if client groups differ in either")
    ] = None
    contribution_norm: Annotated[float | None, CONTRIBUTION_NORM] = None
    batch_size: Annotated[
        int, Served("number of records that a client with samples_per_client records uses in one round")
    ]
    rounds: Annotated[int, Served("number of rounds")]


@dataclass(frozen=True, kw_only=True)
class MbSgdParameters(MembersParameters):
    """Parameters of the run. A figure that differs between client groups is only in `groups`."""

    step_size: Annotated[float | None, Served("step size of a gradient step; absent where no risk bound applies")] = (
        None
    )
    averaging: Annotated[
        Averaging | None, Served("average of the models of all rounds that is the output of the run")
    ] = None
    envelope_smoothness: Annotated[
        float | None,
        Served(
            "smoothness constant of the Moreau envelope of each (weighted) loss, whose gradients are sent "
            "in place of the loss's. Absent if the loss is smooth"
        ),
    ] = None
    groups: Annotated[
        tuple[GroupParameters, ...] | None,
        Served("parameters of each client group, in the order of client_groups; absent without client groups"),
    ] = None


def group_parameters(solution: MembersSolution) -> tuple[GroupParameters, ...]:
    """Return the noise, the privacy guarantee and the paper's noise for each group of clients.

    Groups may differ in data, batches, losses and targets, and therefore in noise.

    Args:
        solution: the certified noise of each kind of client (one kind for each group).

    Returns:
        One entry per group, in the order of the request: its size, its noise, its guarantee, and the noise that the
        paper prescribes. The last is None if no theorem of the paper applies.
    """
    printed = solution.printed_stds
    values_of_groups = zip(
        solution.members,
        solution.certified_members,
        solution.noise_stds,
        solution.norms,
        solution.answers,
        strict=True,
    )
    return tuple(
        GroupParameters(
            clients=member.clients,
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            lipschitz=member.lipschitz,
            noise_std=noise_std,
            noise_multiplier=certified.noise,
            contribution_norm=norm,
            printed_noise_std=printed[member.place] if printed else None,
            guarantee=answer,
        )
        for member, certified, noise_std, norm, answer in values_of_groups
    )


def _common_value(values: Iterable[float]) -> float | None:
    """Return the value that all members of a collection have; None if they differ or there are none."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def members_parameters(solution: MembersSolution) -> MembersParameters:
    """Return the batch size and rounds of a run, with those parameters of its noise that are equal for all clients.

    Args:
        solution: the run with the certified noise of each kind of client.

    Returns:
        The parameters for the answer. A parameter in which clients differ is None. The noise multiplier and the
        contribution norm are both None if clients differ in either.
    """
    multiplier = _common_value(member.noise for member in solution.certified_members)
    norm = _common_value(solution.norms)
    are_common = multiplier is not None and norm is not None
    return MembersParameters(
        noise_std=_common_value(solution.noise_stds),
        noise_multiplier=multiplier if are_common else None,
        contribution_norm=norm if are_common else None,
        batch_size=solution.run.batch_size,
        rounds=solution.run.rounds,
    )


def guarantee_of_all(answers: Sequence[GuaranteeAnswer]) -> GuaranteeAnswer:
    """Return the guarantee that holds for every client, at the largest ε and δ of the clients' targets.

    The ε of a client falls as δ grows. At the largest δ of all targets it is therefore at most the ε at the client's
    own δ. So the largest upper bound on ε holds for all clients. A lower bound at a client's own δ is valid at the
    largest δ only if both are equal, so the largest lower bound of such clients is used. The same holds with ε and δ
    exchanged.

    Args:
        answers: the guarantee of each kind of client at its own target; at least one.

    Returns:
        The guarantee, without a curve if there are several kinds. The sensitivity is None if clients differ in it.

    Guarantees: both upper bounds hold for every client.
    """
    if len(answers) == 1:
        return answers[0]

    # The target (ε, δ) with the largest values of any client holds for all clients.
    largest_delta = max(answers, key=lambda answer: answer.target.log10_delta).target
    largest_epsilon = max(answer.target.epsilon for answer in answers)
    target = TargetAnswer(
        epsilon=largest_epsilon,
        delta=largest_delta.delta,
        log10_delta=largest_delta.log10_delta,
        **_common_risk_fields([answer.target for answer in answers]),
    )

    # Only answers at this δ, or at this ε, give lower bounds at the common target.
    with_largest_delta = [answer for answer in answers if answer.target.log10_delta == largest_delta.log10_delta]
    with_largest_epsilon = [answer for answer in answers if answer.target.epsilon == largest_epsilon]
    epsilon = _merge_bounds([answer.epsilon for answer in answers], [answer.epsilon for answer in with_largest_delta])
    delta = _merge_bounds([answer.delta for answer in answers], [answer.delta for answer in with_largest_epsilon])
    log10_delta = _merge_bounds(
        [answer.log10_delta for answer in answers], [answer.log10_delta for answer in with_largest_epsilon]
    )

    sensitivities = [answer.sensitivity for answer in answers if answer.sensitivity is not None]
    return replace(
        answers[0],
        sensitivity=_common_value(sensitivities),
        target=target,
        epsilon=epsilon,
        delta=delta,
        log10_delta=log10_delta,
        tight=_tightness(answers),
        minimal=_minimal(answers),
        curve=None,
    )


def _common_risk_fields(targets: Sequence[TargetAnswer]) -> Fields:
    """Return the fields of the risk that is the target of every client, such as a success rate of an attack.

    Args:
        targets: the target of each kind of client; at least one.

    Returns:
        Values by the names in `RISK_FIELDS`; empty if clients differ in any of them.
    """
    risks = [{name: getattr(target, name) for name in RISK_FIELDS} for target in targets]
    has_one_risk = all(risk == risks[0] for risk in risks)
    return risks[0] if has_one_risk else {}


def _merge_bounds(all_clients: Iterable[Ends], at_largest_target: Iterable[Ends]) -> Ends:
    """Enclose the largest ε, or the largest δ, of all clients at a common target.

    Args:
        all_clients: bounds of each client at its own target, of which the upper bounds are used.
        at_largest_target: bounds of the clients with the common target as their own. Only their lower bounds are used.

    Returns:
        The largest of these lower bounds, and the largest of the upper bounds.
    """
    lower = max(bounds.lower for bounds in at_largest_target)
    upper = max(bounds.upper for bounds in all_clients)
    return Ends(lower, upper)


def numerical_of_all(members: Sequence[Member], certified: Sequence[Certified]) -> NumericalAnswer:
    """Return the worst numerical accuracy of all kinds of clients.

    Args:
        members: the kinds of clients, each with its target.
        certified: the certificate of each kind, in the same order.

    Returns:
        The largest relative width of the computed bounds on δ, 1 − δ_low/δ_up.
    """
    answers = (
        numerical_answer(member_certified.guarantee, member.target)
        for member_certified, member in zip(certified, members, strict=True)
    )
    return max(answers, key=lambda answer: answer.relative_width)


def _tightness(answers: Sequence[GuaranteeAnswer]) -> Tightness:
    """Return how tight the bound is that holds for all clients: `proved`, `witnessed` or `unknown`.

    A bound is `proved` to be tight if neighbouring data sets attain it. It is `witnessed` if some give a lower bound
    that may be smaller. It is `unknown` without a lower bound. Clients with equal targets and equal tightness keep that
    tightness. Otherwise the result is `unknown` if it is unknown for any client. In all other cases it is `witnessed`:
    the bound for all clients is the largest, and not every client attains it.

    Args:
        answers: the guarantee of each kind of client at its own target; at least one.

    Returns:
        The word `proved`, `witnessed` or `unknown`.
    """
    kinds = {answer.tight for answer in answers}
    has_one_target = len({(answer.target.epsilon, answer.target.log10_delta) for answer in answers}) == 1
    if len(kinds) == 1 and (has_one_target or kinds == {"unknown"}):
        return answers[0].tight
    return "unknown" if "unknown" in kinds else "witnessed"


def _minimal(answers: Sequence[GuaranteeAnswer]) -> Literal["proved", "searched"]:
    """Return `proved` if the noise of every client is proved to be minimal, and otherwise `searched`."""
    return "proved" if all(answer.minimal == "proved" for answer in answers) else "searched"
