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

from ..models.ppsgd_run_sampling import PpsgdRunSampling, check_ppsgd_run_sampling
from ..models.ppsgd_run_weighting import PpsgdRunWeighting, check_ppsgd_run_weighting
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_batches import ClientBatches


T = TypeVar("T", bound="PpsgdRun")


@_attrs_define
class PpsgdRun:
    """How the clients take part, what they send, and the steps.

    `noise_std` is σ_ζ per coordinate, on the mean that the server forms; absent, it is calibrated, and so are absent
    `personalization` and steps. Where it is given, so must they be, by `step_size` η or by `shared_step_size` αη: one
    decides the other, and where only one part learns (α is 0, or "unbounded") the step given for the other part is
    taken to be as long: αη = η/(qW). Absent `clipping_norm`: nothing is clipped.

    """

    algorithm: Literal["ppsgd"]
    """ PPSGD """
    rounds: int
    """ communication rounds """
    sampling: PpsgdRunSampling | Unset = UNSET
    participation_rate: float | Unset = UNSET
    """ probability that a given record, or client where clients are drawn, is in a batch """
    weighting: PpsgdRunWeighting | Unset = UNSET
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    client_groups: list[ClientBatches] | Unset = UNSET
    """ clients that are alike, as counts; what a group leaves out is as for all """
    clipping_norm: float | Unset = UNSET
    """ bound on the ℓ2 norm of what one client sends in a round """
    personalization: float | Literal["unbounded"] | Unset = UNSET
    """ step size of the shared part over N times that of a client's own part: 0 learns locally only, "unbounded"
    globally only """
    step_size: float | Unset = UNSET
    """ step size """
    shared_step_size: float | Unset = UNSET
    """ step size of the shared part, α times step_size """
    noise_std: float | Unset = UNSET
    """ standard deviation per coordinate of the server's noise on the averaged shared gradient """

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        rounds = self.rounds

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling

        participation_rate = self.participation_rate

        weighting: str | Unset = UNSET
        if not isinstance(self.weighting, Unset):
            weighting = self.weighting

        batch_size = self.batch_size

        client_groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.client_groups, Unset):
            client_groups = []
            for client_groups_item_data in self.client_groups:
                client_groups_item = client_groups_item_data.to_dict()
                client_groups.append(client_groups_item)

        clipping_norm = self.clipping_norm

        personalization: float | Literal["unbounded"] | Unset
        if isinstance(self.personalization, Unset):
            personalization = UNSET
        else:
            personalization = self.personalization

        step_size = self.step_size

        shared_step_size = self.shared_step_size

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "algorithm": algorithm,
                "rounds": rounds,
            }
        )
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if participation_rate is not UNSET:
            field_dict["participation_rate"] = participation_rate
        if weighting is not UNSET:
            field_dict["weighting"] = weighting
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if client_groups is not UNSET:
            field_dict["client_groups"] = client_groups
        if clipping_norm is not UNSET:
            field_dict["clipping_norm"] = clipping_norm
        if personalization is not UNSET:
            field_dict["personalization"] = personalization
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if shared_step_size is not UNSET:
            field_dict["shared_step_size"] = shared_step_size
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.client_batches import ClientBatches

        d = dict(src_dict)
        algorithm = cast(Literal["ppsgd"], d.pop("algorithm"))
        if algorithm != "ppsgd":
            raise ValueError(f"algorithm must match const 'ppsgd', got '{algorithm}'")

        rounds = d.pop("rounds")

        _sampling = d.pop("sampling", UNSET)
        sampling: PpsgdRunSampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = check_ppsgd_run_sampling(_sampling)

        participation_rate = d.pop("participation_rate", UNSET)

        _weighting = d.pop("weighting", UNSET)
        weighting: PpsgdRunWeighting | Unset
        if isinstance(_weighting, Unset):
            weighting = UNSET
        else:
            weighting = check_ppsgd_run_weighting(_weighting)

        batch_size = d.pop("batch_size", UNSET)

        _client_groups = d.pop("client_groups", UNSET)
        client_groups: list[ClientBatches] | Unset = UNSET
        if _client_groups is not UNSET:
            client_groups = []
            for client_groups_item_data in _client_groups:
                client_groups_item = ClientBatches.from_dict(client_groups_item_data)

                client_groups.append(client_groups_item)

        clipping_norm = d.pop("clipping_norm", UNSET)

        def _parse_personalization(data: object) -> float | Literal["unbounded"] | Unset:
            if isinstance(data, Unset):
                return data
            personalization_type_1 = cast(Literal["unbounded"], data)
            if personalization_type_1 != "unbounded":
                raise ValueError(f"personalization_type_1 must match const 'unbounded', got '{personalization_type_1}'")
            return personalization_type_1
            return cast(float | Literal["unbounded"] | Unset, data)

        personalization = _parse_personalization(d.pop("personalization", UNSET))

        step_size = d.pop("step_size", UNSET)

        shared_step_size = d.pop("shared_step_size", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        ppsgd_run = cls(
            algorithm=algorithm,
            rounds=rounds,
            sampling=sampling,
            participation_rate=participation_rate,
            weighting=weighting,
            batch_size=batch_size,
            client_groups=client_groups,
            clipping_norm=clipping_norm,
            personalization=personalization,
            step_size=step_size,
            shared_step_size=shared_step_size,
            noise_std=noise_std,
        )

        return ppsgd_run
