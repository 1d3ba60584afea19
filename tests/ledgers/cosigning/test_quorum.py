"""A log and its witnesses: what is sent, what is learnt from each answer, and how many must have cosigned."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.cosigning.quorum import TooFewCosignatures, WitnessQuorum
from epsilond.ledgers.cosigning.remote import HeadRejected, WitnessAddress, read_addresses
from epsilond.ledgers.log import notes
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.checkpoints import Checkpoint, sign
from epsilond.ledgers.log.errors import Malformed
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.tree import MemoryNodes, Tree
from tests.ledgers.cosigning.running import NAME, RunningWitness, running
from tests.ledgers.log.keys import FIRST, ORIGIN, SECOND
from tests.ledgers.log.logs import ENTRIES, REWRITTEN
from tests.ledgers.log.test_cosignatures import REMORA


class LogOfEntries:
    """A log with as many of the given entries as are published now."""

    def __init__(self, size: int, entries: Sequence[JsonRecord] = ENTRIES) -> None:
        self.size = size
        self.tree = Tree(MemoryNodes()).extend(map(canonical, entries))

    def checkpoint(self) -> str:
        return sign(Checkpoint(ORIGIN, self.size, Tree(self.tree.nodes, self.size).root()), FIRST)

    def consistency(self, earlier: int, later: int | None = None) -> Consistency:
        return Consistency.of(Tree(self.tree.nodes, self.size if later is None else later), earlier)


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[RunningWitness]:
    with running(tmp_path / "witness", FIRST.public) as found:
        yield found


_OPENED: list[WitnessQuorum] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close what `quorum` opened."""
    yield
    while _OPENED:
        _OPENED.pop().close()


def quorum(*witnesses: WitnessAddress, needed: int = 0) -> tuple[WitnessQuorum, list[HeadRejected]]:
    rejections = list[HeadRejected]()
    _OPENED.append(WitnessQuorum(witnesses, needed, rejections.append))
    return _OPENED[-1], rejections


def unreachable(name: str = "witness.example/away") -> WitnessAddress:
    """Of a port on which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    return WitnessAddress(f"http://127.0.0.1:{port}", read_addresses(f"http://x {REMORA}")[0].key)


def show(found: WitnessQuorum, log: LogOfEntries, size: int | None = None) -> None:
    log.size = log.size if size is None else size
    found.cosign(log.checkpoint(), log)


def test_each_head_is_cosigned_from_the_size_before(witness: RunningWitness) -> None:
    found, _ = quorum(witness.address)
    assert not found.is_confirmed
    log = LogOfEntries(4)
    for size in (4, 9, 9, 23):
        show(found, log, size)
        assert found.is_confirmed
        whole = found.cosignatures(log.checkpoint())
        assert witness.folder.public.verify(notes.parse(whole)) is not None
        assert found.has_cosigned(log.checkpoint())
    assert found.cosignatures(LogOfEntries(9).checkpoint()) == LogOfEntries(9).checkpoint()  # none are kept of it


def test_a_process_that_knows_nothing_takes_the_witnesses_size(witness: RunningWitness) -> None:
    show(quorum(witness.address)[0], LogOfEntries(9))
    show(quorum(witness.address)[0], LogOfEntries(23))
    head = witness.folder.head(ORIGIN)
    assert head is not None
    assert head.size == 23


def test_a_log_with_fewer_or_other_entries_is_rejected(witness: RunningWitness) -> None:
    show(quorum(witness.address)[0], LogOfEntries(9))
    found, rejections = quorum(witness.address)
    with pytest.raises(HeadRejected, match="cosigned 9 entries, and the log has fewer"):
        show(found, LogOfEntries(8))
    with pytest.raises(HeadRejected, match="cosigned 9 entries that are not the log's first"):
        show(found, LogOfEntries(23, REWRITTEN))
    assert [(each.size, each.has_fewer) for each in rejections] == [(9, True), (9, False)]
    assert not found.is_confirmed
    show(found, LogOfEntries(9))
    assert found.is_confirmed


def test_a_head_that_another_replica_overtook_is_covered_by_the_present_one(witness: RunningWitness) -> None:
    log = LogOfEntries(4)
    stale = log.checkpoint()
    show(quorum(witness.address)[0], log, 23)  # the other replica
    found, _ = quorum(witness.address)
    found.cosign(stale, log)
    assert found.has_cosigned(log.checkpoint())
    assert not found.has_cosigned(stale)


def test_two_replicas_that_move_at_one_time_are_both_cosigned(witness: RunningWitness) -> None:
    log, failures = LogOfEntries(1), list[BaseException]()
    begin = threading.Barrier(2)

    def move(found: WitnessQuorum) -> None:
        begin.wait()
        try:
            for _ in range(11):
                log.size += 1
                found.cosign(log.checkpoint(), log)
        except BaseException as error:  # noqa: BLE001 (shown below)
            failures.append(error)

    threads = [threading.Thread(target=move, args=(quorum(witness.address)[0],)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    head = witness.folder.head(ORIGIN)
    assert head is not None
    assert head.size == log.size


def test_as_many_as_are_needed_must_cosign(witness: RunningWitness) -> None:
    log = LogOfEntries(9)
    for needed, addresses in ((0, [witness.address, unreachable()]), (1, [unreachable()])):
        found, rejections = quorum(*addresses, needed=needed)
        with pytest.raises(TooFewCosignatures, match=r"The witness remora\.n621\.de cannot be reached"):
            show(found, log)
        assert not found.is_confirmed
        assert rejections == []
    found, _ = quorum(witness.address, unreachable(), needed=1)
    show(found, log)
    assert found.is_confirmed


def test_a_witness_that_is_started_again_is_reached_again(tmp_path: Path) -> None:
    with running(tmp_path / "witness", FIRST.public) as first:
        found, _ = quorum(first.address)
        show(found, LogOfEntries(4))
        port = int(first.url.rpartition(":")[2])
    with pytest.raises(TooFewCosignatures):
        show(found, LogOfEntries(9))
    with running(tmp_path / "witness", FIRST.public, port=port):
        show(found, LogOfEntries(9))
    assert found.is_confirmed


def test_a_witness_that_does_not_know_the_log_gives_no_cosignature(tmp_path: Path) -> None:
    with running(tmp_path / "witness", SECOND.public) as found, pytest.raises(TooFewCosignatures, match="answers 403"):
        show(quorum(found.address)[0], LogOfEntries(9))


def test_another_key_than_the_configured_one_is_no_witness(witness: RunningWitness, tmp_path: Path) -> None:
    with running(tmp_path / "other", FIRST.public, name=NAME) as other:
        mixed = WitnessAddress(other.url, witness.folder.public)
        with pytest.raises(TooFewCosignatures, match="without its cosignature"):
            show(quorum(mixed)[0], LogOfEntries(9))


class Answers(BaseHTTPRequestHandler):
    """A server that gives one answer to everything."""

    status: ClassVar[int] = 200
    headers_given: ClassVar[dict[str, str]] = {}
    content: ClassVar[bytes] = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(self.status)
        for name, value in {"content-length": str(len(self.content)), **self.headers_given}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def answering(status: int, content: bytes, **headers: str) -> Iterator[WitnessAddress]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    handler = type("Chosen", (Answers,), {"status": status, "content": content, "headers_given": given})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield WitnessAddress(f"http://127.0.0.1:{server.server_port}", unreachable().key)
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "content", "headers"),
    [
        (200, b"", {}),
        (200, b"\xff", {}),
        (200, b"x" * 70_000, {}),
        (302, b"", {"location": "http://127.0.0.1:1/"}),
        (500, b"", {}),
        (409, b"23\n", {"content_type": "text/plain"}),
        (409, b"many\n", {"content_type": "text/x.tlog.size"}),
        (409, b"0\n", {"content_type": "text/x.tlog.size"}),  # it was shown from 0
    ],
)
def test_answers_by_no_rule_are_no_cosignatures(status: int, content: bytes, headers: dict[str, str]) -> None:
    with answering(status, content, **headers) as address:
        found, rejections = quorum(address)
        with pytest.raises(TooFewCosignatures):
            show(found, LogOfEntries(9))
        assert rejections == []


def test_addresses_are_read_from_lines_and_commas() -> None:
    (only,) = read_addresses(f"\n https://one.example/w/ {REMORA} ,\n")
    assert only.url == "https://one.example/w"
    assert read_addresses("") == ()


@pytest.mark.parametrize(
    "text",
    [
        "https://one.example",
        f"ftp://one.example {REMORA}",
        f"https://key:secret@one.example {REMORA}",
        f"https://one.example?q=1 {REMORA}",
        f"https:// {REMORA}",
        f"https://one.example:port {REMORA}",
        f"https://one.example {REMORA}, https://two.example {REMORA}",
        f"https://one.example {FIRST.public.note_key}",
    ],
)
def test_other_texts_are_no_addresses(text: str) -> None:
    with pytest.raises(Malformed):
        read_addresses(text)
