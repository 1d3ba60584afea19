"""A small HTTP client for load: keep-alive connections on the loopback, one request after another on each."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Load:
    """What a number of requests took: seconds of each that was answered 200, of all together, and how others ended."""

    latencies: list[float] = field(default_factory=list)
    wall: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    hits: int = 0

    @property
    def failed(self) -> int:
        """How many were not answered 200."""
        return self.statuses.total()

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.wall if self.wall else 0.0

    def percentile(self, share: float) -> float:
        """The nearest-rank percentile of the latencies."""
        ranked = sorted(self.latencies)
        return ranked[max(math.ceil(share * len(ranked)), 1) - 1] if ranked else math.nan


def post(path: str, body: Any) -> bytes:
    """The bytes of a request."""
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
    return head.encode() + b"\r\n\r\n" + text


async def run(port: int, requests: Iterable[bytes], connections: int) -> Load:
    """Send all requests, each connection taking the next one as soon as it is free."""
    load, left = Load(), iter(requests)
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(_connection(port, left, load))
    load.wall = time.perf_counter() - begun
    return load


async def _connection(port: int, left: Iterator[bytes], load: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in left:
            begun = time.perf_counter()
            writer.write(request)
            status, hit = await response(reader)
            if status == 200:
                load.latencies.append(time.perf_counter() - begun)
                load.hits += hit
            else:
                load.statuses[status] += 1
    finally:
        writer.close()


async def response(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Status, and whether the answer came from the cache; the body is read and dropped."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))
    return int(head.split(b" ", 2)[1]), b"x-cache: hit" in head
