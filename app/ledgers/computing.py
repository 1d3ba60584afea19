"""What a worker does for the ledgers. It imports nothing but the mathematics that it is given."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from epsilond.app.workers.work import Answered


def pickled(call: Callable[[], object]) -> Answered:
    """What a call gives, for the process that asked."""
    return Answered(pickle.dumps(call(), pickle.HIGHEST_PROTOCOL))
