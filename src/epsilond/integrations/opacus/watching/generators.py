"""Whether a random generator of torch was reset during a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

import torch

_STATE_BYTES: Final = 5056
"""Size of the state of torch's Mersenne Twister [bytes]; generators of devices have smaller states."""

_BLOCK: Final = 624
"""Numbers that the Mersenne Twister computes at a time."""

_EARLY_BLOCKS: Final = 64
"""Blocks after the seed that are recognised. They are 40,000 numbers, the first initial weights of most models."""

_PERSISTENT: Final = 256
"""States that a checkpoint keeps."""

_LARGEST_MEMORY: Final = 1 << 17
"""Number of stored states, about 10 MB. Later states are compared with these."""


class GeneratorState(TypedDict):
    """Seed of a generator and its observed states, as JSON values.

    Attributes:
        seed: seed at the first observation; None before it.
        states: the first observed states, in hexadecimal digits.
        last: the last observed state.
        progress: number of blocks of random numbers from the seed to the last state, at most `_EARLY_BLOCKS`.
    """

    seed: int | None
    states: list[str]
    last: str
    progress: int


class GeneratorWatch:
    """Observations of the state of one random generator, by which a reset is noticed.

    The state of a generator on the CPU is identified by the first bytes of its present block of 624 numbers, and by the
    position in this block. Blocks do not repeat within the period 2^19937 − 1. So a block that was seen before, with
    another block since, shows a reset. A generator on a device has a seed and a counter, which only grows.

    Attributes:
        generator: the observed random generator of torch.
        seed: its seed at the first observation, or None before it.
        moved: whether numbers were drawn since the last observation, as far as that is known.
        purposes: uses of its numbers, "batches" or "noise".
    """

    def __init__(self, generator: torch.Generator) -> None:
        """Start to watch a generator. Its state is read at the first observation.

        Args:
            generator: random generator of torch.
        """
        self.generator = generator
        self.seed: int | None = None
        self.moved = False
        self.purposes: set[str] = set()

        # All blocks of numbers that were seen, in their order; then the present block, and the position in it.
        self._states: dict[bytes, None] = {}
        self._last = b""
        self._position = -1

        # The first blocks after the seed with their numbers, and the number of the present block.
        self._early: dict[bytes, int] = {}
        self._progress = -1

        # States of the generators of the run that is resumed.
        self._earlier: Sequence[GeneratorState] = ()

    def observe(self) -> str | None:
        """Compare the present state with the earlier ones, and remember it.

        At most `_LARGEST_MEMORY` blocks are stored. The first state is compared with those of the run that is resumed.

        Returns:
            A phrase about a reset since the last call, such as "was seeded anew". At the first call, a phrase about a
            repetition of the resumed run's numbers. None if there was neither, or if the generator has no state.
        """
        try:
            state = self.generator.get_state()
        except (RuntimeError, NotImplementedError):  # a generator of the operating system has no state to reset
            return None
        block, position = _block_and_position(state)
        if self.seed is None:
            message = self._start(block)
        elif block == self._last:
            # Within a block the position only grows, and it must have grown if numbers were drawn.
            has_gone_back = position < self._position
            has_stood_still = self.moved and position == self._position
            message = "was set back" if has_gone_back or has_stood_still else None
        else:
            message = self._compare(block)
        # Remember the block, and the present position, for the next observation.
        if block != self._last and len(self._states) < _LARGEST_MEMORY:
            self._states[block] = None
        self._last = block
        self._position = position
        self.moved = False
        return message

    def _start(self, block: bytes) -> str | None:
        """Compare the generator's first state with the states of the run that is resumed, if there is one.

        Noise that an earlier part of the run has used must not be used again.

        Args:
            block: the first bytes of the present block of random numbers.

        Returns:
            A phrase about a repetition of the earlier run's numbers; None if there is none.
        """
        self.seed = self.generator.initial_seed()
        self._early = early_blocks(self.generator)
        self._progress = self._early.get(block, _EARLY_BLOCKS)
        # The earlier run has used all blocks before its last one, and those up to its progress from its seed.
        for earlier in self._earlier:
            repeats_block = block.hex() in earlier["states"] and block.hex() != earlier["last"]
            repeats_seed = self.seed == earlier["seed"] and self._progress < earlier["progress"]
            if repeats_block or repeats_seed:
                return "starts with the seed of the run that is resumed"
        return None

    def _compare(self, block: bytes) -> str | None:
        """Return whether a generator was seeded anew or reset, by its present block of random numbers.

        Args:
            block: the first bytes of the present block of random numbers.

        Returns:
            A phrase such as "was seeded anew"; None if the block follows the earlier ones.
        """
        earlier_seed = self.seed
        self.seed = self.generator.initial_seed()
        if self.seed != earlier_seed:
            self._early = {}
            return "was seeded anew"
        progress = self._early.get(block, _EARLY_BLOCKS)
        is_reset = progress < self._progress or block in self._states
        self._progress = progress
        return "was reset to an earlier state" if is_reset else None

    def repeats(self, other: GeneratorWatch) -> bool:
        """Return whether this generator will produce numbers that another generator has already produced.

        Only generators with a common purpose are compared, such as noise. The first test: the present block of numbers
        is one that the other generator has left behind. The second test: both have the same seed, and this generator
        has drawn fewer numbers since. It needs the number of blocks since the seed, which is known for the first
        `_EARLY_BLOCKS` blocks only.

        Args:
            other: an earlier generator of the run.

        Returns:
            True if one of the two tests shows a repetition.
        """
        if self.purposes.isdisjoint(other.purposes):
            return False
        # The other generator has left this block behind.
        if self._last in other._states and self._last != other._last:
            return True
        if self.seed != other.seed or self._progress == _EARLY_BLOCKS:
            return False
        # With the same seed, the one that has drawn fewer numbers will draw the same numbers as the other.
        own_position = (self._progress, self._position)
        other_position = (other._progress, other._position)
        return own_position < other_position or (own_position == other_position and other.moved)

    def state_dict(self) -> GeneratorState:
        """Return the seed and the first states as JSON values."""
        states = [block.hex() for block, _ in zip(self._states, range(_PERSISTENT), strict=False)]
        return {"seed": self.seed, "states": states, "last": self._last.hex(), "progress": self._progress}

    def compare_with(self, earlier: Sequence[GeneratorState]) -> None:
        """Compare the first state with those of the run that is resumed, values of `state_dict`."""
        if self.seed is None:
            self._earlier = earlier


class GeneratorWatches:
    """All random generators that one run uses, with checks that none repeats its numbers or those of another one.

    Noise that is used twice can be removed by a subtraction. Batches that are drawn twice are not independent, as the
    account assumes.
    """

    def __init__(self) -> None:
        self._watches: dict[int, GeneratorWatch] = {}
        self._earlier: list[GeneratorState] = []

    def note_draw(self, generator: torch.Generator) -> None:
        """Note that numbers were drawn from a generator, if it is observed.

        Args:
            generator: the random generator.
        """
        watch = self._watches.get(id(generator))
        if watch is not None:
            watch.moved = True

    def observe(self, generator: torch.Generator, *purposes: str) -> str | None:
        """Compare the state of a generator with its earlier states, and a new generator also with the other ones.

        Args:
            generator: a random generator of torch that the run uses.
            *purposes: uses of its numbers: "batches", "noise" or both.

        Returns:
            A phrase about a reset or a repetition, such as "was seeded anew"; None if there is none.
        """
        watch = self._watches.get(id(generator))
        if watch is not None:
            watch.purposes.update(purposes)
            return watch.observe()
        return self._add(generator, purposes)

    def _add(self, generator: torch.Generator, purposes: Iterable[str]) -> str | None:
        """Watch a new generator, and compare it with the generators that the run has used before.

        Args:
            generator: a generator that is not watched yet.
            purposes: uses of its numbers: "batches", "noise" or both.

        Returns:
            A phrase about a repetition; None if there is none.
        """
        watch = GeneratorWatch(generator)
        watch.purposes.update(purposes)
        watch.compare_with(self._earlier)
        message = watch.observe()
        # A new generator may have the seed of another one, and would then repeat its numbers.
        if message is None and any(watch.repeats(earlier) for earlier in self._watches.values()):
            message = "starts where an earlier one of the run had started"
        self._watches[id(generator)] = watch
        return message

    def state_dict(self) -> list[GeneratorState]:
        """Return the states of all generators, and of those of the runs that were resumed, as JSON values."""
        present = [watch.state_dict() for watch in self._watches.values() if watch.seed is not None]
        return [*self._earlier, *present]

    def compare_with(self, earlier: Iterable[GeneratorState]) -> None:
        """Compare the first states of all generators with the states of a run that is resumed.

        Args:
            earlier: states of the generators of the earlier run, from its checkpoint.
        """
        self._earlier = list(earlier)
        for watch in self._watches.values():
            watch.compare_with(self._earlier)


def early_blocks(generator: torch.Generator) -> dict[bytes, int]:
    """Return the numbers of the first `_EARLY_BLOCKS` blocks of random numbers after a generator's seed.

    A block has as many numbers as the generator computes at a time. By the blocks it is known how many numbers a
    generator has drawn since its seed.

    Args:
        generator: the generator, of which only the seed is read.

    Returns:
        The number of each block, from 0 on, by its first bytes. Empty for generators of devices, which have no blocks.
    """
    if generator.device.type != "cpu":
        return {}
    # A second generator with the same seed produces the same blocks, and leaves the first one unchanged.
    replica = torch.Generator()
    replica.manual_seed(generator.initial_seed())
    numbers = torch.empty(_BLOCK, dtype=torch.int32)
    blocks = {}
    for index in range(_EARLY_BLOCKS):
        block, _ = _block_and_position(replica.get_state())
        blocks[block] = index
        numbers.random_(generator=replica)
    return blocks


def _block_and_position(state: torch.Tensor) -> tuple[bytes, int]:
    """Return an identification of the present block of random numbers, and the position in this block.

    The state of torch's Mersenne Twister has its position in bytes 16 to 23 and its block from byte 24 on. The first 32
    bytes of the block identify it. Generators of CUDA devices have a seed in bytes 0 to 7 and a counter in bytes 8 to
    15.

    Args:
        state: the state of a generator, as `get_state` returns it.

    Returns:
        The bytes that identify the block or the seed, and the position as a number.
    """
    raw = state.numpy().tobytes()
    # Generators of devices have a smaller state than the Mersenne Twister.
    if len(raw) == _STATE_BYTES:
        block, position = raw[24:56], raw[16:24]
    else:
        block, position = raw[:8], raw[8:16]
    return block, int.from_bytes(position, "little")
