"""The replies of one round: those of the clients, and the one that the strategy sees."""

from __future__ import annotations

from collections.abc import Iterable
from logging import INFO

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.serverapp.strategy import Strategy
from numpy.typing import NDArray

from epsilond.integrations.flower.updates import update_of
from epsilond.integrations.probe import Arrays


def updates_of(
    replies: Iterable[Message], contacted: set[int], current: Arrays
) -> Iterable[dict[str, NDArray[np.float64]]]:
    """Yield the valid updates: at most one per contacted client, of the model's shape and finite.

    Any other reply is logged and left out, so that it counts as a zero update.

    Args:
        replies: replies of the round, in any order.
        contacted: identifiers of the clients that received a message.
        current: the model that they trained from.

    Yields:
        The update of one client: its model minus `current`, in double precision.
    """
    not_replied = set(contacted)
    for reply in replies:
        # A client counts once, and only if it received a message of this round.
        client = reply.metadata.src_node_id
        if reply.has_error() or client not in not_replied:
            log(INFO, "a reply of node %d counts as zero: it failed, is a second one, or was not requested", client)
            continue
        not_replied.discard(client)
        update = update_of(_arrays_of(reply), current)
        if update is None:
            log(INFO, "the reply of node %d counts as zero: it is of another shape or not finite", client)
            continue
        yield update


def _arrays_of(reply: Message) -> dict[str, NDArray[np.number]]:
    """Return the arrays of the model in a client's reply, by name.

    Args:
        reply: the reply.

    Returns:
        The arrays; empty if the reply has no model, or several.
    """
    records = list(reply.content.array_records.values())
    if len(records) != 1:
        return {}
    return {name: array.numpy() for name, array in records[0].items()}


def reply_with(model: Arrays, like: ArrayRecord, strategy: Strategy) -> Message:
    """Return a message with the noisy model and weight 1, which an inner strategy gets in place of all replies.

    The strategy then aggregates one reply; its mean is the noisy model itself.

    Args:
        model: the noisy model.
        like: the model that clients received, for the order of its arrays.
        strategy: the strategy that reads the reply. Its attributes name the keys of the model and the weight.

    Returns:
        The message, in the form of a client's reply.
    """
    arrays = ArrayRecord({name: Array(np.ascontiguousarray(model[name])) for name in like})
    weight_key = getattr(strategy, "weighted_by_key", "num-examples")
    model_key = getattr(strategy, "arrayrecord_key", "arrays")
    content = RecordDict({model_key: arrays, "metrics": MetricRecord({weight_key: 1.0})})
    return Message(content=content, message_type="train", dst_node_id=0)
