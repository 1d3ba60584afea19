"""Certify what an Opacus accountant has recorded.

After training, `privacy_engine.accountant.state_dict()` saved as JSON is all this needs; Opacus itself it does not:

python examples/opacus_history.py [accountant.json] [delta]

Without a file it takes the history of a run whose noise was lowered for its last steps.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import epsilond

HISTORY = [(1.1, 0.01, 3000), (0.9, 0.01, 500)]
"""Noise multiplier, sample rate, steps: as in `accountant.history`."""


def main(arguments: list[str]) -> None:
    """Print ε at δ, and what a claimed ε would have to be."""
    history = json.loads(Path(arguments[0]).read_text(encoding="utf-8")) if arguments else HISTORY
    delta = float(arguments[1]) if len(arguments) > 1 else 1e-5
    run = epsilond.spec_from_opacus_history(history)
    # Opacus draws each record by itself and its neighbours differ by one record more or less.
    account = epsilond.account(run, relation="add-or-remove-one", unit="record", observer="released-models")
    lower, upper = account.guarantee.curve.epsilon(delta=delta)
    print(f"at δ = {delta:g} the true ε lies within [{lower:.9f}, {upper:.9f}]")
    theorems = dict.fromkeys(step.theorem for step in reversed(account.derivation))
    print(f"proved by {', '.join(theorems)}")


if __name__ == "__main__":
    main(sys.argv[1:])
