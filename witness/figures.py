"""Figures of answers, drawn from their JSON form only, so that a stored answer can be drawn at any time."""

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
"""Media type of each file format."""


def draw(answer: JsonObject, file_format: Format) -> bytes:
    """Draw the figure of a simulation's answer.

    The same answer gives the same bytes with the same version of matplotlib.

    Args:
        answer: the answer in its JSON form (`epsilond.as_json`).
        file_format: `png` or `svg`.

    Returns:
        The bytes of the file.

    Raises:
        InvalidInput: answers of this kind have no figure, or the format is unknown.
        MissingExtra: matplotlib is not installed.
    """
    # The import takes most of a second, and only figures need it.
    with extra("simulate", "a figure"):
        from epsilond.witness.drawings import style  # noqa: PLC0415

    drawers = _kinds()
    formats = get_args(style.Format)
    if answer.get("kind") not in drawers:
        raise InvalidInput.at("/kind", "has no figure", allowed=", ".join(drawers))
    if file_format not in formats:
        raise InvalidInput.at("/format", "is not a format of figures", allowed=", ".join(formats))
    draw_figure = drawers[answer["kind"]]
    with style.settings():
        return style.render(draw_figure(answer), file_format)


def _kinds() -> Mapping[str, Callable[[JsonObject], Figure]]:
    """Return the drawing function of each kind of answer. matplotlib is imported here, because its import is slow."""
    from epsilond.witness.drawings.audit import audit  # noqa: PLC0415
    from epsilond.witness.drawings.grid import grid  # noqa: PLC0415
    from epsilond.witness.drawings.membership import membership  # noqa: PLC0415
    from epsilond.witness.drawings.risk import risk  # noqa: PLC0415

    return {"risk": risk, "audit": audit, "membership": membership, "preset": grid}
