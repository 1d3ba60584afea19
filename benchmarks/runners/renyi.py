"""Rényi divergences of 1000 steps, and ε from them: python -m benchmarks.runners.renyi NAME, in its environment.

The last line of the output has the CPU seconds of each question, by name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.measuring import CHANGE, measure

DELTA, STEPS = 1e-5, 1000
LARGE_ORDERS = [float(a) for a in range(11, 64)] + [128.0, 256.0, 512.0, 1024.0]
ORDERS = [1.0 + tenth / 10.0 for tenth in range(1, 100)] + LARGE_ORDERS
"""The orders of dp-accounting's RdpAccountant by default."""
RUNS = {"noise 1, rate 0.01": (1.0, 0.01), "noise 5, rate 0.001": (5.0, 0.001), "noise 1, rate 1": (1.0, 1.0)}
RUNS |= {"noise 0.3, rate 0.01": (0.3, 0.01), "noise 0.1, rate 0.01": (0.1, 0.01)}
"""Noise multipliers and inclusion probabilities."""
KINDS = {
    "divergences at 156 orders": ORDERS,
    "divergences at orders 2 to 64": [float(a) for a in range(2, 65)],
    "divergence at order 8": [8.0],
    "divergence at order 2.5": [2.5],
    "ε": ORDERS,
}


def ask_dp_accounting(noise: float, rate: float, orders: list[float], *, epsilon: bool) -> Any:
    """Compute Rényi divergences of a run of subsampled Gaussian mechanisms, or ε from them, by dp-accounting.

    Args:
        noise: noise multiplier.
        rate: inclusion probability of a record, in (0, 1].
        orders: Rényi orders.
        epsilon: whether ε is requested, and not the divergences.

    Returns:
        ε at `DELTA`, or the accountant with the divergences.
    """
    import dp_accounting as dp
    from dp_accounting.rdp import RdpAccountant

    release = dp.GaussianDpEvent(noise)
    step = release if rate == 1.0 else dp.PoissonSampledDpEvent(rate, release)
    accountant = RdpAccountant(orders).compose(step, STEPS)
    return accountant.get_epsilon(DELTA) if epsilon else accountant


def ask_epsilond(noise: float, rate: float, orders: list[float], *, epsilon: bool) -> Any:
    """Compute Rényi divergences of a run of subsampled Gaussian mechanisms, or ε, by epsilond.

    Its ε does not come from the divergences.

    Args:
        noise: noise multiplier.
        rate: inclusion probability of a record, in (0, 1].
        orders: Rényi orders.
        epsilon: whether ε is requested, and not the divergences.

    Returns:
        Bounds on ε at `DELTA`, or the divergences.
    """
    import epsilond
    from epsilond.accountants.attackers.renyi import renyi_divergences

    release = epsilond.Gaussian(noise_multiplier=noise)
    step = release if rate == 1.0 else epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=release)
    run = epsilond.Repeated(times=STEPS, mechanism=step)
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    curve = epsilond.account(run, **setting).guarantee.curve
    return curve.epsilon(delta=DELTA) if epsilon else renyi_divergences(curve.natural, orders)


def main() -> None:
    """Measure the CPU time of each question by the library that the command line names, and print it as JSON."""
    answer: Callable[..., Any] = {"epsilond": ask_epsilond, "dp_accounting": ask_dp_accounting}[sys.argv[1]]
    # The first answer pays for imports, so that it is not measured.
    answer(1.1, 0.02, [2.0, 2.5], epsilon=True)
    results = {}
    for run, (noise, rate) in RUNS.items():
        for kind, orders in KINDS.items():

            def ask(
                place: int,
                noise: float = noise,
                rate: float = rate,
                orders: list[float] = orders,
                epsilon: bool = kind == "ε",
            ) -> Any:
                """Ask for a noise that no earlier call had, so that nothing comes from a cache.

                Args:
                    place: number of the call.
                    noise: noise multiplier of the first call.
                    rate: inclusion probability of a record.
                    orders: Rényi orders.
                    epsilon: whether ε is requested, and not the divergences.

                Returns:
                    The answer, which is not read.
                """
                return answer(noise * (1.0 + place * CHANGE), rate, orders, epsilon=epsilon)

            results[f"{run}: {kind}"] = measure(ask)["cpu"]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
