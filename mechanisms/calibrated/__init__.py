"""From a calibration's answer to what its algorithm releases: the client's and the server's side of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.calibrated.answer import Answer
from epsilond.mechanisms.calibrated.cancelled import CancelledRelease, cancelled
from epsilond.mechanisms.calibrated.gaussian import (
    GaussianRelease,
    averaged,
    by_client,
    by_server,
    of_gaussian,
    projected,
)
from epsilond.mechanisms.calibrated.quantized import QuantizedRelease, quantized

CalibratedRelease = GaussianRelease | CancelledRelease | QuantizedRelease
BUILDERS: Mapping[str, Callable[[Answer], CalibratedRelease]] = {
    "mb-sgd": by_client,
    "one-pass-accelerated-mb-sgd": by_client,
    "accelerated-mb-sgd": by_client,
    "shuffled-mb-sgd": by_client,
    "qtdl": quantized,
    "norm-fedavg": quantized,
    "projected-sgd": projected,
    "ppsgd": by_server,
    "mu2-sgd": cancelled,
    "dp-fedavg": averaged,
    "gaussian": of_gaussian,
}
"""By the name of the algorithm: a new one is a line here."""


def from_calibration(
    answer: object, *, clipping_norm: float | None = None, group: int | None = None
) -> CalibratedRelease:
    """What a calibration's algorithm releases, to be run on a user's own arrays.

    `answer` is a `Calibration` or its JSON form. `clipping_norm` is the bound C on one contribution's norm where the
    answer holds none: of `gaussian` alone. `group` is the place, from 0, in `parameters.groups` where client groups
    differ. The guarantee is the answer's own, unchanged; what floating point leaves open of it is in `left_open`.

    Raises:
        InvalidInput: the answer is of no algorithm that is known, lacks what is run, or contradicts itself.
    """
    algorithm = Answer(answer).text("/algorithm")
    if algorithm not in BUILDERS:
        raise InvalidInput.at("/algorithm", f"{algorithm} has no mechanism here", allowed=", ".join(BUILDERS))
    return BUILDERS[algorithm](Answer(answer, clipping_norm=clipping_norm, group=group))
