"""JSON on the command line, read as strictly as the service reads a body."""

from __future__ import annotations

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.calibrators import strict_json


def parse(text: str, *, at: str = "") -> object:
    """Parse a JSON text as strictly as the service does. Members of objects that are null are rejected too.

    Args:
        text: the JSON text of an option or a file.
        at: JSON pointer of the text, for errors.

    Returns:
        The value: a dictionary, list, text, number or truth value. None for a null that is no member of an object.

    Raises:
        InvalidInput: the text is not JSON, or has a value that the service rejects; pointers begin with `at`.
    """
    try:
        return strict_json.parse(text.encode("utf-8", "surrogatepass"), nulls=False)
    except strict_json.MalformedJson as error:
        raise InvalidInput.at(at, f"is not JSON: {error}") from None
    except InvalidInput as error:
        faults = [Fault(at + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None
