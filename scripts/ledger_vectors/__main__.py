"""Write the test vectors: python -m scripts.ledger_vectors [--check]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.ledger_vectors.vectors import vectors

FILE = Path(__file__).parents[2] / "docs/ledger-format/vectors.json"


def text() -> str:
    """Return the text of the file."""
    return json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the file, or with `--check` compare it with its new text."""
    if "--check" in sys.argv[1:]:
        return 0 if FILE.read_text(encoding="utf-8") == text() else 1
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
