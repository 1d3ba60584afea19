"""Sums and constants that the statements of Reshef and Levy share: harmonic numbers, sums of roots, S, σ̃ and ξ̃."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import LARGEST_COUNT, Quantity

EULER = 0.5772156649015328606
ZETA_OF_MINUS_HALF = -0.2078862249773545660
_DIRECT = 64
PAD = 16 * UNIT_ROUNDOFF
"""More than the relative rounding of a harmonic number, its root, and a few products with it."""

GAUSSIAN_DP_MU = Quantity(
    symbol="ρ",
    gt=0,
    le=1e4,
    description="parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter",
)
SMOOTHNESS_OR_LINEAR = Quantity(
    symbol="L", ge=0, unit="loss/length²", description="Lipschitz constant of the gradient, 0 for linear losses"
)
CLIPPING_NORM = Quantity(
    symbol="S", gt=0, unit="loss/length", description="bound on the ℓ2 norm of one weighted gradient difference s"
)
GRADIENT_STD = Quantity(
    symbol="σ",
    ge=0,
    unit="loss/length",
    description="root mean square of ∇f(x; z) − ∇f_i(x), at its largest; absent: G",
)
CLIENT_SPREAD = Quantity(
    symbol="ξ", ge=0, unit="loss/length", description="root mean square over clients of ∇f_i − ∇f; absent: G"
)
SMOOTHNESS_STD = Quantity(
    symbol="σ_L", ge=0, unit="loss/length²", description="Lipschitz constant of ∇f(x; z) − ∇f_i(x); absent: L"
)
SMOOTHNESS_HETEROGENEITY = Quantity(
    symbol="ξ_L", ge=0, unit="loss/length²", description="Lipschitz constant of ∇f_i − ∇f; absent: L"
)
OPTIMUM_GRADIENT_NORM = Quantity(
    symbol="‖∇f(x*)‖",
    ge=0,
    unit="loss/length",
    description="norm of the gradient at the minimiser over the domain, 0 if it is an interior point; absent: G",
)
PARTICIPATIONS = Quantity(
    symbol="N", ge=1, le=LARGEST_COUNT, description="how often a client has reported, this round included"
)

GaussianDpMu = Annotated[float, GAUSSIAN_DP_MU]
SmoothnessOrLinear = Annotated[float, SMOOTHNESS_OR_LINEAR]
ClippingNorm = Annotated[float, CLIPPING_NORM]
Participations = Annotated[int, PARTICIPATIONS]


def harmonic(count: int) -> float:
    """1 + 1/2 + … + 1/count, 0 for none; to 4 units of roundoff, by Euler and Maclaurin beyond the first terms."""
    if count < _DIRECT:
        return math.fsum(1.0 / k for k in range(1, count + 1))
    inverse = 1.0 / count
    square = inverse * inverse
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)))
    return math.fsum((math.log(count), EULER, 0.5 * inverse, -tail))


def root_sum(count: int) -> float:
    """√1 + √2 + … + √count; to 4 units of roundoff."""
    if count < _DIRECT:
        return math.fsum(math.sqrt(k) for k in range(1, count + 1))
    n = float(count)
    root, square = math.sqrt(n), n * n
    tail = (1.0 / 24.0 - (1.0 / 1920.0 - 1.0 / (9216.0 * square)) / square) / root
    return math.fsum((2.0 / 3.0 * n * root, 0.5 * root, ZETA_OF_MINUS_HALF, tail))


def clipping_norm(*, lipschitz: float, smoothness: float, diameter: float) -> float:
    """S = G + 2LD."""
    return lipschitz + 2.0 * smoothness * diameter


def round_clipping_norm(*, lipschitz: float, smoothness: float, diameter: float, round_: int) -> float:
    """S_t = G + 2LD (t − 1)/(t + 1), below S: what |s_t| is at most if the server is honest (E-R11)."""
    return lipschitz + 2.0 * smoothness * diameter * ((round_ - 1) / (round_ + 1))


def client_share(*, clients: int, participants: int) -> float:
    """(M − m)/(M − 1), the share of the clients' spread that drawing m of M leaves; 0 if all take part."""
    return 0.0 if clients == participants else (clients - participants) / (clients - 1)


@dataclass(frozen=True, kw_only=True)
class Federation:
    """M clients of which m report in each of T rounds, and what is known of their losses.

    The spreads are bounds: `lipschitz` for σ and ξ, and `smoothness` for σ_L and ξ_L, always hold ((4) to (7)).
    """

    clients: int
    participants: int
    rounds: int
    dimension: int
    lipschitz: float
    smoothness: float
    diameter: float
    gradient_std: float
    heterogeneity: float
    smoothness_std: float
    smoothness_heterogeneity: float
    optimum_gradient_norm: float

    @property
    def rate(self) -> float:
        """p = m/M."""
        return self.participants / self.clients

    @property
    def clipping_norm(self) -> float:
        """S."""
        return clipping_norm(lipschitz=self.lipschitz, smoothness=self.smoothness, diameter=self.diameter)

    @property
    def total_gradient_std(self) -> float:
        """σ̃ = σ + 2σ_L D."""
        return self.gradient_std + 2.0 * self.smoothness_std * self.diameter

    @property
    def total_heterogeneity(self) -> float:
        """ξ̃ = ξ + 2ξ_L D."""
        return self.heterogeneity + 2.0 * self.smoothness_heterogeneity * self.diameter

    @property
    def printed_variance(self) -> float:
        """σ̃² + ξ̃², as Theorems 5.2 and F.2 have it."""
        return self.total_gradient_std**2 + self.total_heterogeneity**2

    @property
    def variance(self) -> float:
        """σ̃² + (M − m)/(M − 1) ξ̃², as Lemma 4.2 has it."""
        share = client_share(clients=self.clients, participants=self.participants)
        return self.total_gradient_std**2 + share * self.total_heterogeneity**2

    @property
    def steps(self) -> float:
        """A = T(T + 1)/2, the sum of the weights."""
        return 0.5 * self.rounds * (self.rounds + 1.0)
