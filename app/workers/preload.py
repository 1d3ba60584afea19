"""The fork server: a process that has imported the mathematics and makes workers by forking itself.

A fork costs milliseconds where an import costs seconds, and workers share the memory that they only read. The process
has one thread, computes nothing, and ends with its service.

    service → fork server   an order, with the worker's end of a wire
    fork server → service   the process id of the new worker, or the negative number of an error
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import socket
import struct
import traceback
from typing import NoReturn

from epsilond.app.workers.work import end_with_parent, ignore_signals, load, work

ORDER = struct.Struct("=ii")
"""Niceness of a worker above that of the fork server, and its limit of memory in megabytes."""
PROCESS = struct.Struct("=i")
"""Answer to an order."""


def main(control: int, service: int, modules: tuple[str, ...]) -> None:
    """Run a fork server: fork a worker process for each order of the service, until the connection to it ends.

    Modules are imported before the first fork, so that workers share their memory and need no import.

    Args:
        control: file descriptor of the connection over which orders come.
        service: process id of the service.
        modules: modules to import before the first fork.
    """
    end_with_parent(service)
    ignore_signals()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then reaps the workers
    load(modules)
    gc.collect()
    gc.freeze()  # a worker's garbage collections must not write to shared pages
    with socket.socket(fileno=control) as orders:
        while True:
            order, wires, _, _ = socket.recv_fds(orders, ORDER.size, 1)
            if not order:
                return
            orders.sendall(PROCESS.pack(fork_worker(orders, wires, *ORDER.unpack(order))))


def fork_worker(orders: socket.socket, wires: list[int], nicer: int, memory_megabytes: int) -> int:
    """Fork a worker process, which runs tasks and then exits. Only the fork server returns from this call.

    Args:
        orders: connection to the service, over which orders come; the worker closes its copy.
        wires: one file descriptor, the worker's end of its connection to the service; the fork server closes its copy.
            Empty if this process has no free descriptor.
        nicer: niceness above that of this process.
        memory_megabytes: limit of the worker's address space, in units of 2²⁰ bytes.

    Returns:
        The process id of the worker; the negative errno if it could not be made.
    """
    if not wires:
        return -errno.EMFILE
    parent = os.getpid()
    try:
        process = os.fork()
    except OSError as error:
        process = -(error.errno or errno.EAGAIN)
    if process == 0:  # in the new process
        run_worker(orders, wires[0], parent, nicer, memory_megabytes)
    os.close(wires[0])
    return process


def run_worker(orders: socket.socket, wire: int, parent: int, nicer: int, memory_megabytes: int) -> NoReturn:
    """Run the tasks that arrive over a connection until it ends, and then exit this process, also after an error.

    The process is a copy of the fork server. It must never return to the code that called it.

    Args:
        orders: connection of the fork server to the service, which is closed here.
        wire: file descriptor of the worker's connection to the service.
        parent: process id of the fork server.
        nicer: niceness above that of the fork server.
        memory_megabytes: limit of the address space, in units of 2²⁰ bytes.
    """
    code = 1
    try:
        orders.close()
        # The worker has inherited that the fork server ignores this signal.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        work(socket.socket(fileno=wire), parent, nicer, memory_megabytes)
        code = 0
    except OSError:
        code = 0  # the service is gone
    except BaseException:  # noqa: BLE001 (a copy of the fork server must not go on as a second one)
        traceback.print_exc()
    finally:
        os._exit(code)
