"""Bounds on the excess risk of a run."""

from __future__ import annotations

from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.questions.requests import read_question


def bound_risk(algorithm: object, /, **fields: object) -> RiskBoundsAnswer:
    """Return upper and lower bounds on the excess risk of a run of `algorithm`.

    Args:
        algorithm: name of an algorithm, or a request, one of `epsilond.requests`.
        **fields: fields of the HTTP body and of the command line. They replace fields of a request.

    Returns:
        The bounds, each with its theorem. A bound with a hidden constant is known only up to this constant.

    Example:
        >>> import epsilond
        >>> answer = epsilond.bound_risk(
        ...     "mb-sgd", epsilon=1.0, delta=1e-5, samples_per_client=1000, clients=10, dimension=100,
        ...     lipschitz=1.0, diameter=1.0, smoothness=1.0, rounds=50, batch_size=100, noise_std=0.01,
        ...     relation="replace-one", unit="record", observer="server",
        ... )
        >>> [bound.constant for bound in answer.upper], answer.lower[0].theorem
        (['explicit', 'explicit', 'explicit', 'hidden'], 'lowy.3.1')

    Raises:
        InvalidInput: unknown algorithm, or fields out of range; every fault has a JSON pointer.
        NoCertificate: no noise was given, and none can be certified.
    """
    chosen, problem = read_question(algorithm, RISK_BOUNDS, fields)
    return chosen.solve(problem)
