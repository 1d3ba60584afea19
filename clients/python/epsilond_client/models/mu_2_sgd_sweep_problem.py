from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..models.mu_2_sgd_sweep_problem_readings_item import (
    Mu2SgdSweepProblemReadingsItem,
    check_mu_2_sgd_sweep_problem_readings_item,
)
from ..models.mu_2_sgd_sweep_problem_server import (
    Mu2SgdSweepProblemServer,
    check_mu_2_sgd_sweep_problem_server,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.mu_2_sgd_sweep_values import Mu2SgdSweepValues
    from ..models.participation import Participation


T = TypeVar("T", bound="Mu2SgdSweepProblem")


@_attrs_define
class Mu2SgdSweepProblem:
    """The fields of mu2-sgd, but for the one that is swept."""

    sweep: Mu2SgdSweepValues
    """ A field of mu2-sgd and its values. """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    gaussian_dp_mu: float | Unset = UNSET
    """ parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter """
    clients: int | Unset = UNSET
    """ clients in the federation """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    rounds: int | Unset = UNSET
    """ communication rounds """
    dimension: int | Unset = UNSET
    """ coordinates of the model """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient, 0 for linear losses """
    diameter: float | Unset = UNSET
    """ diameter of the domain """
    server: Mu2SgdSweepProblemServer | Unset = UNSET
    gradient_std: float | Unset = UNSET
    """ root mean square of ∇f(x; z) − ∇f_i(x), at its largest; absent: G """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of ∇f_i − ∇f; absent: G """
    smoothness_std: float | Unset = UNSET
    """ Lipschitz constant of ∇f(x; z) − ∇f_i(x); absent: L """
    smoothness_heterogeneity: float | Unset = UNSET
    """ Lipschitz constant of ∇f_i − ∇f; absent: L """
    optimum_gradient_norm: float | Unset = UNSET
    """ norm of the gradient at the minimiser over the domain, 0 if it is an interior point; absent: G """
    participation: Participation | Unset = UNSET
    """ Who takes part. `most_participations` is a cap that each client keeps; absent, T, or the most of any group.
    """
    relation: Relation | Unset = UNSET
    unit: Literal["record"] | Unset = UNSET
    """ whose data is protected: one record, or everything of one client """
    observer: Observer | Unset = UNSET
    readings: list[Mu2SgdSweepProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed theorem to return """

    def to_dict(self) -> dict[str, Any]:
        sweep = self.sweep.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        gaussian_dp_mu = self.gaussian_dp_mu

        clients = self.clients

        participants = self.participants

        rounds = self.rounds

        dimension = self.dimension

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        diameter = self.diameter

        server: str | Unset = UNSET
        if not isinstance(self.server, Unset):
            server = self.server

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        smoothness_std = self.smoothness_std

        smoothness_heterogeneity = self.smoothness_heterogeneity

        optimum_gradient_norm = self.optimum_gradient_norm

        participation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = self.participation.to_dict()

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item: str = readings_item_data
                readings.append(readings_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sweep": sweep,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if gaussian_dp_mu is not UNSET:
            field_dict["gaussian_dp_mu"] = gaussian_dp_mu
        if clients is not UNSET:
            field_dict["clients"] = clients
        if participants is not UNSET:
            field_dict["participants"] = participants
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if diameter is not UNSET:
            field_dict["diameter"] = diameter
        if server is not UNSET:
            field_dict["server"] = server
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if smoothness_std is not UNSET:
            field_dict["smoothness_std"] = smoothness_std
        if smoothness_heterogeneity is not UNSET:
            field_dict["smoothness_heterogeneity"] = smoothness_heterogeneity
        if optimum_gradient_norm is not UNSET:
            field_dict["optimum_gradient_norm"] = optimum_gradient_norm
        if participation is not UNSET:
            field_dict["participation"] = participation
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.mu_2_sgd_sweep_values import Mu2SgdSweepValues
        from ..models.participation import Participation

        d = dict(src_dict)
        sweep = Mu2SgdSweepValues.from_dict(d.pop("sweep"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        gaussian_dp_mu = d.pop("gaussian_dp_mu", UNSET)

        clients = d.pop("clients", UNSET)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        dimension = d.pop("dimension", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        diameter = d.pop("diameter", UNSET)

        _server = d.pop("server", UNSET)
        server: Mu2SgdSweepProblemServer | Unset
        if isinstance(_server, Unset):
            server = UNSET
        else:
            server = check_mu_2_sgd_sweep_problem_server(_server)

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        smoothness_std = d.pop("smoothness_std", UNSET)

        smoothness_heterogeneity = d.pop("smoothness_heterogeneity", UNSET)

        optimum_gradient_norm = d.pop("optimum_gradient_norm", UNSET)

        _participation = d.pop("participation", UNSET)
        participation: Participation | Unset
        if isinstance(_participation, Unset):
            participation = UNSET
        else:
            participation = Participation.from_dict(_participation)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        unit = cast(Literal["record"] | Unset, d.pop("unit", UNSET))
        if unit != "record" and not isinstance(unit, Unset):
            raise ValueError(f"unit must match const 'record', got '{unit}'")

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        _readings = d.pop("readings", UNSET)
        readings: list[Mu2SgdSweepProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_mu_2_sgd_sweep_problem_readings_item(readings_item_data)

                readings.append(readings_item)

        mu_2_sgd_sweep_problem = cls(
            sweep=sweep,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            gaussian_dp_mu=gaussian_dp_mu,
            clients=clients,
            participants=participants,
            rounds=rounds,
            dimension=dimension,
            lipschitz=lipschitz,
            smoothness=smoothness,
            diameter=diameter,
            server=server,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            smoothness_std=smoothness_std,
            smoothness_heterogeneity=smoothness_heterogeneity,
            optimum_gradient_norm=optimum_gradient_norm,
            participation=participation,
            relation=relation,
            unit=unit,
            observer=observer,
            readings=readings,
        )

        return mu_2_sgd_sweep_problem
