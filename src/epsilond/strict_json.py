"""JSON on the command line, read as strictly as the service reads a body."""

from __future__ import annotations

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.calibrators import strict_json


def parse(text: str, *, at: str = "") -> object:
    """The value of a JSON text, without nulls.

    Raises:
        InvalidInput: the text is not JSON, or holds what the service refuses; pointers begin with `at`.
    """
    try:
        return strict_json.parse(text.encode("utf-8", "surrogatepass"), nulls=False)
    except strict_json.MalformedJson as error:
        raise InvalidInput.at(at, f"is not JSON: {error}") from None
    except InvalidInput as error:
        raise InvalidInput(*(Fault(at + it.pointer, it.message, it.allowed) for it in error.faults)) from None
