"""Certify the ε of the history of an Opacus accountant.

It reads `privacy_engine.accountant.state_dict()`, saved as JSON after training. Opacus is not needed:

python examples/opacus_history.py [accountant.json] [delta]

Without a file it takes the history of a run with less noise in its last steps.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import epsilond

HISTORY = [(1.1, 0.01, 3000), (0.9, 0.01, 500)]
"""Noise multiplier, sample rate, steps: as in `accountant.history`."""


def main(arguments: list[str]) -> None:
    """Print the enclosure of ε at δ, and the theorems that prove it."""
    history = json.loads(Path(arguments[0]).read_text(encoding="utf-8")) if arguments else HISTORY
    delta = float(arguments[1]) if len(arguments) > 1 else 1e-5
    run = epsilond.spec_from_opacus_history(history)
    # Opacus draws each record independently, and its neighbours differ by one record more or less.
    account = epsilond.account(run, relation="add-or-remove-one", unit="record", observer="released-models")
    lower, upper = account.guarantee.curve.epsilon(delta=delta)
    print(f"at δ = {delta:g} the true ε lies within [{lower:.9f}, {upper:.9f}]")
    theorems = dict.fromkeys(step.theorem for step in reversed(account.derivation))
    print(f"proved by {', '.join(theorems)}")


if __name__ == "__main__":
    main(sys.argv[1:])
