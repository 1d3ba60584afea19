"""Figures of answers. They are drawn from the JSON form alone, so that a stored answer can be drawn at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, get_args

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.extras import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from epsilond.witness.drawings.style import Format

MEDIA_TYPES: Mapping[str, str] = {"png": "image/png", "svg": "image/svg+xml"}
"""The formats, and what each is served as."""


def draw(answer: JsonObject, file_format: Format) -> bytes:
    """The figure of an answer in its JSON form (`epsilond.as_json`), as a PNG or SVG file.

    The same answer gives the same bytes, by the same version of matplotlib.

    Raises:
        InvalidInput: the answer is of no kind that has a figure, or the format is another.
    """
    # matplotlib takes most of a second to import, and only figures need it.
    with extra("simulate", "a figure"):
        from epsilond.witness.drawings import style  # noqa: PLC0415

    kinds = _kinds()
    if answer.get("kind") not in kinds:
        raise InvalidInput.at("/kind", "has no figure", allowed=", ".join(kinds))
    if file_format not in get_args(style.Format):
        raise InvalidInput.at("/format", "is no format of figures", allowed=", ".join(get_args(style.Format)))
    with style.settings():
        return style.written(kinds[answer["kind"]](answer), file_format)


def _kinds() -> Mapping[str, Callable[[JsonObject], Figure]]:
    from epsilond.witness.drawings.audit import audit  # noqa: PLC0415
    from epsilond.witness.drawings.grid import grid  # noqa: PLC0415
    from epsilond.witness.drawings.membership import membership  # noqa: PLC0415
    from epsilond.witness.drawings.risk import risk  # noqa: PLC0415

    return {"risk": risk, "audit": audit, "membership": membership, "preset": grid}
