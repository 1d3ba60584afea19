"""Long computations of the kernel: other threads go on, signals end them, and threads may share a composition."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

LOG_DELTA, SLACK = math.log(1e-6), 1e-12
INTERRUPTED = """
import math, signal
from epsilond._kernel import Composition

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs in the background ignores it

def make(kinds):
    return Composition(tuple((0.001 + 1e-5 * kind, 1.0 + 1e-3 * kind, 0, 3.0) for kind in range(kinds)), 0.0, ())

composition = make(1000)
short = make(20)
before = short.epsilon(math.log(1e-6), 1e-12)
try:
    print("asks", flush=True)
    while True:
        composition.epsilon(math.log(1e-6), 1e-12)
        composition = make(1000)
except KeyboardInterrupt:
    assert short.epsilon(math.log(1e-6), 1e-12) == before
    print("ended", flush=True)
"""

HANDLED = """
import math, signal
from epsilond._kernel import Composition

seen = []

def handle(number, frame):
    seen.append(composition.log_delta(1.0))

signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
while None not in seen:
    composition = Composition(tuple((0.001 + 1e-5 * kind, 1.0 + 1e-3 * kind, 0, 3.0) for kind in range(400)), 0.0, ())
    composition.epsilon(math.log(1e-6), 1e-12)
signal.setitimer(signal.ITIMER_REAL, 0.0)
print("ended", flush=True)
"""


def different_steps(kinds: int, order: int = 0) -> tuple[tuple[float, float, int, float], ...]:
    """Return so many kinds of steps, no two alike."""
    return tuple((0.001 + 1e-5 * kind, 1.0 + 1e-3 * kind, order, 3.0) for kind in range(kinds))


@pytest.fixture
def make(module: ModuleType) -> Callable[[int], Any]:
    """Make a composition of so many kinds of steps."""
    return lambda kinds: module.Composition(different_steps(kinds), 0.0, ())


def test_threads_that_share_a_composition_get_the_answer_of_one(make: Callable[[int], Any]) -> None:
    places = [0.1 * step for step in range(1, 60)]
    alone, shared = make(30), make(30)
    expected = [alone.log_delta(place) for place in places]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(shared.log_delta, places)) == expected
        assert list(threads.map(shared.log_delta, reversed(places))) == expected[::-1]


def test_another_thread_goes_on_during_a_long_computation(make: Callable[[int], Any]) -> None:
    """The long computation ends only once the other thread has run."""
    composition, ran = make(1000), threading.Event()
    started = threading.Event()

    def run() -> None:
        started.wait()
        ran.set()

    other = threading.Thread(target=run)
    other.start()
    seen: list[bool] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)  # a thread that holds the interpreter keeps it, unless it gives it up
    try:
        started.set()
        composition.epsilon(LOG_DELTA, SLACK)
        seen.append(ran.is_set())
    finally:
        sys.setswitchinterval(before)
    other.join()
    assert seen == [True]


def interrupt(program: str, *arguments: str) -> None:
    """Send SIGINT to a program once it asks, and wait until it says that it has ended."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asks\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "ended\n"
    assert process.returncode == 0


@pytest.mark.usefixtures("module")
def test_a_signal_ends_a_long_computation_and_the_next_one_is_right() -> None:
    interrupt(INTERRUPTED)


INTERRUPTED_QUESTION = """
import math, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts jobs in the background ignores it
from epsilond._kernel import Composition

QUESTIONS = {
    "epsilon": lambda asked: asked.epsilon(math.log(1e-6), 1e-12),
    "log_delta": lambda asked: asked.log_delta(1.0),
    "upper_log_delta": lambda asked: asked.upper_log_delta(1.0),
    "threshold": lambda asked: asked.threshold(math.log(1e-3)),
    "best_tests": lambda asked: asked.best_tests((1e-3, 1e-2), 0.0),
    "upper_log_deltas": lambda asked: asked.upper_log_deltas((1.0, 1.5)),
}
ask = QUESTIONS[sys.argv[1]]

def make():
    return Composition(tuple((0.001 + 1e-5 * kind, 1.0 + 1e-3 * kind, 0, 3.0) for kind in range(300)), 0.0, ())

composition = make()
expected = ask(composition)
try:
    print("asks", flush=True)
    while True:
        composition = make()
        ask(composition)
except KeyboardInterrupt:
    assert ask(composition) == expected
    print("ended", flush=True)
"""


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    "question", ["epsilon", "log_delta", "upper_log_delta", "threshold", "best_tests", "upper_log_deltas"]
)
def test_an_interrupted_composition_answers_as_before(question: str) -> None:
    """Nothing that an interruption left half-made is kept, and no other exception than the signal's is raised."""
    interrupt(INTERRUPTED_QUESTION, question)


@pytest.mark.usefixtures("module")
def test_a_handler_of_signals_that_asks_what_it_interrupts_is_sent_to_python() -> None:
    """The composition is at work, and its thread cannot wait for itself: the kernel answers None."""
    ran = subprocess.run([sys.executable, "-c", HANDLED], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "ended\n"), ran.stderr
