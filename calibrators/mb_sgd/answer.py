"""The parameters that an mb-sgd calibration answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from epsilond.calibrators.answer import CONTRIBUTION_NORM, Served
from epsilond.calibrators.mb_sgd.groups import GroupParameters
from epsilond.calibrators.mb_sgd.schedule import Averaging


@dataclass(frozen=True, kw_only=True)
class MbSgdParameters:
    """What to run with. A figure in which client groups differ stands in `groups` alone: none of them is everyone's."""

    noise_std: Annotated[
        float | None,
        Served("σ per coordinate, added by each client to its mean of batch_size gradients; absent if groups differ"),
    ] = None
    noise_multiplier: Annotated[
        float | None, Served("noise_std over contribution_norm; absent if groups differ in either")
    ] = None
    contribution_norm: Annotated[float | None, CONTRIBUTION_NORM] = None
    batch_size: Annotated[int, Served("records of one client per round, of a client with samples_per_client records")]
    rounds: Annotated[int, Served("communication rounds")]
    step_size: Annotated[float | None, Served("absent where no risk bound applies")] = None
    averaging: Annotated[Averaging | None, Served("which average of the iterates to output")] = None
    envelope_smoothness: Annotated[
        float | None,
        Served("without smoothness: b of the Moreau envelope of each (weighted) loss, whose gradients are sent"),
    ] = None
    groups: Annotated[tuple[GroupParameters, ...] | None, Served("what each of client_groups is to run with")] = None
