"""Clients with a gradient function of the caller, for any model and any loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices, as_floats
from epsilond.training.clients.batches import Batch, GradientStatistics
from epsilond.training.clients.clipping import clip_rows

Returns = Literal["per-record", "means"]


@dataclass(frozen=True, kw_only=True)
class Client:
    """A client with at least one record and a gradient function.

    Attributes:
        gradient: function of a model (d,) and the indices of the K records of a batch, each in 0, …, records − 1. It
            returns a numpy array, or any object with DLPack.
        records: number of the client's records.
        returns: kind of the function's result. `per-record`: one gradient per record, (K, d), in the given order. Each
            one is clipped by the library. `means`: the mean of the gradients, (d,). Only the mean can be clipped, so
            you declare that the gradient of every record is within the clipping bound.
    """

    gradient: Callable[[Floats, Indices], object]
    records: int
    returns: Returns = "per-record"


@dataclass(frozen=True)
class CallableClients:
    """N clients with gradient functions of the caller, which are called one after another.

    Attributes:
        clients: the clients, each with its function and its number of records.
        dimension: number of coordinates of a model and of a gradient.
    """

    clients: Sequence[Client]
    dimension: int

    @property
    def sizes(self) -> Indices:
        """Number of records of each of the N clients, (N,)."""
        return np.asarray([client.records for client in self.clients], dtype=np.int64)

    @property
    def means_only(self) -> bool:
        """True if some client returns only the mean of its gradients."""
        return any(client.returns == "means" for client in self.clients)

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, GradientStatistics]:
        """Return the sum of the clipped gradients of each client in a batch, and statistics of their norms.

        If a client returns only means, its mean is clipped and multiplied by the number of its records.

        Args:
            models: one model (d,) for all clients, or one per client (M, d), for d coordinates.
            batch: records of M clients.
            bounds: clipping norm of each client, (M,).

        Returns:
            The sums, shape (M, d), which are zero for clients without records in the batch, and the statistics of all.

        Raises:
            InvalidInput: a client returned an array of the wrong shape, or not an array of real numbers. The message
                contains no values of the array.
        """
        sums = np.zeros((len(batch.clients), self.dimension))
        statistics = GradientStatistics()
        for row, client_index in enumerate(batch.clients.tolist()):
            places = batch.own(row)
            if not len(places):
                continue
            model = models if models.ndim == 1 else models[row]
            gradients, factor = self._request_gradients(client_index, np.array(model), places)

            # Clipping is not left to the client's function, because the guarantee depends on it.
            clipped, client_statistics = clip_rows(gradients, float(bounds[row]))
            sums[row] = factor * np.sum(clipped, axis=0)
            statistics = statistics.merge(client_statistics)
        return sums, statistics

    def _request_gradients(self, client_index: int, model: Floats, places: Indices) -> tuple[Floats, int]:
        """Call a client's gradient function, and check the shape of its result.

        The function gets a copy of the indices, and its result is copied, so that it cannot change the run afterwards.

        Args:
            client_index: index of the client.
            model: model at which the gradients are computed, (d,), for d coordinates. The function may change it.
            places: indices of K of the client's records, (K,).

        Returns:
            Rows and a factor, such that the factor times the sum of the rows is the sum of all gradients. They are the
            K gradients (K, d) and 1, or their mean (1, d) and K.

        Raises:
            InvalidInput: the client returned an array of the wrong shape, or not an array of real numbers.
        """
        client = self.clients[client_index]
        returns_mean = client.returns == "means"
        expected_shape = (self.dimension,) if returns_mean else (len(places), self.dimension)
        pointer = f"/clients/{client_index}"
        gradients = as_floats(client.gradient(model, np.array(places)), pointer=pointer)
        if gradients.shape != expected_shape:
            message = f"returned an array of shape {gradients.shape}"
            raise InvalidInput.at(pointer, message, allowed=f"shape {expected_shape}")
        if returns_mean:
            return gradients[None], len(places)
        return gradients, 1
