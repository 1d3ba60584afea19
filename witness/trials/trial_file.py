"""A file of finished blocks, from which an interrupted experiment goes on.

The file has one JSON value in each line: the experiment first, then one finished block in each line. A last line that
an interruption cut off is ignored.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import as_json
from epsilond.witness.kind import Prepared
from epsilond.witness.presets import PresetSimulation, find_preset
from epsilond.witness.trials.trials import PreparedTrials, TrialResult


class TrialFile:
    """The finished blocks of one experiment, in a file from which an interrupted run goes on.

    A block is one trial, that is, one training with its own randomness. The first line of the file describes the
    experiment, and each further line has the result of one trial. Every line is a JSON object.

    Attributes:
        finished: results of the trials in the file when it was opened, by index of the trial.
    """

    def __init__(self, path: Path, prepared: Prepared) -> None:
        """Open a file in which the finished trials of an experiment are stored, so that it can be resumed.

        The file is created if it does not exist, and overwritten if it has no complete line. An incomplete last line is
        removed from it.

        Args:
            path: the file.
            prepared: the experiment.

        Raises:
            InvalidInput: the file cannot be read or written, or belongs to another request or version of the engine, or
                the simulation is not an experiment that consists of trials.
        """
        cells = prepared.resolved if isinstance(prepared.resolved, tuple) else (prepared,)
        if not all(isinstance(cell.resolved, PreparedTrials) for cell in cells):
            raise InvalidInput.at("/resume", "is for experiments on the papers' own data only")
        self._path = path
        self.finished: dict[int, TrialResult] = {}

        # The first line of the file identifies the experiment.
        header = {
            "engine_version": ENGINE_VERSION,
            "blocks": prepared.plan.blocks,
            "request": as_json(prepared.request),
        }
        lines = _read_lines(path)
        complete_lines = [line for line in lines if line.endswith("\n")]
        if not complete_lines:
            self._write(header, mode="w")
            return
        first_line, *block_lines = complete_lines
        self._check_header(_parse(first_line), header, prepared.request)

        for line in block_lines:
            block = _parse(line)
            self.finished[block["index"]] = TrialResult(block["scores"], block["chosen"])
        # The last line is incomplete if an interruption cut it off. The next block needs a line of its own.
        if len(complete_lines) < len(lines):
            path.write_text("".join(complete_lines), encoding="utf-8")

    def _check_header(self, stored: JsonObject, header: JsonObject, request: object) -> None:
        """Check that the file belongs to the present experiment.

        The first line of a file has the request and the version of the engine that computed its blocks.

        Args:
            stored: first line of the file.
            header: first line of a new file for the present experiment.
            request: request of the present experiment.

        Raises:
            InvalidInput: the request, the version or the number of blocks differs; the message says how.
        """
        default_repetitions = None
        if isinstance(request, PresetSimulation):
            default_repetitions = find_preset(request).repetitions
        # JSON turns tuples into lists. The new header goes through JSON too, so that both can be compared.
        header_as_read = json.loads(json.dumps(header))
        differences = _differences(stored, header_as_read, default_repetitions)
        if differences:
            raise InvalidInput.at("/resume", f"{self._path} belongs to another run: {'; '.join(differences)}")

    def add(self, index: int, block: object) -> None:
        """Append the result of a finished trial to the file.

        Args:
            index: index of the trial.
            block: result of the trial, a `TrialResult`.

        Raises:
            InvalidInput: the block is not the result of a trial, or the file cannot be written.
        """
        if not isinstance(block, TrialResult):
            raise InvalidInput.at("/resume", "is for experiments on the papers' own data only")
        self._write({"index": index, **asdict(block)}, mode="a")

    def _write(self, value: JsonObject, mode: str) -> None:
        """Write a JSON object as one line of the file.

        Args:
            value: the object, with its values by name.
            mode: "w" to replace the content of the file, "a" to append.

        Raises:
            InvalidInput: the file cannot be written.
        """
        try:
            with self._path.open(mode, encoding="utf-8") as file:
                file.write(json.dumps(value) + "\n")
        except OSError as error:
            raise InvalidInput.at("/resume", f"cannot be written: {error}") from None


def _read_lines(path: Path) -> list[str]:
    """Read the lines of a text file.

    Args:
        path: the file, in UTF-8.

    Returns:
        The lines, each with the characters that end it. The list is empty if the file does not exist.

    Raises:
        InvalidInput: the file cannot be read, or is not text.
    """
    try:
        if not path.exists():
            return []
        return path.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.at("/resume", f"cannot be read: {error}") from None


def _differences(stored: JsonObject, header: JsonObject, default_repetitions: int | None) -> list[str]:
    """Describe how the experiment of a stored file ("there") differs from the present one ("here").

    Args:
        stored: first line of the file.
        header: first line of a new file for the present experiment.
        default_repetitions: number of repetitions of a request that states none; None if there is no default.

    Returns:
        One phrase for each value that differs; empty if the file belongs to the present experiment.
    """
    there = _identifying_values(stored, default_repetitions)
    here = _identifying_values(header, default_repetitions)
    all_names = {**here, **there}
    different_names = [name for name in all_names if there.get(name) != here.get(name)]
    # The number of blocks follows from the other values, unless the code of the experiment has changed.
    if not different_names and stored.get("blocks") != header["blocks"]:
        return [f"blocks {stored.get('blocks')} there, {header['blocks']} here"]
    return [f"{name} {there.get(name, 'absent')} there, {here.get(name, 'absent')} here" for name in different_names]


def _identifying_values(header: JsonObject, default_repetitions: int | None) -> JsonObject:
    """Return the values by which the first line of a file identifies its experiment.

    Args:
        header: the first line.
        default_repetitions: number of repetitions of a request that states none.

    Returns:
        The fields of the request, with the number of repetitions, and the version of the engine, by name.
    """
    request = header.get("request")
    fields = request if isinstance(request, dict) else {}
    return {"repetitions": default_repetitions, **fields, "engine_version": header.get("engine_version")}


def _parse(line: str) -> JsonObject:
    """Parse one line of a file of finished trials.

    Args:
        line: the line.

    Returns:
        The JSON object: the description of the experiment from the first line, or the result of one trial.

    Raises:
        InvalidInput: the line is not a JSON object.
    """
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InvalidInput.at("/resume", "is not a file of finished blocks")
    return value
