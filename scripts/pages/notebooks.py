"""The notebooks of examples/notebooks as pages: text, code, what it prints, and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.notebooks import FOLDER

Cell = Mapping[str, Any]


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        said = f"The notebook `examples/notebooks/{path.name}` as it was run; the tests run it again."
        yield f"notebooks/{path.stem}.md", "\n\n".join((*_parts(notebook["cells"]), said)) + "\n"


def _parts(cells: list[Cell]) -> Iterator[str]:
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        else:
            yield f"```python\n{source}\n```"
            yield from (_shown(output, cell) for output in cell["outputs"])


def _shown(output: Cell, cell: Cell) -> str:
    """What a cell printed, or its picture, which the cell's metadata describe."""
    if "data" not in output:
        return f"```text\n{''.join(output['text'])}```"
    return f"![{cell['metadata']['alt']}](data:image/png;base64,{output['data']['image/png']})"
