"""riskcal's black-box search with an accountant: python -m benchmarks.runners.riskcal NAME SECONDS, in its environment.

The last line of the output is the result of `measure_isolated` with the noise multiplier and the number of questions.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import epsilond
from benchmarks.measuring import measure_isolated

RATE, STEPS, FALSE_POSITIVES, FALSE_NEGATIVES = 0.01, 100, 0.1, 0.3
MEGABYTES = 8000
SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}


class Epsilond:
    """Our accountant with the methods of an accountant of Opacus, which riskcal calls.

    Attributes:
        questions: number of calls of `get_epsilon` by all objects.
    """

    questions = 0

    def __init__(self) -> None:
        """Start without steps."""
        self._times: Counter[tuple[float, float]] = Counter()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Add one step.

        Args:
            noise_multiplier: noise multiplier of the step.
            sample_rate: inclusion probability of the step.
        """
        self._times[noise_multiplier, sample_rate] += 1

    def get_epsilon(self, *, delta: float) -> float:
        """Return a certified upper bound on the ε of all added steps at a δ.

        Args:
            delta: δ, in (0, 1).

        Returns:
            The bound, in nats.
        """
        Epsilond.questions += 1
        runs = []
        for (noise, rate), times in self._times.items():
            release = epsilond.Gaussian(noise_multiplier=noise)
            step = epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=release)
            runs.append(epsilond.Repeated(times=times, mechanism=step))
        spec = runs[0] if len(runs) == 1 else epsilond.Composed(mechanisms=tuple(runs))
        return float(epsilond.account(spec, **SETTING).guarantee.curve.epsilon(delta=delta).upper)


def main() -> None:
    """Measure one search for the noise by riskcal, with the accountant that the command line names; print JSON."""
    from riskcal.accountants import CTDAccountant
    from riskcal.calibration.blackbox import find_noise_multiplier_for_err_rates

    accountant = {"epsilond": Epsilond, "riskcal": CTDAccountant}[sys.argv[1]]
    if accountant is Epsilond:
        epsilond.account(epsilond.Gaussian(noise_multiplier=1.0), **SETTING).guarantee.curve.epsilon(delta=0.1)

    def ask(place: int) -> Any:
        """Search for the noise."""
        del place
        return find_noise_multiplier_for_err_rates(
            accountant, alpha=FALSE_POSITIVES, beta=FALSE_NEGATIVES, sample_rate=RATE, num_steps=STEPS
        )

    def finish(answer: Any) -> dict[str, float]:
        """Return the noise multiplier and the number of questions."""
        return {"noise_multiplier": float(answer.noise_multiplier), "questions": Epsilond.questions}

    print(json.dumps(measure_isolated(ask, finish, seconds=int(sys.argv[2]), megabytes=MEGABYTES)))


if __name__ == "__main__":
    main()
