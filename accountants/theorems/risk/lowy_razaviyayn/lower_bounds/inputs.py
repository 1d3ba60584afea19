"""Requests of the lower bounds on the excess risk, and the terms that follow from them."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.quantities import (
    ANY_SCALE,
    EPSILON,
    GRADIENT_STD,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.quantities.algorithms import Radius
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.scales import (
    central_ratio,
    local_ratio,
    printed_statistical_scale,
    privacy_scale,
    statistical_scale,
)

COMPOSITIONALITY = Quantity(
    symbol="C", ge=1, le=1e9, description="√(Σ(ε₀^r)²)/ε₀ of an algorithm, at least 1; 1 if it is sequential"
)
ROUND_EPSILON = Quantity(
    symbol="ε₀^r", unit="nat", gt=0, le=EPSILON.le, description="largest ε of one report of one client; absent: ε₀"
)
ROUND_DELTA = Quantity(symbol="δ₀^r", gt=0, lt=1, description="least δ of one report of one client")


@request
class LowerBoundFields:
    """Sizes, loss and privacy parameter that every lower bound depends on."""

    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    strong_convexity: StrongConvexity = 0.0
    epsilon: Epsilon

    @property
    def sizes(self) -> dict[str, int]:
        """Records of a client, and clients, by name."""
        return {"samples_per_client": self.samples_per_client, "clients": self.clients}

    def statistical_outputs(self, gradient_std: float | None, diameter: float) -> dict[str, float]:
        """Return the statistical term and, for strongly convex losses, the one that the paper prints (E-37).

        Args:
            gradient_std: bound φ on the standard deviation of gradients; absent: L.
            diameter: size D of the domain.
        """
        phi = self.lipschitz if gradient_std is None else gradient_std
        mu = self.strong_convexity
        term = statistical_scale(
            gradient_std=phi, lipschitz=self.lipschitz, diameter=diameter, strong_convexity=mu, **self.sizes
        )
        if mu == 0.0:
            return {"statistical_term": term}
        printed = printed_statistical_scale(gradient_std=phi, strong_convexity=mu, **self.sizes)
        return {"statistical_term": term, "printed_statistical_term": printed}

    def privacy(self, ratio: float, diameter: float) -> float:
        """What privacy costs at the privacy ratio r."""
        return privacy_scale(
            ratio=ratio, lipschitz=self.lipschitz, diameter=diameter, strong_convexity=self.strong_convexity
        )

    @property
    def central_ratio(self) -> float:
        """The privacy ratio of a trusted server."""
        return central_ratio(epsilon=self.epsilon, dimension=self.dimension, **self.sizes)


@request
class LocalFederation(LowerBoundFields):
    """A federation that trusts only the clients, with the extreme parameters of one report."""

    round_epsilon: Annotated[float | None, ROUND_EPSILON] = None
    round_delta: Annotated[float, ROUND_DELTA]

    @property
    def largest_round_epsilon(self) -> float:
        """The largest ε of one report of one client."""
        return self.epsilon if self.round_epsilon is None else self.round_epsilon

    def local_ratio(self, compositionality: float = 1.0) -> float:
        """The privacy ratio where nobody is trusted."""
        return local_ratio(
            epsilon=self.epsilon, dimension=self.dimension, compositionality=compositionality, **self.sizes
        )


@request
class LocalInputs(LocalFederation):
    """Privacy for every record against everyone but its client, the expected loss; φ is L where it is absent."""

    compositionality: Annotated[float, COMPOSITIONALITY] = 1.0
    diameter: Diameter
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


@request
class CentralInputs(LowerBoundFields):
    """Privacy for every record against those who see what a trusted server puts out, the expected loss."""

    radius: Radius
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


@request
class LocalEmpiricalInputs(LocalFederation):
    """Privacy against everyone but the client, the mean loss on the data at hand."""

    radius: Radius


@request
class CentralEmpiricalInputs(LowerBoundFields):
    """Privacy against those who see what a trusted server puts out, the mean loss on the data at hand."""

    radius: Radius
