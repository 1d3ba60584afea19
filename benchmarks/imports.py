"""What it costs to begin: `python -m benchmarks.imports` prints seconds of processor time, the least of five processes.

The bounds are those we hold ourselves to; a test says which modules may not be imported at all.
"""

from __future__ import annotations

import subprocess
import sys

FLOOR = "import numpy, scipy.special"
FIRST = """import epsilond
step = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
setting = dict(relation="add-or-remove-one", unit="record", observer="released-models")
epsilond.account(epsilond.Repeated(times=1000, mechanism=step), **setting, delta=1e-5)"""
VERSION = """import sys
from epsilond.cli import main
sys.argv = ["epsilond", "--version"]
try:
    main()
except SystemExit:
    pass"""
RUNS = 5


def seconds(program: str) -> float:
    """Processor time of a fresh process that runs the program, its start and end left out."""
    timed = f"import time\nbegun = time.process_time()\n{program}\nprint(time.process_time() - begun)"
    runs = (
        subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True) for _ in range(RUNS)
    )
    return min(float(run.stdout.split()[-1]) for run in runs)


def main() -> None:
    """Print the three figures beside their bounds."""
    floor = seconds(FLOOR)
    print(f"{FLOOR}: {floor:.2f} s")
    print(f"import epsilond: {seconds('import epsilond'):.2f} s, at most {floor + 0.3:.2f} s")
    print(f"the first certified ε in a process: {seconds(FIRST):.2f} s, at most 1.50 s")
    print(f"epsilond --version: {seconds(VERSION):.2f} s, at most 0.50 s")


if __name__ == "__main__":
    main()
