"""The arms of Tables 2 to 6 of Das et al., with the test errors that they print.

The settings of the runs are in `das_arms`, and the noise is in `das_noise`. Grids, steps and clipping norms are the
paper's. Experiment (i), Tables 2 and 4, has one more arm: certified noise for the same ε in a round, with the steps of
the paper's arm on the same grid. For Figure 5 the text does not say which of its parts is which data set. Here the
first two, η₀ = 0.05 and β = 50η, are of Fashion-MNIST, in the order of the rows of Table 6. Both of its algorithms
have the same η₀.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from epsilond.witness.experiment import Claimed
from epsilond.witness.experiments.networks.das_arms import FULL_PRECISION, DasArm, ImageName, Steps
from epsilond.witness.experiments.networks.das_noise import (
    ROUND_DELTA,
    ROUND_EPSILON,
    RUN_DELTA,
    RUN_EPSILON,
    NoiseChoice,
)

NORMALISED, FEDAVG = "NormFedAvg", "FedAvg"
PRIVATE_NORMALISED: Final = "DP-NormFedAvg"
CLAIM_OF_ROUND: Final = Claimed(epsilon=ROUND_EPSILON, delta=ROUND_DELTA)
CLAIM_OF_RUN: Final = Claimed(epsilon=RUN_EPSILON, delta=RUN_DELTA)


@dataclass(frozen=True, kw_only=True)
class PrintedArm:
    """An algorithm with its noise, and the test error that the paper prints for it in a table.

    Attributes:
        arm: the algorithm with its noise and settings.
        error: mean test error of the last five rounds, from 0 to 1; None for noise that the paper does not have.
        claimed: (ε, δ) that the paper claims for the noise; None without a claim.
    """

    arm: DasArm
    error: float | None = None
    claimed: Claimed | None = None


def _grid_name(power: int) -> str:
    """Return the name `s = 2^power` of a grid with 2^power steps in a unit, such as `s = 2^9`."""
    return f"s = 2^{power}"


def _noise_arms(
    *,
    images: ImageName,
    powers: tuple[int, int],
    steps: Steps,
    binomial_local_step: float,
    binomial_steps: Steps,
    errors: tuple[float, float, float],
) -> dict[str, PrintedArm]:
    """Return the methods of experiment (i) of Das et al.: one algorithm with four kinds of noise.

    These are Binomial noise, the paper's own noise on a fine and a coarse grid, and certified noise on the fine grid.
    The paper's own noise, QTDL, is truncated discrete Laplace noise on updates that are rounded to a grid.

    Args:
        images: the data set.
        powers: base-two logarithms of the numbers of grid steps in a unit, for the fine and the coarse grid.
        steps: step sizes of the server with truncated discrete Laplace noise, each after the first round of its use.
        binomial_local_step: step size of the clients in the first round, with Binomial noise.
        binomial_steps: step sizes of the server with Binomial noise, each after the first round of its use.
        errors: printed test errors, from 0 to 1: Binomial noise, and the paper's on the fine and the coarse grid.

    Returns:
        The methods by name. Only the paper's own noise has a claim, and certified noise has no printed error.
    """
    fine, coarse = powers
    binomial_error, fine_error, coarse_error = errors

    def laplace_arm(power: int, noise: NoiseChoice) -> DasArm:
        """Return the algorithm with truncated discrete Laplace noise on a grid with 2^power steps in a unit.

        Args:
            power: base-two logarithm of the number of grid steps in a unit.
            noise: "printed-round" for the paper's noise, "certified-round" for certified noise.
        """
        return DasArm(
            algorithm=PRIVATE_NORMALISED,
            images=images,
            local_step=0.01,
            server_steps=steps,
            quantization_levels=2**power,
            noise=noise,
        )

    binomial = DasArm(
        algorithm=PRIVATE_NORMALISED,
        images=images,
        local_step=binomial_local_step,
        server_steps=binomial_steps,
        quantization_levels=2**fine,
        noise="binomial-round",
    )
    # The paper claims a guarantee only for its own noise.
    fine_arm = PrintedArm(arm=laplace_arm(fine, "printed-round"), error=fine_error, claimed=CLAIM_OF_ROUND)
    coarse_arm = PrintedArm(arm=laplace_arm(coarse, "printed-round"), error=coarse_error, claimed=CLAIM_OF_ROUND)
    return {
        f"Binomial, {_grid_name(fine)}": PrintedArm(arm=binomial, error=binomial_error),
        f"QTDL, {_grid_name(fine)}": fine_arm,
        f"QTDL, {_grid_name(coarse)}": coarse_arm,
        f"QTDL, {_grid_name(fine)}, certified": PrintedArm(arm=laplace_arm(fine, "certified-round")),
    }


TABLE_2: Final = _noise_arms(
    images="cifar-10",
    powers=(20, 9),
    steps=((0, 0.1), (200, 0.05)),
    binomial_local_step=0.005,
    binomial_steps=((0, 0.1), (200, 0.01)),
    errors=(0.5731, 0.5363, 0.5419),
)
TABLE_4: Final = _noise_arms(
    images="fashion-mnist",
    powers=(12, 6),
    steps=((0, 0.1), (100, 0.05)),
    binomial_local_step=0.01,
    binomial_steps=((0, 0.1), (100, 0.01)),
    errors=(0.2082, 0.1731, 0.1724),
)


def _run_arm(arm: DasArm, error: float) -> PrintedArm:
    """Combine an algorithm of experiment (ii) or (iii) with its printed error and the ε and δ claimed for all rounds.

    Args:
        arm: the algorithm with its settings and noise.
        error: printed test error, from 0 to 1.
    """
    return PrintedArm(arm=arm, error=error, claimed=CLAIM_OF_RUN)


def _clipping_arms(
    shared: DasArm, *, normalised: Steps, error: float, clipped: Mapping[float, tuple[Steps, float]]
) -> dict[str, PrintedArm]:
    """Return the methods of experiments (ii) and (iii) of Das et al.: normalised updates, and clipped ones.

    A method is an algorithm with its noise. There is one method with clipped updates for each clipping norm.

    Args:
        shared: settings that all methods share.
        normalised: step sizes of the server with normalised updates, each after the first round of its use.
        error: printed test error with normalised updates.
        clipped: step sizes of the server and printed test error, by clipping norm.

    Returns:
        The methods by name, each with its printed test error.
    """
    arms = {PRIVATE_NORMALISED: _run_arm(_with_steps(shared, normalised, None), error)}
    for norm, (steps, clipped_error) in clipped.items():
        arms[f"clipping, C = {norm:g}"] = _run_arm(_with_steps(shared, steps, norm), clipped_error)
    return arms


def _with_steps(arm: DasArm, steps: Steps, clipping_norm: float | None) -> DasArm:
    """Return an algorithm of experiment (ii) or (iii) of Das et al. with given server steps and scaling of updates.

    Messages have full precision. The noise is that of the paper's formula, with the privacy target for all rounds.

    Args:
        arm: settings that all algorithms of the experiment share; its own scaling and noise are ignored.
        steps: step sizes of the server, as pairs of the first round with a step size and this step size.
        clipping_norm: clipping norm of the updates; None to normalise them.
    """
    return DasArm(
        algorithm=arm.algorithm,
        images=arm.images,
        local_step=arm.local_step,
        server_steps=steps,
        scaling="normalised" if clipping_norm is None else "clipped",
        clipping_norm=clipping_norm,
        quantization_levels=FULL_PRECISION,
        noise="printed-run",
        noise_at=arm.noise_at,
    )


TABLE_3: Final = _clipping_arms(
    DasArm(algorithm=PRIVATE_NORMALISED, images="fashion-mnist", local_step=0.005),
    normalised=((0, 0.02), (100, 0.01)),
    error=0.2959,
    clipped={
        0.5: (((0, 0.04), (100, 0.02), (200, 0.01), (300, 0.004)), 0.3425),
        1.0: (((0, 0.02), (100, 0.01), (200, 0.005), (300, 0.002)), 0.4292),
    },
)
TABLE_5: Final = _clipping_arms(
    DasArm(algorithm=PRIVATE_NORMALISED, images="cifar-10", local_step=0.1, noise_at="server"),
    normalised=((0, 1.0), (100, 0.5), (200, 0.1), (350, 0.05)),
    error=0.5302,
    clipped={
        0.1: (((0, 10.0), (100, 5.0), (200, 1.0), (350, 0.5)), 0.5423),
        0.25: (((0, 4.0), (100, 2.0), (200, 0.4), (350, 0.2)), 0.5365),
        0.5: (((0, 2.0), (100, 1.0), (200, 0.2), (350, 0.1)), 0.5469),
    },
)
TABLE_6: Final[Mapping[str, Mapping[str, PrintedArm]]] = {
    "Fashion-MNIST": {
        NORMALISED: PrintedArm(
            arm=DasArm(algorithm=NORMALISED, images="fashion-mnist", local_step=0.05, server_ratio=50.0), error=0.1121
        ),
        FEDAVG: PrintedArm(
            arm=DasArm(algorithm=FEDAVG, images="fashion-mnist", local_step=0.05, scaling="none"), error=0.1153
        ),
    },
    "CIFAR-10": {
        NORMALISED: PrintedArm(
            arm=DasArm(algorithm=NORMALISED, images="cifar-10", local_step=0.1, server_ratio=100.0), error=0.4624
        ),
        FEDAVG: PrintedArm(
            arm=DasArm(algorithm=FEDAVG, images="cifar-10", local_step=0.1, scaling="none"), error=0.4615
        ),
    },
}
