"""Ask the installed package one question, of an engine: `python scripts/wheel_answers.py kernel`, or `python`.

It fails if another engine answers, or wrongly: the check of each wheel that cibuildwheel builds.
"""

from __future__ import annotations

import sys

import epsilond

KNOWN = 2.12451517112012
"""ε of 1,000 steps at rate 0.01 and noise multiplier 1, at δ = 10^−6 (tests/golden/accounting.json)."""


def main(engine: str) -> None:
    """Check that an installed wheel answers by the expected engine, and that its ε is right.

    Args:
        engine: expected suffix of the engine's version.

    Raises:
        SystemExit: the engine or ε is another one.
    """
    step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
    steps = epsilond.Repeated(times=1000, mechanism=step)
    answer = epsilond.account(steps, relation="add-or-remove-one", unit="record", observer="server")
    lower, upper = answer.guarantee.curve.epsilon(delta=1e-6)
    print(f"{answer.engine_version}: {lower} <= epsilon <= {upper}")
    if not answer.engine_version.endswith(f"+{engine}"):
        sys.exit(f"the engine is not {engine}")
    # Rounding may move both bounds slightly.
    if not lower * (1.0 - 1e-12) <= KNOWN <= upper * (1.0 + 1e-12):
        sys.exit("epsilon is another one")


if __name__ == "__main__":
    main(*sys.argv[1:])
