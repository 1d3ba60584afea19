"""Why a question takes more than half a second of CPU, one sentence for each kind that does."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "shuffled-mb-sgd": "two tables of some 250 certified rows, of each bound that may be least, and three compositions",
    "plan": "it calibrates every algorithm that applies, one after the other, some of them at several runs",
    "poisson gaussian, a step each": "each part has a transform of its own, and few steps lay nodes for many tilts",
    "poisson gaussian, 1000 steps in all": "each of the parts has a transform of its own at every node",
    "without replacement T": "few steps of rare large losses: the meaning lays nodes of its own at each rate",
    "without replacement: parts": "the contour engine tries each part's law in several ways before it refuses",
    "without replacement n=1e12": "losses so rare and many steps: the lattice is evaluated over lines of its support",
    "with replacement": "each of the alternatives is searched on a lattice of its own",
    "shuffled randomised response": "the joint law of two counts is enumerated, then surveyed on the lattice",
    "sampled shuffled": "the joint law of two counts is enumerated, then surveyed on the lattice",
    "composed of 100 different": "each of the parts has a transform of its own at every node",
    "composed of 1000 different": "each of the parts has a transform of its own at every node",
    "laplace: parts": "each part's lower law is laid on a lattice of its own, from the best of several tangents",
    "mb-sgd: records": "losses so rare that the answer's δ is worked out on lattices of half a million points",
    "composed of 30 kinds of laplace": "each part's lower law is laid on a lattice anew at each rate of the meaning",
}
"""By the beginning of a question's name; the longest that fits counts."""
UNKNOWN = "not looked into yet"


def reason(name: str) -> str:
    """The sentence of the kind that the name begins with."""
    fitting = [kind for kind in REASONS if name.startswith(kind)]
    return REASONS[max(fitting, key=len)] if fitting else UNKNOWN
