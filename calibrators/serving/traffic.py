"""The messages of a run and alternative runs in the answer to a calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from epsilond.calibrators.serving.values import VACUOUS, Number, Served


@dataclass(frozen=True, kw_only=True)
class CommunicationBeside:
    """The bits that other encodings of the same messages would need, for comparison."""

    float32_total_bits: Annotated[
        int, Served("bits of all messages of the run if coordinates were sent as 32-bit floats, without noise")
    ]
    printed_bits_per_coordinate: Annotated[
        int | None, Served("bits per coordinate with the noise that the paper prescribes; absent if it prescribes none")
    ] = None
    printed_total_bits: Annotated[
        int | None,
        Served(
            "bits of all messages of the run with the noise that the paper prescribes; absent if it prescribes none"
        ),
    ] = None
    binomial_bits_per_coordinate: Annotated[
        int | None,
        Served(
            "bits per coordinate with Binomial noise by theorem agarwal-2018.1; absent where this theorem "
            "does not apply"
        ),
    ] = None
    binomial_total_bits: Annotated[
        int | None,
        Served(
            "bits of all messages of the run with Binomial noise by theorem agarwal-2018.1; absent where "
            "this theorem does not apply"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Communication:
    """Contents and size of the messages."""

    bits_per_coordinate: float
    extra_bits_per_coordinate: Annotated[
        float | None,
        Served("bits per coordinate that are needed because of the noise, in addition to those of the rounded value"),
    ] = None
    bits_per_round_per_client: int
    total_bits: Annotated[int, Served("largest possible number of bits of all messages of the run")]
    expected_total_bits: Annotated[
        float | None,
        Served(
            "expected number of bits of all messages of the run; absent unless the number of participants is random"
        ),
    ] = None
    beside: Annotated[
        CommunicationBeside | None, Served("bits that other encodings of the same messages would need")
    ] = None


@dataclass(frozen=True, kw_only=True)
class FrontierRun:
    """An alternative run: no other run listed is at least as good in rounds, batch size and risk."""

    rounds: int
    batch_size: int
    risk: Annotated[
        Number, Served("upper bound with explicit constants on the excess risk at noise_std", may_be_unbounded=True)
    ]
    vacuous: Annotated[bool | None, VACUOUS] = None
    noise_std: Annotated[
        float,
        Served(
            "standard deviation of the noise per coordinate, root mean square over clients. If certified "
            "is false, it is an estimate: before such a run, calibrate at these rounds and this batch_size"
        ),
    ]
    certified: Annotated[
        bool, Served("whether noise_std provably meets the target. If not, noise_std and risk are estimates")
    ]
    chosen: Annotated[bool, Served("whether parameters of the answer describe this run")]
    bits_per_client: Annotated[int, Served("number of bits that a client sends if it takes part in every round")]
    total_bits: Annotated[int, Served("largest possible number of bits that all clients together send")]
