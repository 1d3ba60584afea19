"""Imported by the process that workers are forked from: the validators of all our own questions, ready to use."""

from __future__ import annotations

import scipy.optimize  # noqa: F401  searches import it when they first run, which takes a quarter of a second

from epsilond.accountants.theorems import THEOREMS
from epsilond.app.questions.readings import Readings
from epsilond.calibrators import CALIBRATORS

Readings(CALIBRATORS, THEOREMS, "epsilond.accountants.theorems").prepare()
