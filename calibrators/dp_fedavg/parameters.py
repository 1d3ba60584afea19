"""The parameters in the answer of dp-fedavg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from epsilond.calibrators.answer import CONTRIBUTION_NORM, Served
from epsilond.calibrators.dp_fedavg.rounds import RoundsRun


@dataclass(frozen=True, kw_only=True)
class AdaptiveClippingAnswer:
    """How the noise of a round is split between the updates and their clipped bits (Andrew et al. 2021, Theorem 1)."""

    count_std: Annotated[
        float, Served("standard deviation of the noise on the sum of the participants' bits, each −½ or ½")
    ]
    noise_std_of_share: Annotated[
        float,
        Served(
            "standard deviation of the noise in the released share of updates that were not clipped: "
            "count_std divided by participants"
        ),
    ]
    whole_noise_multiplier: Annotated[
        float,
        Served(
            "noise multiplier of a round as a whole, with both noisy sums as one Gaussian mechanism. The "
            "guarantee is certified for it"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class DpFedavgParameters:
    """The noise and the size of every round, with the figures of the run."""

    noise_multiplier: Annotated[float, Served("noise_std_of_sum divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    noise_std_of_sum: Annotated[
        float, Served("standard deviation per coordinate of the noise on the sum of the clipped updates of a round")
    ]
    noise_std_of_mean: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise in the mean of a round, which is the noisy sum "
            "divided by participants"
        ),
    ]
    noise_norm_of_mean: Annotated[
        float,
        Served(
            "norm of the noise in the mean of a round: noise_std_of_mean times the root of dimension. "
            "Compare it with clipping_norm"
        ),
    ]
    clipping_norm: Annotated[
        float,
        Served(
            "bound on the ℓ2 norm of one update. With adaptive clipping it changes from round to round, "
            "and the noise in proportion to it"
        ),
    ]
    noise_to_signal: Annotated[float, Served("noise_norm_of_mean divided by clipping_norm")]
    rounds: Annotated[int, Served("number of rounds")]
    participants: Annotated[
        int, Served("fixed number by which the noisy sum of a round is divided, however many clients take part")
    ]
    participation_rate: Annotated[float, Served("probability that a given client takes part in a round")]
    reports_per_client: Annotated[
        float,
        Served("number of rounds in which one client takes part; the expected number if clients are drawn at random"),
    ]
    bytes_per_client: Annotated[
        float,
        Served(
            "number of bytes that one client sends during the run; the expected number if clients are drawn at random"
        ),
    ]
    remaining_share: Annotated[
        float,
        Served(
            "bound on the excess risk after the run, divided by clipping_norm · diameter. It assumes one "
            "gradient step of a client per round, and gradients of norm at most clipping_norm. A value of "
            "1 or more carries no information"
        ),
    ]
    step_size: Annotated[float | None, Served("step size of the risk bound; absent if no risk bound is proved")] = None
    adaptive_clipping: Annotated[
        AdaptiveClippingAnswer | None, Served("parameters of adaptive clipping; absent if the clipping norm is fixed")
    ] = None
    frontier: Annotated[
        tuple[RoundsRun, ...] | None,
        Served(
            "alternative numbers of rounds with their noise and traffic, fewest rounds first. Absent "
            "unless the number of rounds was chosen"
        ),
    ] = None
