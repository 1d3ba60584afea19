"""ppsgd in a plan: a shared part of every model is noisy, and a client's own part is its own."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields
from epsilond.calibrators.planning.adapter import PlanAdapter, noise_of_mean
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.limits import CHOSEN, likely_rounds
from epsilond.calibrators.planning.problem import PlanProblem


def rounds_of(plan: PlanProblem) -> int | None:
    """Return the rounds of the plan, or a quick estimate of the best number if the plan leaves it open.

    The estimate assumes that the other clients know who takes part, unless clients are drawn independently.

    Args:
        plan: the plan of a training, with its rounds or with the sizes that the estimate needs.

    Returns:
        The number of rounds; None if the plan has neither the rounds nor all fields that the estimate needs.
    """
    dimension = plan.shared_dimension or plan.dimension
    if plan.clients is None or plan.reporting is None or dimension is None:
        return plan.rounds
    return likely_rounds(
        plan,
        drawn=plan.reporting,
        population=plan.clients,
        dimension=dimension,
        relation=plan.relation,
        seen=plan.client_sampling != "poisson",
    )


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the fields of a request for personalised SGD (PPSGD) that cannot be copied from a plan.

    Args:
        plan: the plan, a training described without its algorithm.

    Returns:
        Values by the names of the fields: the rounds, the draw of clients, the clipping norm and the dimension of the
        shared part. An absent clipping norm is the Lipschitz constant, and an absent shared dimension that of the
        model.
    """
    sampling: str = "full"
    rate: float | None = None
    takes_subset = plan.clients is not None and plan.reporting != plan.clients
    if takes_subset:
        sampling = plan.client_sampling or "without-replacement"
        rate = (plan.reporting or 0) / (plan.clients or 1)
    return {
        "rounds": rounds_of(plan),
        "sampling": sampling,
        "participation_rate": rate,
        "clipping_norm": plan.clipping_norm or plan.lipschitz,
        "shared_dimension": plan.shared_dimension or plan.dimension,
    }


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the values that ppsgd assumes for absent fields of the plan, and fields that a risk bound needs.

    Args:
        plan: the plan, a training described without its algorithm.

    Yields:
        One sentence for each absent field, with the pointer to it.
    """
    if plan.rounds is None:
        yield CHOSEN
    if plan.clipping_norm is None:
        message = "messages are clipped to the norm lipschitz, which no gradient exceeds"
        yield Reason(message=message, pointer="/clipping_norm")
    if plan.shared_dimension is None:
        yield Reason(message="every coordinate of the model has a shared part", pointer="/shared_dimension")
    for name in ("smoothness", "optimum_norm"):
        if getattr(plan, name) is None:
            yield Reason(message=f"a bound on its risk needs {name}", pointer=f"/{name}")


PLANS = (
    PlanAdapter(
        definition="joint",
        observer="other-clients",
        units=("client",),
        objective="personalized",
        noise_added_to="shared-gradient",
        copied=(
            "clients",
            "smoothness",
            "lipschitz",
            "batch_size",
            "shared_gradient_std",
            "local_gradient_std",
            "shared_gradient_norm",
            "optimum_norm",
            "optimum_spread",
        ),
        mean_noise=noise_of_mean,
        read=("rounds", "participants", "client_sampling", "clipping_norm", "shared_dimension", "dimension"),
        computed=computed_fields,
        assumptions=assumptions,
    ),
)
