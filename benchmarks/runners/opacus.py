"""Opacus' PRV accountant: ε within 0.01 and δ within δ/1000, its defaults.

Only the accountants are installed, without torch: stand-ins replace the package's `__init__` and the optimizer class,
which the accountants need for an annotation.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from importlib.metadata import version

from benchmarks.measuring import NotOffered
from benchmarks.runners.serving import Answer, Question, require_gaussians, serve

KIND = "prv"


def stand_in_for_torch() -> None:
    """Make `opacus.accountants` importable where torch is not installed."""
    specification = importlib.util.find_spec("opacus")
    assert specification is not None
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = list(specification.submodule_search_locations or ())
    optimizers.DPOptimizer = object  # type: ignore[attr-defined]
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})


def answer(question: Question) -> Answer:
    """Return ε, or the noise multiplier by the library's own search, to its default of 0.01 in ε."""
    from opacus.accountants import create_accountant
    from opacus.accountants.utils import get_noise_multiplier

    require_gaussians(question)
    if question.wanted == "delta":
        raise NotOffered("answers ε(δ) only")
    if question.wanted == "noise_multiplier":
        (part,) = question.parts
        target = {"target_epsilon": question.epsilon, "target_delta": question.delta}
        return Answer(get_noise_multiplier(**target, sample_rate=part.rate, steps=part.times, accountant=KIND))
    accountant = create_accountant(KIND)
    accountant.history = [(part.noise, part.rate, part.times) for part in question.parts]
    return Answer(accountant.get_epsilon(question.delta))


if __name__ == "__main__":
    stand_in_for_torch()
    importlib.import_module("opacus.accountants.utils")  # before the forks
    serve(answer, version("opacus"))
