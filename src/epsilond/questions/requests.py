"""Questions of a caller: the name of an algorithm with fields, or a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.reading import read
from epsilond.spelling import choose_by_name


class _Answering(Protocol):
    """An algorithm that answers requests: a calibrator, or risk bounds.

    Attributes:
        name: name of the algorithm.
        problem: class of its requests.
    """

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> type: ...


A = TypeVar("A", bound=_Answering)


def read_question(source: Any, algorithms: Sequence[A], fields: JsonObject) -> tuple[A, Any]:
    """Return the algorithm that a caller chose, by its name or by a request object, and the complete request.

    Args:
        source: name of an algorithm, or an instance of the request class of one.
        algorithms: the algorithms to choose from.
        fields: fields of the request. They replace fields of `source`, if that is a request.

    Returns:
        The algorithm, and the request as an instance of its request class.

    Raises:
        InvalidInput: unknown algorithm or class of requests, or fields out of range.
    """
    if isinstance(source, str):
        chosen = choose_by_name(source, {item.name: item for item in algorithms}, at="/algorithm", noun="algorithm")
        return chosen, read(chosen.problem, fields)
    # A request object names its algorithm by its class.
    by_class = {item.problem: item for item in algorithms}
    if type(source) not in by_class:
        classes = ", ".join(problem.__name__ for problem in by_class)
        raise InvalidInput.at("/algorithm", "is neither the name of an algorithm nor a request", allowed=classes)
    return by_class[type(source)], replace(source, **fields)
