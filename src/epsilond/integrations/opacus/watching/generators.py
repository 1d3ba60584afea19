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
    """Observed states of a random generator, as JSON values for a checkpoint.

    A state is identified by the first bytes of the block of random numbers that the generator has computed last.

    Attributes:
        seed: seed at the last observation of a new block; None before the first observation.
        states: the first observed blocks, in hexadecimal digits.
        last: the last observed block, in hexadecimal digits.
        progress: number of blocks from the seed to the last one; `_EARLY_BLOCKS` if it is not known.
    """

    seed: int | None
    states: list[str]
    last: str
    progress: int


class GeneratorWatch:
    """Observations of the state of one random generator of torch, which show if it was reset.

    The state of a generator on the CPU is identified by the first bytes of its present block of 624 numbers, and by the
    position in this block. Blocks do not repeat within the period 2^19937 − 1. So a block that was seen before, with
    another block since, shows a reset. A generator on a device has a seed and a counter, which only increases.

    Attributes:
        generator: the observed generator.
        seed: its seed, as it was when a new block was last observed; None before the first observation.
        moved: whether numbers are known to have been drawn since the last observation.
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
        self._seen_blocks: dict[bytes, None] = {}
        self._last = b""
        self._position = -1

        # The first blocks after the seed with their numbers, and the number of the present block.
        self._blocks_from_seed: dict[bytes, int] = {}
        self._block_number = -1

        # States of the generators of the run that is resumed.
        self._earlier: Sequence[GeneratorState] = ()

    def observe(self) -> str | None:
        """Compare the present state of the generator with its earlier ones, and store it.

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
            message = self._compare_first_block(block)
        elif block == self._last:
            # Within a block the position only grows, and it must have grown if numbers were drawn.
            has_gone_back = position < self._position
            has_stood_still = self.moved and position == self._position
            message = "was set back" if has_gone_back or has_stood_still else None
        else:
            message = self._compare_block(block)
        if block != self._last and len(self._seen_blocks) < _LARGEST_MEMORY:
            self._seen_blocks[block] = None
        self._last = block
        self._position = position
        self.moved = False
        return message

    def _compare_first_block(self, block: bytes) -> str | None:
        """Compare the generator's first observed state with the states of the run that is resumed, if there is one.

        Args:
            block: the first bytes of the present block of random numbers.

        Returns:
            A phrase, if the generator will repeat numbers that the earlier run has used; otherwise None.
        """
        self.seed = self.generator.initial_seed()
        self._blocks_from_seed = early_blocks(self.generator)
        self._block_number = self._blocks_from_seed.get(block, _EARLY_BLOCKS)
        # The earlier run has used all blocks before its last one, and those up to its progress from its seed.
        for earlier in self._earlier:
            repeats_block = block.hex() in earlier["states"] and block.hex() != earlier["last"]
            repeats_seed = self.seed == earlier["seed"] and self._block_number < earlier["progress"]
            if repeats_block or repeats_seed:
                return "starts with the seed of the run that is resumed"
        return None

    def _compare_block(self, block: bytes) -> str | None:
        """Decide whether the generator was seeded anew or reset, by its present block of random numbers.

        Args:
            block: the first bytes of the present block of random numbers.

        Returns:
            A phrase such as "was seeded anew"; None if the block follows the earlier ones.
        """
        earlier_seed = self.seed
        self.seed = self.generator.initial_seed()
        if self.seed != earlier_seed:
            self._blocks_from_seed = {}
            return "was seeded anew"
        # Blocks are numbered from the seed on; later ones than the first `_EARLY_BLOCKS` all have this number.
        number = self._blocks_from_seed.get(block, _EARLY_BLOCKS)
        is_reset = number < self._block_number or block in self._seen_blocks
        self._block_number = number
        return "was reset to an earlier state" if is_reset else None

    def repeats(self, other: GeneratorWatch) -> bool:
        """Return whether this generator will produce numbers that another generator has already produced.

        Only generators with a common purpose are compared, such as noise. There are two tests. The other generator may
        have passed the present block of numbers. Or both have the same seed, and this generator has drawn fewer numbers
        since. The second test needs the number of blocks since the seed, which is only known up to `_EARLY_BLOCKS`.

        Args:
            other: an earlier generator of the run.
        """
        if self.purposes.isdisjoint(other.purposes):
            return False
        if self._last in other._seen_blocks and self._last != other._last:
            return True
        if self.seed != other.seed or self._block_number == _EARLY_BLOCKS:
            return False
        # With the same seed, the one that has drawn fewer numbers will draw the same numbers as the other.
        own_position = (self._block_number, self._position)
        other_position = (other._block_number, other._position)
        return own_position < other_position or (own_position == other_position and other.moved)

    def state_dict(self) -> GeneratorState:
        """Return the seed, the first states and the last one as JSON values, for a checkpoint."""
        states = [block.hex() for block, _ in zip(self._seen_blocks, range(_PERSISTENT), strict=False)]
        return {"seed": self.seed, "states": states, "last": self._last.hex(), "progress": self._block_number}

    def compare_with(self, earlier: Sequence[GeneratorState]) -> None:
        """Compare the first state with those of the run that is resumed, values of `state_dict`."""
        if self.seed is None:
            self._earlier = earlier


class GeneratorWatches:
    """All random generators that one run uses, with checks that none repeats its numbers or those of another one.

    Noise that is used twice can be removed by a subtraction. Batches that are drawn twice are not independent, although
    the privacy accounting assumes that they are.
    """

    def __init__(self) -> None:
        self._watches: dict[int, GeneratorWatch] = {}
        self._earlier: list[GeneratorState] = []

    def note_draw(self, generator: torch.Generator) -> None:
        """Record that numbers were drawn from a generator, if it is observed.

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
    """Enumerate the first `_EARLY_BLOCKS` blocks of random numbers after a generator's seed.

    A block has as many numbers as the generator computes at a time. The number of the present block shows how far the
    generator is from its seed.

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
    """Read the present block of random numbers and the position in it from the state of a generator of torch.

    The state of the Mersenne Twister, for the CPU, has the position in bytes 16 to 23 and the block from byte 24 on.
    The first 32 bytes of the block identify it. The state for a CUDA device has the seed in bytes 0 to 7 and a counter
    in bytes 8 to 15.

    Args:
        state: the state of a generator, as `get_state` returns it.

    Returns:
        The bytes that identify the block, or the seed for a device, and the position or the counter.
    """
    raw = state.numpy().tobytes()
    is_mersenne_twister = len(raw) == _STATE_BYTES
    if is_mersenne_twister:
        block, position = raw[24:56], raw[16:24]
    else:
        block, position = raw[:8], raw[8:16]
    return block, int.from_bytes(position, "little")
