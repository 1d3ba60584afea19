"""The form of an answer in a notebook: a table of its figures, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from epsilond.calibrators.serving.json_form import as_json

PARTS = ("algorithm", "parameters", "in_words", "epsilon", "delta", "log10_delta", "claim", "risk", "upper", "lower")
"""Parts of an answer and of its guarantee that are displayed, in this order; warnings come last."""
BOUND_MEMBERS = ("theorem", "reading", "value", "scale", "constant")
"""Members of a bound that are displayed; its conditions are left out."""


class ShownInNotebooks:
    """Base class of answers that notebooks display as a short HTML table."""

    def _repr_html_(self) -> str:
        """Return an HTML table of the answer's main fields and its warnings, which Jupyter displays.

        It has one row per field. All texts are escaped.
        """
        answer = as_json(self)
        fields = answer | answer.get("guarantee", {})
        displayed = {name: fields[name] for name in PARTS if name in fields}
        displayed["mind"] = [warning["message"] for warning in answer.get("warnings", ())]
        rows = [
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in flatten_fields(displayed, "")
        ]
        return f"<table>{''.join(rows)}</table>"


def flatten_fields(value: object, name: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of all fields of a JSON value, as texts, for the rows of a table.

    The name of a nested field is written with dots. The items of a list are numbered from 1, unless there is only one.
    Two kinds of objects become a single row: an interval with numbers as its lower and upper bound, and the bound that
    a theorem gives.

    Args:
        value: the JSON value, or a part of it.
        name: dotted name of this part; empty for the whole.

    Yields:
        Pairs of a name and a text, in the order of the fields.
    """
    if isinstance(value, list):
        has_several = len(value) > 1
        for number, item in enumerate(value, start=1):
            yield from flatten_fields(item, f"{name} {number}" if has_several else name)
    elif not isinstance(value, Mapping):
        yield name, str(value)
    elif value.keys() == {"lower", "upper"} and not any(isinstance(bound, Mapping) for bound in value.values()):
        yield name, f"[{value['lower']}, {value['upper']}]"
    elif "theorem" in value:
        yield name, ", ".join(str(value[part]) for part in BOUND_MEMBERS if part in value)
    else:
        for inner_name, item in value.items():
            yield from flatten_fields(item, f"{name}.{inner_name}" if name else inner_name)
