"""The notebooks of examples/notebooks as pages: text, code, output and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.notebooks import FOLDER

Cell = Mapping[str, Any]


def pages() -> Iterator[tuple[str, str]]:
    """Yield path and text of each page."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        note = f"The notebook `examples/notebooks/{path.name}` as it was run; the tests run it again."
        yield f"notebooks/{path.stem}.md", "\n\n".join((*_parts(notebook["cells"]), note)) + "\n"


def _parts(cells: list[Cell]) -> Iterator[str]:
    """Yield the texts, the code and the outputs of the cells as Markdown."""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        else:
            yield f"```python\n{source}\n```"
            yield from (_output(output, cell) for output in cell["outputs"])


def _output(output: Cell, cell: Cell) -> str:
    """Return the printed text of a cell, or its picture with the description in the cell's metadata."""
    if "data" not in output:
        return f"```text\n{''.join(output['text'])}```"
    return f"![{cell['metadata']['alt']}](data:image/png;base64,{output['data']['image/png']})"
