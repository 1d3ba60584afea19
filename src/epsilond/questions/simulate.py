"""Simulations of runs, compared with the bounds and guarantees about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.extras import extra
from epsilond.progress import Progress, in_silence
from epsilond.reading import read, read_value
from epsilond.spelling import choose_by_name

with extra("simulate", "a simulation"):
    from epsilond.questions.blocks import run_blocks
    from epsilond.simulators.files.folders import use_folders
    from epsilond.witness import simulation
    from epsilond.witness.presets import PRESETS, PresetSimulation, find_preset
    from epsilond.witness.requests import SimulationRequest
    from epsilond.witness.trials.trial_file import TrialFile

_SIZE_MESSAGES = {"audit": "an audit has samples", "membership": "a membership inference has runs"}
"""Clauses of error messages, for the kinds of simulation that have a number of another name than repetitions."""


def simulation_request(source: SimulationRequest | JsonObject | str, **overrides: object) -> Any:
    """Return the request of a simulation.

    Args:
        source: a request, its JSON form, or the name of a preset.
        **overrides: values of fields, which take precedence; None leaves a field as it is.

    Returns:
        The request, an instance of the request class of its kind.

    Raises:
        InvalidInput: unknown preset, or the request has values out of range.
    """
    changes: Fields = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(source, str):
        choices = {choice.name: choice for choice in PRESETS}
        preset = choose_by_name(source, choices, at="/preset", noun="preset")
        return read(PresetSimulation, {"preset": preset.name, **changes})
    # A request in JSON form is read only after it is merged with the changes, so that its kind may still be invalid.
    kind = source.get("kind") if isinstance(source, Mapping) else source.kind
    if "repetitions" in changes and kind in _SIZE_MESSAGES:
        raise InvalidInput.at("/repetitions", f"{_SIZE_MESSAGES[kind]}, not repetitions")
    if isinstance(source, Mapping):
        return read_value(SimulationRequest, {**source, **changes}, at="")
    return replace(source, **changes) if changes else source


def simulate(
    experiment: SimulationRequest | Mapping[str, object] | str,
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress = in_silence,
    data: Mapping[str, str | Path] | None = None,
    resume: str | Path | None = None,
) -> Any:
    """Simulate a run, and compare the measurement with its bounds or its guarantee.

    `epsilond.as_json` renders the answer as JSON, from which `epsilond.draw` makes a figure. The answer does not depend
    on `workers` or `executor`.

    Args:
        experiment: a request (`kind` risk, audit, membership or preset), its JSON form, or the name of a preset.
        repetitions: number of runs; None for the number in the request.
        seed: seed of all randomness; None for the seed in the request.
        workers: number of processes that run the blocks. With several, a script needs `if __name__ == "__main__":`.
        executor: runs the blocks instead: threads, processes, or a cluster (`epsilond.executors.dask_executor`).
        progress: called with the number of finished blocks and the number of blocks.
        data: folder of each data set that an experiment reads, by name; absent ones are subfolders of `EPSILOND_DATA`.
        resume: file for the finished trials of an experiment on a paper's own data. If it has some of this
            experiment, they do not run again.

    Returns:
        The answer; its class depends on the kind of simulation.

    Raises:
        InvalidInput: the request or `workers` is out of range, a folder is given of a data set that is not read, a file
            is missing or altered, or `resume` is given with an executor. Every fault has a JSON pointer.
        NoCertificate: noise is to be calibrated, and nothing can be certified.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    request = simulation_request(experiment, repetitions=repetitions, seed=seed)
    if workers < 1:
        raise InvalidInput.at("/workers", "is out of range", allowed="≥ 1")
    if resume is not None and executor is not None:
        raise InvalidInput.at("/resume", "needs processes of this machine, and an executor is given")
    with use_folders(data or {}):
        _check_data_is_read(request, data or ())
        prepared = simulation.prepare(request)
    checkpoint = None if resume is None else TrialFile(Path(resume), prepared)
    return simulation.assemble(prepared, run_blocks(prepared, workers, progress, executor, checkpoint))


def _check_data_is_read(request: object, names: Iterable[str]) -> None:
    """Check that an experiment reads every data set for which a folder is given.

    Args:
        request: the request of the simulation.
        names: names of the data sets with a folder.

    Raises:
        InvalidInput: it does not read one of them; there is a fault for each such name.
    """
    needed = find_preset(request).data if isinstance(request, PresetSimulation) else ()
    needed_in_words = ", ".join(needed) or "no folder"
    superfluous = [name for name in names if name not in needed]
    if superfluous:
        message = "is not read by this experiment"
        raise InvalidInput(*(Fault(f"/data/{name}", message, needed_in_words) for name in superfluous))
