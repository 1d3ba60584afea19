"""The OpenAPI document and the examples, generated from the lists.

python -m epsilond.app.openapi            write openapi/openapi.json and openapi/examples/*.json
python -m epsilond.app.openapi --check    compare; where they differ, print the difference and exit with 1
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from fastapi import FastAPI

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.app.document import document
from epsilond.app.main import create_app

HERE = Path(__file__).resolve().parent.parent / "openapi"


def examples(app: FastAPI) -> Iterator[tuple[str, JsonRecord]]:
    """Yield each example request in the OpenAPI document of an application.

    Yields:
        The id of the operation, with a number from its second example on; and the request as an object with the members
        `method`, `path` and `body`.
    """
    for path, operations in document(app)["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for number, example in enumerate(content.get("examples", {}).values(), start=1):
                name = operation["operationId"] if number == 1 else f"{operation['operationId']}_{number}"
                yield name, {"method": method.upper(), "path": fill_path(path, operation), "body": example["value"]}


def fill_path(path: str, operation: JsonObject) -> str:
    """Return a path template in which the first example of each path parameter replaces the parameter."""
    for parameter in operation.get("parameters", ()):
        if parameter.get("in") == "path":
            path = path.replace(f"{{{parameter['name']}}}", parameter["schema"]["examples"][0])
    return path


def texts(app: FastAPI) -> Mapping[Path, str]:
    """Return the text of every generated file by its path, relative to the folder of generated files."""
    files = {Path("openapi.json"): _render_by_lines(document(app))}
    for name, example in examples(app):
        files[Path("examples") / f"{name}.json"] = json.dumps(example, indent=2, ensure_ascii=False) + "\n"
    return files


def _render_by_lines(document: JsonObject) -> str:
    """Return the OpenAPI document as JSON with one line per operation and schema, so that diffs are short."""
    texts = {}
    for name, member in document.items():
        # These two members hold the operations and the schemas, grouped by path and by kind.
        if name in ("paths", "components"):
            groups = {group: _lines(_compact_members(members), depth=2) for group, members in member.items()}
            texts[name] = _lines(groups, depth=1)
        else:
            texts[name] = _compact(member)
    return _lines(texts, depth=0) + "\n"


def _compact_members(members: JsonObject) -> dict[str, str]:
    """Return the members of an object, each as JSON in one line."""
    return {name: _compact(member) for name, member in members.items()}


def _lines(members: Mapping[str, str], *, depth: int) -> str:
    """Return a JSON object with each member on a line of its own.

    Args:
        members: JSON texts of the members by name.
        depth: number of spaces before the closing brace; members have one space more.

    Returns:
        The JSON text of the object, without a line break at its end.
    """
    texts = (f"{_compact(name)}: {member}" for name, member in members.items())
    before = "\n" + " " * (depth + 1)
    return "{" + before + ("," + before).join(texts) + "\n" + " " * depth + "}"


def _compact(value: object) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def differences(text_by_path: Mapping[Path, str], root: Path) -> list[str]:
    """Return the differences between the JSON files under `root` and the generated texts.

    Args:
        text_by_path: text of each generated file by its path relative to `root`.
        root: folder of the present files.

    Returns:
        The lines of unified diffs; empty if there are no differences.
    """
    present = {path.relative_to(root): path.read_text() for path in sorted(root.rglob("*.json"))}
    lines: list[str] = []
    for path in sorted(text_by_path.keys() | present.keys()):
        # A file that is missing on one side counts as empty.
        old = present.get(path, "")
        new = text_by_path.get(path, "")
        lines += difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"{path} as committed", f"{path} as generated", lineterm="", n=2
        )
    return lines


def write(text_by_path: Mapping[Path, str], root: Path) -> None:
    """Write the generated texts under `root`, and remove JSON files that are no longer generated.

    Args:
        text_by_path: text of each file by its path relative to `root`.
        root: folder of the files. Missing folders in it are created.
    """
    for path in root.rglob("*.json"):
        if path.relative_to(root) not in text_by_path:
            path.unlink()
    for path, text in text_by_path.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def main(arguments: list[str] | None = None) -> int:
    """Write the files of the OpenAPI document, or check that they are up to date, and return the exit code.

    The committed files let a reviewer see every change of the HTTP interface.

    Args:
        arguments: arguments of the command line; None reads those of the process.

    Returns:
        1 if `--check` is given and a file differs from the generated one, otherwise 0.
    """
    parser = argparse.ArgumentParser(
        prog="python -m epsilond.app.openapi", description="Generate the OpenAPI document."
    )
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    chosen = parser.parse_args(arguments)

    text_by_path = texts(create_app())
    if not chosen.check:
        write(text_by_path, HERE)
        return 0
    changes = differences(text_by_path, HERE)
    if changes:
        sys.stdout.write("\n".join([*changes, "", "Run python -m epsilond.app.openapi and commit the result.", ""]))
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
