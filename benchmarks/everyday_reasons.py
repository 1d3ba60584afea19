"""Why a question takes more than half a second of CPU, one sentence for each kind that does."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "shuffled-mb-sgd": "two tables of some 250 certified rows, of each bound that may be least, and three compositions",
    "norm-fedavg": "integer levels leave δ below its target, so that both ends of ε are searched at each point",
    "plan": "it calibrates every algorithm that applies, one after the other, some of them at several runs",
    "without replacement: parts": "the laws of each part are read, and transformed, one part after the other",
    "without replacement n=1e12": "losses so rare that each true positive rate is read on long transforms of its own",
    "without replacement z=0.3": "the first two transforms sum over a hundred thousand frequencies",
    "poisson gaussian q=1e-9": "losses so rare that each true positive rate is read on long transforms of its own",
    "with replacement, 100 different": "a hundred laws are read and transformed one by one, at several bands of tilts",
    "with replacement, K > n": "the advantage is read at ε = 0, where 1 − δ asks for half a million points",
    "shuffled randomised response, 10 different": "ten tables of certified rows, twenty enumerations",
    "shuffled gaussian, 10 different": "ten tables of certified rows, whose laws are composed on the lattice",
    "composed of 1000 different": "each of the parts has a transform of its own at every node",
    "poisson laplace, 100 different": "a hundred lower laws are formed and transformed one by one",
    "poisson discrete laplace T=1e9": "atoms lie off the lattice, which so many rounds magnify: the search tries many",
    "projected_sgd, 10 different": "ten convex tables of some 400 ε each, of which every row is a bound of its own",
    "mb-sgd, a batch of one record, ε = 500": "losses spread over thousands of nats: long transforms",
    "mb-sgd: records": "losses so rare that δ is worked out on transforms of hundreds of thousands of points",
    "dp-fedavg, one participant": "rare large losses: each trial of a noise is four transforms of a lattice",
}
"""By the beginning of a question's name; the longest that fits counts."""
UNKNOWN = "not looked into yet"


def reason(name: str) -> str:
    """The sentence of the kind that the name begins with."""
    fitting = [kind for kind in REASONS if name.startswith(kind)]
    return REASONS[max(fitting, key=len)] if fitting else UNKNOWN
