"""What a worker does for the ledgers. It imports nothing but the mathematics that it is given."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from epsilond.app.workers.work import RenderedAnswer


def pickled(call: Callable[[], object]) -> RenderedAnswer:
    """What a call gives, for the process that asked."""
    return RenderedAnswer(pickle.dumps(call(), pickle.HIGHEST_PROTOCOL))
