"""A spec in words: what was run, with every number of it in full."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.kinds import kind_named
from epsilond.witness.reports.numbers import full

SpecBody = JsonObject


def described(spec: SpecBody, unit: str) -> str:
    """What a spec in its JSON form says was run, as one phrase with every number that was given.

    `unit` (record or client) is what is protected; it is what a batch is drawn of where the spec does not say.
    """
    kind = spec["kind"]
    if kind in _KINDS:
        return _KINDS[kind](spec, unit)
    return kind_named(kind).sentence({name: full(value) for name, value in spec.items()})


def counted(number: object, noun: str) -> str:
    """`1 round`, `2000 rounds`; a noun in -ch has its plural in -es."""
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{full(number)} {plural}"


def _subsampled(spec: SpecBody, unit: str) -> str:
    noun = {"records": "record", "clients": "client"}.get(spec.get("level", ""), unit)
    inner = described(spec["mechanism"], unit)
    sampling = spec["sampling"]
    if sampling == "full":
        return f"every {noun} takes part{_given_batch(spec, noun)}; {inner}"
    repeat = ", none twice" if sampling == "without-replacement" else ", the same possibly more than once"
    if sampling == "poisson":
        drawn = f"every {noun} drawn independently"
        drawn += f" with probability {full(spec['rate'])}" if "rate" in spec else ""
        return f"{drawn}{_given_batch(spec, noun)}; {inner}"
    if "rate" in spec:
        return (
            f"a batch of a fixed size, the share {full(spec['rate'])} of every {noun}, drawn uniformly{repeat}; {inner}"
        )
    batch, population = counted(spec["batch_size"], noun), full(spec["population"])
    return f"a batch of {batch} drawn uniformly out of {population}{repeat}; {inner}"


def _given_batch(spec: SpecBody, noun: str) -> str:
    """What else was given of a batch, where the sampling does not go by its size."""
    parts = [f"probability {full(spec['rate'])}"] if spec["sampling"] == "full" and "rate" in spec else []
    parts += [f"a batch of {counted(spec['batch_size'], noun)}"] if "batch_size" in spec else []
    parts += [f"a population of {full(spec['population'])}"] if "population" in spec else []
    return f" ({', '.join(parts)})" if parts else ""


def _shuffled(spec: SpecBody, unit: str) -> str:
    size = f" of {counted(spec['dimension'], 'coordinate')}" if "dimension" in spec else ""
    reports = f"one report{size} of each of {counted(spec['clients'], 'client')}"
    return f"{reports}, shuffled; in each report, {described(spec['mechanism'], unit)}"


def _repeated(spec: SpecBody, unit: str) -> str:
    return f"{counted(spec['times'], 'round')}, in each: {described(spec['mechanism'], unit)}"


def _composed(spec: SpecBody, unit: str) -> str:
    parts = [described(mechanism, unit) for mechanism in spec["mechanisms"]]
    if len(parts) == 1:
        return parts[0]
    listed = "; ".join(f"({place}) {part}" for place, part in enumerate(parts, start=1))
    return f"{len(parts)} mechanisms, one after another: {listed}"


def _projected_sgd(spec: SpecBody, _: str) -> str:
    rounds = counted(spec["rounds"], "step") if "rounds" in spec else "one pass"
    batches = {
        "shuffled": "of a secret random partition, in turn",
        "cyclic": "of a partition fixed in advance, in turn",
        "without-replacement": "drawn anew in each step",
    }[spec.get("batches", "shuffled")]
    loss = [f"{full(spec['lipschitz'])}-Lipschitz"]
    loss += [f"{full(spec['smoothness'])}-smooth"] if "smoothness" in spec else []
    strong = spec.get("strong_convexity", 0.0)
    loss += [f"{full(strong)}-strongly convex"] if strong else ["convex" if spec.get("convex", True) else "not convex"]
    share = full(spec.get("suffix_fraction"))
    released = {
        "last": "the last model is released",
        "random-stop": "the model of a uniformly random step is released",
        "suffix": f"the model of a random step is released, uniform on those after the share {share} of them",
    }[spec.get("release", "last")]
    return (
        f"noisy projected gradient descent over {counted(spec['clients'], 'client')}, {rounds},"
        f" each on a batch of {full(spec['participants'])} clients {batches};"
        f" step size {_schedule(spec['step_schedule'])};"
        f" noise of standard deviation {_schedule(spec['noise_schedule'])} per coordinate from each client;"
        f" on a ball of radius {full(spec['radius'])}; losses that are {', '.join(loss)}; {released}, and nothing else"
    )


def _schedule(schedule: Mapping[str, object]) -> str:
    if schedule["kind"] == "explicit":
        return f"as listed, {full(schedule['values'])},"
    if schedule["kind"] == "inverse-time":
        return f"{full(schedule['scale'])}/t at step t"
    return full(schedule["value"])


_KINDS: Mapping[str, Callable[[SpecBody, str], str]] = {
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "repeated": _repeated,
    "composed": _composed,
    "projected_sgd": _projected_sgd,
}
"""One phrase a kind; a law test holds this against every kind there is."""
