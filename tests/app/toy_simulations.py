"""Simulations of no meaning, to see the life of jobs by itself. Workers import this module."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.witness.kind import SimulationKind, SimulationPlan
from tests.app.toys import may_end

KIND = Quantity(description="what is simulated")
SEED = Annotated[int, Quantity(description="seed", ge=0)]
BLOCKS = Annotated[int, Quantity(description="blocks", ge=1, le=10**6)]
SECONDS = Annotated[float, Quantity(description="time of one block", unit="s", ge=0, le=1e9)]
NOTE = Annotated[str, Quantity(description="anything")]


@request
class Dice:
    """Throws dice. `diary` is a file where each block leaves a line; `way` is how a block goes wrong, if it does."""

    kind: Annotated[Literal["dice"], KIND] = "dice"
    seed: SEED = 0
    blocks: BLOCKS = 3
    seconds: SECONDS = 0.0
    diary: NOTE = ""
    way: NOTE = ""

    def check(self) -> None:
        """Not two of one kind."""
        if self.way == "never":
            raise InvalidInput.at("/way", "cannot be this")


@request
class Coin:
    """Throws one coin."""

    kind: Annotated[Literal["coin"], KIND] = "coin"
    seed: SEED


@dataclass(frozen=True, kw_only=True)
class Throws:
    """What fell."""

    sum: int
    each: tuple[int, ...]


def plan_dice(dice: Dice) -> SimulationPlan:
    """As long as it is told."""
    return SimulationPlan(blocks=dice.blocks, seconds=dice.blocks * max(dice.seconds, 1e-3), bytes=1000)


def prepare_dice(dice: Dice) -> Dice:
    """It is its own."""
    if dice.way == "refuse":
        raise ConditionViolated("No proof applies.", ConditionResult("toy.fair", "the dice are fair", False, 1.0, 2.0))
    return dice


def throw(dice: Dice, index: int) -> list[int]:
    """A block: twenty dice. It ends early where the file is that lets the work of its diary end."""
    write_diary(dice, index)
    if dice.way == "fail":
        raise RuntimeError("secret-of-the-dice")
    if dice.way == "die" or (dice.way == "die-once" and index == 1 and lines(dice.diary).count(index) == 1):
        os._exit(3)
    if dice.way == "fill":
        return list(range(200_000))
    until = time.monotonic() + dice.seconds
    while time.monotonic() < until and not may_end(dice.diary).exists():
        time.sleep(0.005) if dice.way != "spin" else None
    generator = random.Random(f"{dice.seed} {index}")
    return [generator.randint(1, 6) for _ in range(20)]


def write_diary(dice: Dice, index: int) -> None:
    """A line in the diary: the block and the process."""
    if dice.diary:
        with Path(dice.diary).open("a") as diary:
            diary.write(f"{index} {os.getpid()}\n")


def lines(diary: str) -> list[int]:
    """The blocks that began, in order."""
    return [int(line.split()[0]) for line in Path(diary).read_text().splitlines()]


def sum_up(_: Any, __: Any, blocks: Sequence[list[int]]) -> Throws:
    """The answer."""
    each = tuple(value for block in blocks for value in block)
    return Throws(sum=sum(each), each=each[:100])


def plan_coin(_: Coin) -> SimulationPlan:
    """One block."""
    return SimulationPlan(blocks=1, seconds=0.001, bytes=10**10 if _.seed == 10**10 else 10)


def prepare_coin(coin: Coin) -> int:
    """Its seed alone."""
    return coin.seed


def toss(seed: int, index: int) -> list[int]:
    """Heads or tails."""
    return [random.Random(f"{seed} {index}").randint(0, 1)]


def draw(answer: Mapping[str, Any], form: str) -> bytes:
    """A figure of no meaning."""
    return f"{form} {answer['sum']}".encode()


DICE = SimulationKind(
    request=Dice,
    plan=plan_dice,
    prepare=prepare_dice,
    run_block=throw,
    assemble=sum_up,
    answer=Throws,
    size="blocks",
    example={"kind": "dice", "seed": 1, "blocks": 4, "seconds": 0.1},
)
COIN = SimulationKind(
    request=Coin,
    plan=plan_coin,
    prepare=prepare_coin,
    run_block=toss,
    assemble=sum_up,
    answer=Throws,
    example={"kind": "coin", "seed": 1},
)
KINDS = (DICE, COIN)
