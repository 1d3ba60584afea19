"""The forkserver: a process that has imported the mathematics and makes workers by forking itself.

A fork costs milliseconds where an import costs seconds, and what the workers only read they share. It has one thread,
computes nothing, and ends when its service does. Python's own forkserver is one for all of a program, is kept alive by
its workers, and cannot be told what to prepare; this one belongs to one pool.

    service → forkserver   an order, with the worker's end of a wire
    forkserver → service   the process id of the new worker, or minus the number of the error
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import struct
import sys
import traceback
from typing import NoReturn

from epsilond.app.workers.work import Wire, end_with, ignore_signals, load, work

ORDER = struct.Struct("=ii")
"""How much nicer the worker is, and its memory in megabytes."""
PROCESS = struct.Struct("=i")


def main(control: int, service: int, modules: tuple[str, ...]) -> None:
    """Serve orders that come over the descriptor `control`, until it ends."""
    end_with(service)
    ignore_signals()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the workers
    load(modules)
    gc.collect()
    gc.freeze()  # a worker's collections must not write to pages that all share
    with socket.socket(fileno=control) as orders:
        while True:
            order, wires, _, _ = socket.recv_fds(orders, ORDER.size, 1)
            if not order:
                return
            orders.sendall(PROCESS.pack(forked(orders, wires, *ORDER.unpack(order))))


def forked(orders: socket.socket, wires: list[int], nicer: int, memory_megabytes: int) -> int:
    """Make a worker; answers its process id, or minus the number of the error."""
    if not wires:  # no descriptor was left for it
        return -1
    parent = os.getpid()
    try:
        process = os.fork()
    except OSError as error:
        process = -(error.errno or 1)
    if process == 0:
        be_worker(orders, wires[0], parent, nicer, memory_megabytes)
    os.close(wires[0])
    return process


def be_worker(orders: socket.socket, wire: int, parent: int, nicer: int, memory_megabytes: int) -> NoReturn:
    """Be a worker, and nothing after that."""
    code = 1
    try:
        orders.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        work(Wire(socket.socket(fileno=wire)), parent, nicer, memory_megabytes)
        code = 0
    except BaseException:  # noqa: BLE001 (whatever it is, this process must not go on as a forkserver)
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
