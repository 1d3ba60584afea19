"""What a worker process does: it reads computations from its wire and writes what came of them.

    service → worker   a pickled computation
    worker → service   READY once, as soon as it lives
                       BEGAN, then the pickled pair (outcome, seconds of processor time), for each computation

If the wire ends, so does the worker.
"""

from __future__ import annotations

import pickle
import time
import traceback
from functools import partial

from epsilond.app.workers.wire import Wire
from epsilond.app.workers.work import Answered, Failed, confine, end_with, outcome_of

READY = b"ready"
BEGAN = b"began"


def work(wire: Wire, forkserver: int, nicer: int, memory_megabytes: int) -> None:
    """Work until the wire ends. `forkserver` is the process id of the parent, which a worker does not outlive."""
    end_with(forkserver)
    confine(nicer, memory_megabytes)
    try:
        wire.send(READY)
        while True:
            message = wire.receive()
            wire.send(BEGAN)
            wire.send(answer_to(message))
            del message
    except (EOFError, OSError):
        return


def answer_to(message: bytes) -> bytes:
    """The pickled outcome of a pickled computation, and the processor time that it took in seconds."""
    before = time.process_time()
    outcome = outcome_of(partial(unpickled, message))
    try:
        return pickle.dumps((outcome, time.process_time() - before))
    except Exception:  # noqa: BLE001 (what cannot be sent is a fault of ours, as any other)
        return pickle.dumps((Failed(traceback.format_exc()), time.process_time() - before))


def unpickled(message: bytes) -> Answered:
    """Run the computation that the bytes hold."""
    computation = pickle.loads(message)  # noqa: S301 (from the service itself)
    answered: Answered = computation()
    return answered
