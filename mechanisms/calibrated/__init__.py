"""The mechanism by which a client or the server runs a calibrated algorithm, made from the calibration's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.calibrated.answer import Answer
from epsilond.mechanisms.calibrated.cancelled import CancelledRelease, cancelled_release
from epsilond.mechanisms.calibrated.gaussian import (
    GaussianRelease,
    client_mean,
    client_step,
    fixed_mean,
    plain_sum,
    server_sum,
)
from epsilond.mechanisms.calibrated.quantized import QuantizedRelease, quantized_release

CalibratedRelease = GaussianRelease | CancelledRelease | QuantizedRelease
BUILDERS: Mapping[str, Callable[[Answer], CalibratedRelease]] = {
    "mb-sgd": client_mean,
    "one-pass-accelerated-mb-sgd": client_mean,
    "accelerated-mb-sgd": client_mean,
    "shuffled-mb-sgd": client_mean,
    "qtdl": quantized_release,
    "norm-fedavg": quantized_release,
    "projected-sgd": client_step,
    "ppsgd": server_sum,
    "mu2-sgd": cancelled_release,
    "dp-fedavg": fixed_mean,
    "gaussian": plain_sum,
}
"""Builder of the release for each algorithm's name. A new algorithm needs one line."""


def from_calibration(
    answer: object, *, clipping_norm: float | None = None, group: int | None = None
) -> CalibratedRelease:
    """Build the release of a calibrated algorithm, to run on the caller's own arrays.

    A release is a mechanism with its guarantee. It clips or rounds contributions and adds noise. The guarantee is the
    one of the answer, unchanged. `left_open` of the release lists what the computation leaves open, such as the effect
    of floating point.

    Args:
        answer: a `Calibration`, or its JSON form.
        clipping_norm: bound C > 0 on the norm of one contribution. Required for `gaussian`: its answer contains no
            clipping norm. The answers of the other algorithms contain it or imply it.
        group: index from 0 in `parameters.groups`, if the answer has client groups.

    Returns:
        The release with the parameters of the answer.

    Raises:
        InvalidInput: the answer's algorithm is unknown; the answer lacks a parameter or contradicts itself; or
            `clipping_norm` is missing for `gaussian`, or given for another algorithm.
    """
    algorithm = Answer(answer).text("/algorithm")
    if algorithm not in BUILDERS:
        raise InvalidInput.at("/algorithm", f"{algorithm} has no mechanism here", allowed=", ".join(BUILDERS))
    if clipping_norm is not None and algorithm != "gaussian":
        raise InvalidInput.at("/clipping_norm", "follows from the answer", allowed="none")
    build_release = BUILDERS[algorithm]
    return build_release(Answer(answer, clipping_norm=clipping_norm, group=group))
