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

from ..models.mu_2_sgd_run_method import Mu2SgdRunMethod, check_mu_2_sgd_run_method
from ..models.mu_2_sgd_run_server import Mu2SgdRunServer, check_mu_2_sgd_run_server
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.run_participation import RunParticipation


T = TypeVar("T", bound="Mu2SgdRun")


@_attrs_define
class Mu2SgdRun:
    """Who reports, who adds the noise, and the step.

    Absent `noise_std` is calibrated, and an absent `step_size` with it; where it is given so must the step be, but
    for `noisy-sgd`, which has D/(B√T) of its own. `participants` m is what the server divides by; absent: all.

    """

    algorithm: Literal["mu2-sgd"]
    """ DP-μ²-FL """
    rounds: int
    """ communication rounds """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    participation: RunParticipation | Unset = UNSET
    """ Uniform, or by a pattern of groups; the clients of a problem are those of the groups in their order. """
    server: Mu2SgdRunServer | Unset = UNSET
    method: Mu2SgdRunMethod | Unset = UNSET
    step_size: float | Unset = UNSET
    """ step size """
    noise_std: float | Unset = UNSET
    """ σ of a client's first report, or of a trusted server; see `method` """

    def to_dict(self) -> dict[str, Any]:
        algorithm = self.algorithm

        rounds = self.rounds

        participants = self.participants

        participation: dict[str, Any] | Unset = UNSET
        if not isinstance(self.participation, Unset):
            participation = self.participation.to_dict()

        server: str | Unset = UNSET
        if not isinstance(self.server, Unset):
            server = self.server

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method

        step_size = self.step_size

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "algorithm": algorithm,
                "rounds": rounds,
            }
        )
        if participants is not UNSET:
            field_dict["participants"] = participants
        if participation is not UNSET:
            field_dict["participation"] = participation
        if server is not UNSET:
            field_dict["server"] = server
        if method is not UNSET:
            field_dict["method"] = method
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.run_participation import RunParticipation

        d = dict(src_dict)
        algorithm = cast(Literal["mu2-sgd"], d.pop("algorithm"))
        if algorithm != "mu2-sgd":
            raise ValueError(f"algorithm must match const 'mu2-sgd', got '{algorithm}'")

        rounds = d.pop("rounds")

        participants = d.pop("participants", UNSET)

        _participation = d.pop("participation", UNSET)
        participation: RunParticipation | Unset
        if isinstance(_participation, Unset):
            participation = UNSET
        else:
            participation = RunParticipation.from_dict(_participation)

        _server = d.pop("server", UNSET)
        server: Mu2SgdRunServer | Unset
        if isinstance(_server, Unset):
            server = UNSET
        else:
            server = check_mu_2_sgd_run_server(_server)

        _method = d.pop("method", UNSET)
        method: Mu2SgdRunMethod | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = check_mu_2_sgd_run_method(_method)

        step_size = d.pop("step_size", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        mu_2_sgd_run = cls(
            algorithm=algorithm,
            rounds=rounds,
            participants=participants,
            participation=participation,
            server=server,
            method=method,
            step_size=step_size,
            noise_std=noise_std,
        )

        return mu_2_sgd_run
