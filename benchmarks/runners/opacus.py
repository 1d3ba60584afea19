"""Opacus' accountants: PRV (ε within 0.01, δ within δ/1000), Rényi, and the central limit approximation (GDP).

Only the accountants are installed, without torch: their package's own `__init__` and the optimizer class, which they
need for an annotation alone, are stood in for.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from benchmarks.runners.loop import Answer, NotOffered, Question, gaussians_only, serve


def without_torch() -> None:
    """Make `opacus.accountants` importable where torch is not installed."""
    found = importlib.util.find_spec("opacus")
    assert found is not None
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = list(found.submodule_search_locations or ())
    optimizers.DPOptimizer = object  # type: ignore[attr-defined]
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})


def with_accountant(kind: str) -> Callable[[Question], Answer]:
    """ε and the noise multiplier (by its own search, to its default of 0.01 in ε) with one kind of accountant."""
    from opacus.accountants import create_accountant
    from opacus.accountants.utils import get_noise_multiplier

    def answer(question: Question) -> Answer:
        gaussians_only(question)
        if question.asked == "delta":
            raise NotOffered("answers ε(δ) only")
        if question.asked == "noise_multiplier":
            (part,) = question.parts
            asked: dict[str, Any] = {"target_epsilon": question.epsilon, "target_delta": question.delta}
            return Answer(get_noise_multiplier(**asked, sample_rate=part.rate, steps=part.times, accountant=kind))
        if kind == "gdp" and len(question.parts) > 1:
            raise NotOffered("one noise multiplier and rate only")
        accountant = create_accountant(kind)
        accountant.history = [(part.noise, part.rate, part.times) for part in question.parts]
        return Answer(accountant.get_epsilon(question.delta))

    return answer


if __name__ == "__main__":
    without_torch()
    kinds = {"Opacus PRV": "prv", "Opacus RDP": "rdp", "Opacus GDP": "gdp"}
    serve({name: with_accountant(kind) for name, kind in kinds.items()}, version("opacus"))
