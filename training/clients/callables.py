"""Clients whose gradients are functions that people write: for any model and any loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.training.arrays import Floats, Indices, as_floats
from epsilond.training.clients.batches import Batch, Met
from epsilond.training.clients.clipping import clipped_rows

Returns = Literal["per-record", "means"]


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client: `gradient(model, places)` of its `records` ≥ 1, for a model (d,) and places 0, …, records − 1.

    `per-record`: it returns (len(places), d), a row for each record in the order asked for, and each row is clipped for
    it. `means`: it returns their mean (d,), and you declare that every record's gradient is within the bound: only the
    mean can be clipped. The array may be numpy's, or any that speaks DLPack.
    """

    gradient: Callable[[Floats, Indices], object]
    records: int
    returns: Returns = "per-record"


@dataclass(frozen=True)
class CallableClients:
    """Clients that are asked one after another."""

    each: Sequence[Client]
    dimension: int

    @property
    def sizes(self) -> Indices:
        """(N,)."""
        return np.asarray([one.records for one in self.each], dtype=np.int64)

    @property
    def means_only(self) -> bool:
        """Whether one does."""
        return any(one.returns == "means" for one in self.each)

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, Met]:
        """See `Gradients`.

        Raises:
            InvalidInput: a client returned something of another shape; the message has the shape alone.
        """
        summed, seen = np.zeros((len(batch.clients), self.dimension)), Met()
        for row, name in enumerate(batch.clients.tolist()):
            places = batch.own(row)
            if not len(places):
                continue
            model = np.array(models if models.ndim == 1 else models[row])
            gradients, factor = self._request_gradients(name, model, places)
            kept, told = clipped_rows(gradients, float(bounds[row]))
            summed[row] = factor * np.sum(kept, axis=0)
            seen = seen.and_of(told)
        return summed, seen

    def _request_gradients(self, name: int, model: Floats, places: Indices) -> tuple[Floats, int]:
        client = self.each[name]
        means = client.returns == "means"
        wanted = (self.dimension,) if means else (len(places), self.dimension)
        returned = client.gradient(model, np.array(places))
        found = as_floats(returned, pointer=f"/clients/{name}")
        if found.shape != wanted:
            raise InvalidInput.at(
                f"/clients/{name}", f"returned an array of shape {found.shape}", allowed=f"shape {wanted}"
            )
        return (found[None], len(places)) if means else (found, 1)
