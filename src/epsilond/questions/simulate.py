"""Run what a bound or a guarantee speaks of, and measure beside it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.extras import extra
from epsilond.progress import Progress, in_silence
from epsilond.reading import read, read_value
from epsilond.spelling import named

with extra("simulate", "a simulation"):
    from epsilond.questions.blocks import run_blocks
    from epsilond.witness import simulation
    from epsilond.witness.presets import PRESETS, PresetSimulation
    from epsilond.witness.requests import SimulationRequest

SIZES = {"audit": "an audit has samples", "membership": "a membership inference has runs"}
"""What kinds have that have no repetitions."""


def simulation_request(asked: SimulationRequest | JsonObject | str, **overrides: object) -> Any:
    """The simulation that is asked for: a request, its JSON form, or the name of a preset; overrides take precedence.

    Raises:
        InvalidInput: there is no such preset, or the request describes nothing that can be run.
    """
    given: Fields = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(asked, str):
        preset = named(asked, {each.name: each for each in PRESETS}, at="/preset", noun="preset")
        return read(PresetSimulation, {"preset": preset.name, **given})
    kind = asked.get("kind") if isinstance(asked, Mapping) else asked.kind
    if "repetitions" in given and kind in SIZES:
        raise InvalidInput.at("/repetitions", f"{SIZES[kind]}, not repetitions")
    if isinstance(asked, Mapping):
        return read_value(SimulationRequest, {**asked, **given}, at="")
    return replace(asked, **given) if given else asked


def simulate(
    asked: SimulationRequest | Mapping[str, object] | str,
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress = in_silence,
) -> Any:
    """Run what a bound or a guarantee speaks of, and set the measurement beside it.

    `asked` is a request (`kind` risk, audit, membership or preset) or its JSON form, or a preset's name; `repetitions`
    and `seed` override its own. With several `workers` the blocks run in processes, and a script needs the usual
    `if __name__ == "__main__":`. An `executor` runs the blocks instead: threads, processes of your own, or a cluster
    (`epsilond.executors.dask_executor`). The answer depends on none of these. `progress` is called with the blocks done
    and their number. `epsilond.as_json` renders the answer, and `epsilond.draw` a figure of that.

    Raises:
        InvalidInput: the request describes nothing that can be run; every fault carries a JSON pointer.
        NoCertificate: noise is to be calibrated, and nothing can be certified.
        ClusterError: the executor lost the work, or its workers have another version of the engine.
    """
    request = simulation_request(asked, repetitions=repetitions, seed=seed)
    if workers < 1:
        raise InvalidInput.at("/workers", "is out of range", allowed="≥ 1")
    prepared = simulation.prepare(request)
    return simulation.assemble(prepared, run_blocks(prepared, workers, progress, executor))
