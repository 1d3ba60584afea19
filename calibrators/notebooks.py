"""The form of an answer in a notebook: a table of its figures, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from epsilond.calibrators.serving.json_form import as_json

PARTS = ("algorithm", "parameters", "in_words", "epsilon", "delta", "log10_delta", "claim", "risk", "upper", "lower")
"""Parts of an answer and of its guarantee that are shown, in this order; warnings come last."""
OF_A_BOUND = ("theorem", "reading", "value", "scale", "constant")
"""Members of a bound that are shown; its conditions are left out."""


class ShownInNotebooks:
    """An answer with a short form in HTML."""

    def _repr_html_(self) -> str:
        body = as_json(self)
        members = body | body.get("guarantee", {})
        shown = {name: members[name] for name in PARTS if name in members}
        shown |= {"mind": [warning["message"] for warning in body.get("warnings", ())]}
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in flatten_fields(shown, "")
        )
        return f"<table>{cells}</table>"


def flatten_fields(value: object, name: str) -> Iterator[tuple[str, str]]:
    """Yield the rows of a table of a JSON value: dotted names of its fields, each with its value as text.

    A number with a lower and an upper bound is one row, and so is the bound of a theorem.

    Args:
        value: the JSON value, or a part of it.
        name: dotted name of this part; empty for the whole.
    """
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from flatten_fields(item, f"{name} {place + 1}" if len(value) > 1 else name)
    elif not isinstance(value, Mapping):
        yield name, str(value)
    elif value.keys() == {"lower", "upper"} and not any(isinstance(end, Mapping) for end in value.values()):
        yield name, f"[{value['lower']}, {value['upper']}]"
    elif "theorem" in value:
        yield name, ", ".join(str(value[part]) for part in OF_A_BOUND if part in value)
    else:
        for inner, item in value.items():
            yield from flatten_fields(item, f"{name}.{inner}" if name else inner)
