"""Print what `measure_answer` returns for a few accountants, as JSON.

This is a program, not a part of the tests' process: a fork of a process with several threads may wait forever.
"""

import json
import math

from benchmarks.measuring import NotOffered
from benchmarks.runners.serving import Answer, Question, measure_answer

QUESTION = Question("epsilon", [], 1.0, 1e-6)


def raises(error):
    def accountant(_):
        raise error

    return accountant


def for_ever(_):
    while True:
        pass


ACCOUNTANTS = {
    "interval": (lambda question: Answer(question.delta, 0.0, math.inf), 60),
    "interval afterwards": (lambda _: Answer(1.0, interval=lambda: (0.5, 1.5)), 60),
    "large": (lambda _: Answer(float(len(b"x" * 200_000_000))), 60),
    "error": (raises(ValueError("too small\nsecond line")), 2),
    "no such query": (raises(NotOffered("answers ε(δ) only")), 2),
    "memory": (lambda _: Answer(float(len(bytearray(5_000_000_000)))), 2),
    "time": (for_ever, 2),
}

if __name__ == "__main__":
    results = {
        name: measure_answer(accountant, QUESTION, seconds=seconds, megabytes=4000)
        for name, (accountant, seconds) in ACCOUNTANTS.items()
    }
    print(json.dumps(results))
