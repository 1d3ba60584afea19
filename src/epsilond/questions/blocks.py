"""Blocks of a simulation, over processes or on an executor. No number depends on the worker that runs a block.

Workers end with the process that started them: it terminates them if the work ends early, and each worker watches its
parent.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed

from epsilond.executors import run_in_order
from epsilond.progress import Progress, in_silence
from epsilond.witness import simulation
from epsilond.witness.kind import Prepared
from epsilond.witness.trials.trial_file import TrialFile

_prepared: list[Prepared] = []
"""Simulation of a worker process; one entry after `_prepare_worker`."""


def run_blocks(
    prepared: Prepared,
    workers: int,
    progress: Progress,
    executor: Executor | None = None,
    checkpoint: TrialFile | None = None,
) -> Sequence[object]:
    """Return the results of all blocks of a simulation, that is, of independent groups of repetitions.

    Args:
        prepared: the simulation.
        workers: number of processes; with one, the blocks run in this process.
        progress: called with the number of finished blocks and the number of blocks.
        executor: runs the blocks in place of these processes; not used with a checkpoint. None for the processes.
        checkpoint: file of finished blocks. Those in it do not run again, and new ones are added to it. None without.

    Returns:
        The results of the blocks, which do not depend on where they ran.

    Raises:
        ClusterError: the executor lost the work.
    """
    total = prepared.plan.blocks
    if checkpoint is not None:
        return _with_checkpoint(prepared, workers, progress, checkpoint)
    if executor is None and min(workers, total) > 1:
        progress(0, total)
        return _in_processes(prepared, min(workers, total), range(total), progress)
    parts = [(prepared, index) for index in range(total)]
    return run_in_order(executor, simulation.run_block, parts, progress)


def _with_checkpoint(prepared: Prepared, workers: int, progress: Progress, checkpoint: TrialFile) -> Sequence[object]:
    """Run the blocks that a checkpoint does not have, add them to its file, and return all blocks in order.

    An experiment of many hours can thus be interrupted and continued.

    Args:
        prepared: the simulation.
        workers: number of processes.
        progress: called with the number of finished blocks and the number of blocks.
        checkpoint: file of finished blocks.

    Returns:
        The results of all blocks, from the file and new ones, in the order of the blocks.
    """
    total = prepared.plan.blocks
    finished: dict[int, object] = dict(checkpoint.finished)
    missing = [index for index in range(total) if index not in finished]
    progress(len(finished), total)

    def add(index: int, block: object) -> None:
        """Add the result of a new block to the file and to the results, and report the progress."""
        checkpoint.add(index, block)
        finished[index] = block
        progress(len(finished), total)

    # Several processes are started only if several blocks are missing.
    if min(workers, len(missing)) > 1:
        _in_processes(prepared, min(workers, len(missing)), missing, in_silence, add)
    else:
        for index in missing:
            add(index, simulation.run_block(prepared, index))
    return [finished[index] for index in range(total)]


def _in_processes(
    prepared: Prepared,
    workers: int,
    indices: Sequence[int],
    progress: Progress,
    add: Callable[[int, object], None] | None = None,
) -> Sequence[object]:
    """Run blocks in new processes, which are terminated at once if the work is interrupted or fails.

    Args:
        prepared: the simulation.
        workers: number of processes.
        indices: numbers of the blocks.
        progress: called with the number of finished blocks and the number of blocks.
        add: called with the number and the result of each block when it is finished.

    Returns:
        The results in the order of `indices`.
    """
    total = len(indices)
    # Other processes of the program must not be terminated.
    earlier_children = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_worker, initargs=(prepared,)
    )
    try:
        index_of = {pool.submit(_run_block, index): index for index in indices}
        for done, future in enumerate(as_completed(index_of), start=1):
            block = future.result()
            if add is not None:
                add(index_of[future], block)
            progress(done, total)
    except BaseException:
        # Also Ctrl-C: a block may have seconds to go, and its result is not needed any more.
        for child in set(multiprocessing.active_children()) - earlier_children:
            child.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
    return [future.result() for future in index_of]  # a dictionary keeps the order of submission


def _prepare_worker(prepared: Prepared) -> None:
    """Prepare a new worker process: store the simulation, and let the process end when its parent has ended.

    Ctrl-C is ignored in the worker, because it reaches all processes of the group. The parent then ends its workers.

    Args:
        prepared: the simulation of which the worker will run blocks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepared.append(prepared)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait in a worker process until its parent process has ended, and then end the worker at once."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_block(index: int) -> object:
    """Run one block, an independent group of repetitions, of the simulation that is stored in this process.

    Args:
        index: number of the block, from 0.

    Returns:
        The result of the block.
    """
    return simulation.run_block(_prepared[0], index)
