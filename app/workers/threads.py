"""How many threads libraries of linear algebra use."""

from collections.abc import Mapping
from typing import Final

ONE_THREAD: Final[Mapping[str, str]] = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment of a process whose libraries use one thread; they read it when they are imported.

Workers share the cores among themselves, and the order of a sum must not depend on the number of cores."""
