"""What to run: one entry of a plan with the reasons for it, and what every kind of trust is worth.

Entries compare by what is left, at most, of what the start may lose. Where a bound on the excess risk with explicit
constants is known, that is the bound over the start's own (L·D and the like). Where none is, the noise is compared with
the signal: with ν the norm of the noise in a round's mean over the bound on the mean's norm, R rounds of steps leave
√((1 + ν²)/R) of it, by `epsilond.averaged-noisy-steps` for one gradient step a round. For anything else that is a
measure of the noise and no bound. A share of 1 or more says nothing.

Guarantees of several kinds are not ranked: the recommendation says which kind it gives, and `trusts` what the others
would cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.statements.settings import TRUSTED, join_statements, state_guarantee
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import as_json, number_of
from epsilond.calibrators.planning.answer import PlanChoice, Recommendation, TrustPrice
from epsilond.calibrators.planning.problem import Trust
from epsilond.calibrators.serving.long_runs import LONG_RUN

if TYPE_CHECKING:
    from epsilond.calibrators.planning.adapter import PlanAdapter
    from epsilond.calibrators.planning.answer import PlanEntry, PlannedRisk
    from epsilond.calibrators.planning.problem import PlanProblem

Basis = Literal["risk", "noise"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""The least trust first."""
ORDER: Mapping[Trust, int] = {"local": 0, "shuffle": 1, "joint": 2, "central": 2}
"""How much trust each asks for: the last two trust the server, and differ in who looks."""


@dataclass(frozen=True, kw_only=True)
class Signal:
    """The noise of a round's mean and what it drowns, both as ℓ2 norms."""

    noise_norm: float
    signal_norm: float

    @property
    def ratio(self) -> float:
        """ν."""
        return self.noise_norm / self.signal_norm


def signal_of(adapter: PlanAdapter, plan: PlanProblem, parameters: JsonObject) -> Signal | None:
    """The noise in a round's mean against the bound on the mean, where the noise is of a round; None elsewhere."""
    bound, dimension = plan.lipschitz, plan.dimension
    if adapter.noise_added_to in ("mean-of-updates", "shared-gradient"):
        bound = plan.clipping_norm or plan.lipschitz or 1.0
    if adapter.noise_added_to == "shared-gradient":
        dimension = plan.shared_dimension or plan.dimension
    std = adapter.mean_noise(plan, parameters)
    if std is None or dimension is None or bound is None:
        return None
    return Signal(noise_norm=std * math.sqrt(dimension), signal_norm=bound)


def remaining(risk: PlannedRisk | None, signal: Signal | None, rounds: int | None) -> tuple[float | None, Basis | None]:
    """The share that is left at most, and what tells it; None where nothing does."""
    if risk is not None and risk.constant == "explicit" and risk.baseline is not None:
        return float(risk.value) / risk.baseline.value, "risk"
    if signal is None or rounds is None:
        return None, None
    return math.sqrt((1.0 + signal.ratio**2) / rounds), "noise"


def name_of(entry: PlanEntry) -> str:
    """The algorithm, and its variant where it has several."""
    return entry.algorithm + (f" ({entry.variant})" if entry.variant else "")


def share_of(entry: PlanEntry) -> float:
    """What it leaves of what the start may lose; infinite where nothing is told."""
    return math.inf if entry.remaining_share is None else float(entry.remaining_share)


def says_something(entry: PlanEntry) -> bool:
    """Whether it may be ranked: within the limits, better than the start, and not drowned by its noise."""
    known = entry.remaining_share is not None
    return not entry.vacuous and not entry.exceeds and not (known and share_of(entry) >= 1.0)


def usable(entries: Iterable[PlanEntry]) -> list[PlanEntry]:
    """The entries that leave less than the start may lose, within the limits."""
    return [
        entry for entry in entries if entry.applies == Verdict.YES and says_something(entry) and share_of(entry) < 1.0
    ]


def recommended(plan: PlanProblem, entries: Sequence[PlanEntry]) -> Recommendation:
    """The entry that leaves least; of those that leave hardly more, the one that asks for least trust.

    Hardly more is by the share `within`; of equal trust the fewest rounds go first. A proved bound goes before a
    measure of the noise.
    """
    found = usable(entries)
    if not found:
        return Recommendation(why=_nothing(entries))
    if plan.objective is not None:
        found = [entry for entry in found if entry.objective == plan.objective] or found
    proved = [entry for entry in found if entry.basis == "risk"] or found
    limit = (1.0 + plan.within) * min(map(share_of, proved))
    close = [entry for entry in proved if share_of(entry) <= limit]
    best = min(close, key=lambda one: (ORDER[one.guarantee.definition], one.rounds or 0, share_of(one)))
    return Recommendation(
        entry=name_of(best), why=" ".join(_reasons(plan, best, entries)), choices=_choices(plan, best)
    )


def trusts(plan: PlanProblem, entries: Sequence[PlanEntry]) -> tuple[TrustPrice, ...]:
    """The best entry of every kind of trust, proved ones first, beside the best of these."""
    accepted = [one for one in TRUSTS if plan.trust is None or one in plan.trust]
    found = usable(entries)
    best = {}
    for definition in accepted:
        mine = [entry for entry in found if entry.guarantee.definition == definition]
        if mine:
            best[definition] = min(mine, key=lambda one: (one.basis != "risk", share_of(one)))
    least = min(map(share_of, best.values()), default=math.inf)
    return tuple(_price(definition, best.get(definition), least) for definition in accepted)


def _price(definition: Trust, best: PlanEntry | None, least: float) -> TrustPrice:
    if best is None:
        return TrustPrice(definition=definition, in_words=f"Trusted: {TRUSTED[definition]}.")
    return TrustPrice(
        definition=definition,
        in_words=f"Trusted: {TRUSTED[definition]}.",
        best=name_of(best),
        guarantee=best.guarantee,
        remaining_share=share_of(best),
        basis=best.basis,
        price=share_of(best) / least,
    )


def _reasons(plan: PlanProblem, best: PlanEntry, entries: Sequence[PlanEntry]) -> Iterator[str]:
    kind = best.guarantee
    statements = state_guarantee(
        definition=kind.definition, observer=kind.observer, unit=kind.unit, relation=kind.relation
    )
    about = join_statements([each for each in statements if each.about != "sampling"])
    yield f"{name_of(best)} is recommended. {about}"
    if best.risk is not None and best.basis == "risk":
        assert best.risk.baseline is not None
        value, baseline = float(number_of(best.risk.value)), best.risk.baseline
        yield (
            f"After {_rounds(best.rounds)} its excess risk ({best.objective}) is at most {value:.3g}, where the start "
            f"has at most {baseline}: {share_of(best):.2g} of it is left."
        )
    else:
        yield (
            f"No bound on its risk is known here; by its noise against the signal {share_of(best):.2g} of what the "
            f"start may lose is left after {_rounds(best.rounds)}."
        )
    for warning in as_json(best.calibration)["warnings"] if best.calibration is not None else ():
        if warning["code"] == LONG_RUN:
            yield f"Mind that {warning['message']}."
    if best.noise_to_signal is not None:
        yield f"The noise in the mean of a round has {best.noise_to_signal:.3g} times the largest norm of that mean."
    if best.bytes_per_client is not None and best.reports_per_client is not None:
        yield f"A client reports {best.reports_per_client:.3g} times and sends {_bytes(best.bytes_per_client)} in all."
    others = [one for one in trusts(plan, entries) if one.best is not None and one.definition != kind.definition]
    prices = [
        f"{one.definition} {_times(float(one.remaining_share or 0.0) / share_of(best))} ({one.best}, of a "
        f"{'' if one.guarantee is None else one.guarantee.unit})"
        for one in others
    ]
    if prices:
        yield f"What is left under other trust, beside it: {', '.join(prices)}."


def _nothing(entries: Sequence[PlanEntry]) -> str:
    applying = [entry for entry in entries if entry.applies == Verdict.YES]
    over = [entry for entry in applying if entry.exceeds]
    if not applying:
        return "No algorithm has what it needs: the entries say what each of them lacks."
    if len(over) == len(applying):
        return "No algorithm keeps to the limits of the plan: the entries say which they exceed."
    known = [entry for entry in applying if entry.remaining_share is not None and not entry.exceeds]
    if not known:
        return (
            "Nothing tells what the noise leaves: give dimension, and lipschitz with diameter for bounds on the risk."
        )
    least = min(known, key=share_of)
    return (
        f"Nothing is proved to be better than not to train at all: {name_of(least)} comes closest, with "
        f"{share_of(least):.3g} times what the start may lose. A larger ε, more participants, more records or fewer "
        "coordinates help."
    )


def _choices(plan: PlanProblem, best: PlanEntry) -> tuple[PlanChoice, ...] | None:
    told = as_json(best.calibration)
    runs = told["parameters"].get("frontier") or told.get("frontier")
    if not runs or not plan.clients:
        return None
    baseline = None if best.risk is None or best.risk.baseline is None else best.risk.baseline.value
    clipping_norm = told["parameters"].get("clipping_norm")
    if clipping_norm is not None and best.basis == "risk" and plan.lipschitz is not None:
        runs = [{**run, "remaining_share": _of_gradients(run, clipping_norm, plan.lipschitz)} for run in runs]
    return tuple(_choice(run, baseline, clipping_norm, plan.clients) for run in runs)


def _of_gradients(run: JsonObject, clipping_norm: float, lipschitz: float) -> float:
    """What is left where gradients are smaller than the clipping norm, which the run's own share takes for both."""
    noise, rounds = run["noise_norm_of_mean"], run["rounds"]
    signal = number_of(run["remaining_share"]) ** 2 * rounds - (noise / clipping_norm) ** 2
    return math.sqrt((max(signal, 1.0) + (noise / lipschitz) ** 2) / rounds)


def _choice(run: JsonObject, baseline: float | None, clipping_norm: float | None, clients: int) -> PlanChoice:
    bits = int(run.get("total_bits_exact", run["total_bits"]))
    noise = None if clipping_norm is None else run["noise_norm_of_mean"] / clipping_norm
    share = run.get("remaining_share")
    if share is None:
        assert baseline is not None
        share = number_of(run["risk"]) / baseline
    return PlanChoice(
        rounds=run["rounds"],
        batch_size=run.get("batch_size"),
        remaining_share=number_of(share),
        noise_to_signal=noise,
        bytes_per_client=bits / 8 / clients,
        total_bits=bits,
        certified=run.get("certified", True),
        chosen=run["chosen"],
    )


def _rounds(count: int | None) -> str:
    return "its rounds" if count is None else "one round" if count == 1 else f"{count} rounds"


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000.0 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000.0
    raise AssertionError


def _times(ratio: float) -> str:
    return f"{ratio:.3g} times as much"
