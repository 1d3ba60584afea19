"""Asoodeh et al. 2021, (3) and (8): privacy as a divergence, and a chain of channels, for finitely many outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.quantities.algorithms import PrivacyLoss
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.conversions.finite_laws import (
    Probabilities,
    TwoLaws,
    apply_channel,
    check_distribution,
    check_kernel,
    hockey_stick,
    normalise,
)
from epsilond.accountants.theorems.hidden_states.contraction import COMMON_KERNEL

MOST_CHANNELS = 100
"""Largest number of channels in a chain, so that an evaluation takes seconds at most."""
OUTPUT_LAWS = Quantity(
    symbol="M_x", description="distribution of the mechanism's output on each of the data sets, all of them neighbours"
)
CHANNELS = Quantity(
    symbol="K_j",
    description="channels applied one after another: for each outcome, the probabilities of its outputs",
)
Channel = tuple[Probabilities, ...]


class WorstPair(NamedTuple):
    """The two inputs of a channel that give the largest hockey-stick divergence E_ε of the output distributions.

    A channel is a matrix, and its row for an input is the distribution of the output. The inputs are named by the
    indices of their rows.

    Attributes:
        first: index of the first row, from 0.
        second: index of the second row, from 0.
        divergence: E_ε of the first row from the second one, in [0, 1].
    """

    first: int
    second: int
    divergence: float


def worst_pair(rows: Sequence[FloatArray], epsilon: float) -> WorstPair:
    """Find the two of several distributions with the largest hockey-stick divergence E_ε, and this divergence.

    The hockey-stick divergence is E_ε(P‖Q) = Σ max(P − e^ε Q, 0). Of several pairs with the largest divergence, the one
    with the smallest indices is returned.

    Args:
        rows: probability vectors on the same outcomes, at least one.
        epsilon: privacy loss ε ≥ 0, in nats.

    Returns:
        The indices of P and Q in `rows`, and their divergence in [0, 1]. The indices are 0 if the divergence is 0.
    """
    table = np.stack(rows)
    gamma = math.exp(min(epsilon, 700.0))  # finite; e^700 times a probability above 1e-304 already exceeds 1
    worst = WorstPair(0, 0, 0.0)
    for index, row in enumerate(table):
        divergences = np.maximum(row - gamma * table, 0.0).sum(axis=1)
        second = int(divergences.argmax())
        divergence = float(divergences[second])
        if divergence > worst.divergence:
            worst = WorstPair(index, second, divergence)
    return worst


# Privacy as a divergence, (3) ---------------------------------------------------------------------------------------
@request
class NeighbouringOutputs:
    """A mechanism with finitely many outputs, on data sets of which every two are neighbours.

    Data sets that differ only in the record of one user are of this kind.
    """

    epsilon: PrivacyLoss
    output_distributions: Annotated[Channel, OUTPUT_LAWS]

    def check(self) -> None:
        """Check that there is a data set, and a probability vector of one length for each.

        Raises:
            InvalidInput: there is no data set, or the rows are not probability vectors of the same length.
        """
        if not self.output_distributions:
            raise InvalidInput.at("/output_distributions", "must have at least one distribution")
        check_kernel("/output_distributions", self.output_distributions, len(self.output_distributions))


def privacy_of_outputs(inputs: NeighbouringOutputs) -> Outputs:
    """Compute the least δ at ε of a mechanism with finitely many outputs: its largest divergence E_ε on two data sets.

    Args:
        inputs: ε, and the distribution of the output on each data set.

    Returns:
        `delta`: the least δ at which the mechanism is (ε, δ)-private.
        `first_data_set` and `second_data_set`: indices, from 0, of two data sets x and x' that attain δ.
        `first_probability` and `second_probability`: probabilities on x and on x' of the set of outputs that are more
        than e^ε times as probable on x as on x'. δ is the first minus e^ε times the second.
    """
    rows = [normalise(row) for row in inputs.output_distributions]
    worst = worst_pair(rows, inputs.epsilon)
    first, second = rows[worst.first], rows[worst.second]
    is_in_event = first > math.exp(min(inputs.epsilon, 700.0)) * second  # limited, so that e^ε cannot overflow
    return {
        "delta": hockey_stick(first, second, inputs.epsilon),
        "first_data_set": worst.first,
        "second_data_set": worst.second,
        "first_probability": math.fsum(first[is_in_event]),
        "second_probability": math.fsum(second[is_in_event]),
    }


EQUATION_3 = Theorem(
    id="asoodeh.equation-3",
    title="Privacy as a divergence",
    statement=(
        "A mechanism M is (ε, δ)-differentially private if and only if E_ε(M_x‖M_x') ≤ δ for all neighbours x and x'. "
        "The divergence is M_x(A) − e^ε M_x'(A) for the event A of all outputs with the density M_x above e^ε M_x'. No "
        "other event has a larger difference."
    ),
    source=Source("asoodeh2021", "Section II-B, (3)"),
    status=Status.PROVED,
    conditions=(
        Condition("all-neighbours", "every two of the data sets are neighbours, and the list has all of them"),
    ),
    inputs=NeighbouringOutputs,
    formula=privacy_of_outputs,
    examples=({"epsilon": 0.5, "output_distributions": ((0.75, 0.25), (0.25, 0.75), (0.5, 0.5))},),
)


# A chain of channels, (8) -------------------------------------------------------------------------------------------
@request
class ChannelChain(TwoLaws):
    """Two distributions, and channels that both of them pass through one after another."""

    epsilon: PrivacyLoss
    channels: Annotated[tuple[Channel, ...], CHANNELS]

    def check(self) -> None:
        """Check the distributions, the number of channels, and that each channel takes the outputs of the previous one.

        A channel is a matrix with one row for each input: the distribution of the output.

        Raises:
            InvalidInput: there are more than `MOST_CHANNELS` channels, or a channel has rows that are not probability
                vectors, or another number of rows than the previous channel has outputs.
        """
        super().check()
        if len(self.channels) > MOST_CHANNELS:
            raise InvalidInput.at("/channels", "are too many", allowed=f"at most {MOST_CHANNELS}")
        outcomes = len(self.first)
        for index, channel in enumerate(self.channels):
            check_kernel(f"/channels/{index}", channel, outcomes)
            # The first row sets the number of outcomes, which are the inputs of the next channel.
            check_distribution(f"/channels/{index}/0", channel[0], len(channel[0]))
            outcomes = len(channel[0])


def divergence_after_channels(inputs: ChannelChain) -> Outputs:
    """Compute the hockey-stick divergence of two distributions after a chain of channels, and a bound on it.

    A channel is a matrix with the distribution of the output for each input. It multiplies the divergence by at most
    its contraction coefficient, the largest divergence of two of its rows.

    Args:
        inputs: the distributions μ_t and μ'_t of the model after the step in which two runs differ, ε, and the channels
            of all later steps.

    Returns:
        `divergence`: E_ε(μ_t‖μ'_t) before the channels.
        `contraction`: product of the channels' contraction coefficients.
        `divergence_bound`: product of both, the right side of inequality (8) of Asoodeh et al.
        `last_divergence`: E_ε after the last channel, the left side of the inequality.
    """
    first, second = normalise(inputs.first), normalise(inputs.second)
    divergence = hockey_stick(first, second, inputs.epsilon)
    contraction = 1.0
    for channel in inputs.channels:
        rows = [normalise(row) for row in channel]
        contraction *= worst_pair(rows, inputs.epsilon).divergence
        first, second = apply_channel(first, channel), apply_channel(second, channel)
    return {
        "divergence": divergence,
        "contraction": contraction,
        "divergence_bound": divergence * contraction,
        "last_divergence": hockey_stick(first, second, inputs.epsilon),
    }


EQUATION_8 = Theorem(
    id="asoodeh.equation-8",
    title="A chain of channels multiplies their contractions",
    statement=(
        "Two runs differ in step t, and all later steps j are the same channels K_j with the coefficients η_ε(K_j). "
        "After the last step T, E_ε(μ_T‖μ'_T) ≤ E_ε(μ_t‖μ'_t) Π_{j>t} η_ε(K_j). Here μ_t and μ'_t are the "
        "distributions of the two models after step t."
    ),
    source=Source("asoodeh2021", "Section III-A, (8)"),
    status=Status.PROVED,
    conditions=(COMMON_KERNEL,),
    inputs=ChannelChain,
    formula=divergence_after_channels,
    examples=(
        {
            "first": (0.75, 0.25),
            "second": (0.25, 0.75),
            "epsilon": 0.25,
            "channels": (((0.75, 0.25), (0.25, 0.75)), ((0.5, 0.25, 0.25), (0.125, 0.25, 0.625))),
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_3, EQUATION_8)
