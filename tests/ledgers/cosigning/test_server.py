"""A witness by the letter of c2sp.org/tlog-witness: each status, what is on the disk before an answer, and its folder."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from epsilond.ledgers.cosigning import folder as folders
from epsilond.ledgers.cosigning.folder import PRIVATE, PUBLIC, WitnessFolder
from epsilond.ledgers.cosigning.server import LARGEST_BODY, WitnessService
from epsilond.ledgers.cosigning.submissions import Submission
from epsilond.ledgers.log import checkpoints, notes
from epsilond.ledgers.log.encodings import to_base64
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from tests.ledgers.cosigning.running import NAME, RunningWitness, running
from tests.ledgers.log.keys import FIRST, ORIGIN, OTHERS, SECOND
from tests.ledgers.log.logs import REWRITTEN, consistency, note

DIGEST = hashlib.sha256(ORIGIN.encode()).hexdigest()


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[RunningWitness]:
    with running(tmp_path / "witness", FIRST.public, SECOND.public) as found:
        yield found


def body(old: int, new: int, whole: str | None = None, *, path: tuple[bytes, ...] | None = None) -> bytes:
    proof = path if path is not None else consistency(old, new).path if 0 < old <= new else ()
    return Submission(old, proof, whole or note(new)).to_bytes()


def send(witness: RunningWitness, content: bytes) -> httpx.Response:
    return httpx.post(f"{witness.url}/add-checkpoint", content=content)


def times(witness: RunningWitness, new: int, answer: httpx.Response) -> int | None:
    assert answer.status_code == 200, answer.text
    return witness.folder.public.verify(notes.parse(f"{notes.parse(note(new)).text}\n{answer.text}"))


def test_the_body_is_as_the_specification_writes_it() -> None:
    lines = [to_base64(each) for each in consistency(9, 23).path]
    assert body(9, 23).decode() == "\n".join(["old 9", *lines, "", note(23)])
    assert Submission.of_bytes(body(9, 23)) == Submission(9, consistency(9, 23).path, note(23))
    assert body(0, 23).decode() == f"old 0\n\n{note(23)}"


def test_heads_that_follow_each_other_are_cosigned_and_kept(witness: RunningWitness) -> None:
    assert httpx.get(f"{witness.url}/{DIGEST}/checkpoint").status_code == 404
    for old, new in ((0, 0), (0, 9), (9, 9), (9, 10), (10, 23)):
        answer = send(witness, body(old, new))
        assert times(witness, new, answer) is not None
        kept = httpx.get(f"{witness.url}/{DIGEST}/checkpoint")
        assert kept.text == note(new) + answer.text
        assert checkpoints.verify(kept.text, ORIGIN, [FIRST.public]).size == new


def test_another_size_is_answered_with_the_known_one(witness: RunningWitness) -> None:
    send(witness, body(0, 9))
    for old in (0, 8):
        answer = send(witness, body(old, 23))
        assert (answer.status_code, answer.text) == (409, "9\n")
        assert answer.headers["content-type"] == "text/x.tlog.size"


def test_a_log_that_was_rewritten_is_not_cosigned(witness: RunningWitness) -> None:
    send(witness, body(0, 9))
    rewritten = note(23, entries=REWRITTEN)
    for rejected in (
        body(9, 23, rewritten),
        body(9, 9, note(9, entries=REWRITTEN)),  # the same size
        body(9, 23, path=consistency(8, 23).path),
        body(9, 23, path=()),
        body(9, 9, path=consistency(8, 9).path),
    ):
        assert send(witness, rejected).status_code == 422
    assert send(witness, body(9, 23)).status_code == 200


def test_the_first_head_has_no_proof_and_an_empty_log_one_root(witness: RunningWitness) -> None:
    assert send(witness, body(0, 23, path=consistency(9, 23).path)).status_code == 422
    false = str(notes.sign(f"{ORIGIN}\n0\n{to_base64(bytes(32))}\n", FIRST))
    assert send(witness, body(0, 0, false)).status_code == 422


def test_only_keys_that_are_trusted_for_the_log_count(witness: RunningWitness) -> None:
    text = notes.parse(note(9)).text
    theirs = str(notes.sign(text.replace(ORIGIN, OTHERS.name), OTHERS))
    assert send(witness, body(0, 9, theirs)).status_code == 404
    assert send(witness, body(0, 9, str(notes.sign(text, OTHERS)))).status_code == 403
    false = notes.NoteSignature(SECOND.name, SECOND.public.note_id, FIRST.sign(text.encode()))
    both = str(notes.Note(text, (notes.parse(note(9)).signatures[0], false)))
    assert send(witness, body(0, 9, both)).status_code == 403
    rotated = str(notes.sign(text, SECOND, OTHERS))
    answer = send(witness, body(0, 9, rotated))
    assert answer.status_code == 200
    kept = httpx.get(f"{witness.url}/{DIGEST}/checkpoint").text
    assert kept == str(notes.sign(text, SECOND)) + answer.text  # lines of unknown keys are not kept


@pytest.mark.parametrize(
    "malformed",
    [
        b"",
        b"\xff",
        b"old 0\n" + note(9).encode(),
        b"old 00\n\n" + note(9).encode(),
        b"old -1\n\n" + note(9).encode(),
        b"old 0\nAAAA\n\n" + note(9).encode(),
        b"old 0\n\n" + note(9).encode()[:-1],
        b"old 10\n\n" + note(9).encode(),
        b"old 0\n" + 64 * f"{to_base64(bytes(32))}\n".encode() + b"\n" + note(9).encode(),
        b"old 0\n\n" + str(notes.sign(f"{ORIGIN}\nnine\n{to_base64(bytes(32))}\n", FIRST)).encode(),
    ],
)
def test_a_malformed_request_is_answered_400(witness: RunningWitness, malformed: bytes) -> None:
    assert send(witness, malformed).status_code == 400


def test_a_large_body_and_other_methods_are_rejected(witness: RunningWitness) -> None:
    assert send(witness, bytes(LARGEST_BODY + 1)).status_code == 413
    assert httpx.get(f"{witness.url}/add-checkpoint").status_code == 405
    assert httpx.get(f"{witness.url}/witness.pem/checkpoint").status_code == 404


def test_a_witness_that_dies_after_it_wrote_cosigns_the_same_head_again(tmp_path: Path) -> None:
    folder = tmp_path / "witness"

    class Dies(WitnessFolder):
        def replace(self, origin: str, note: str) -> None:
            super().replace(origin, note)
            raise SystemExit

    dying = Dies.open(folder, NAME)
    with pytest.raises(SystemExit):
        WitnessService(dying, [FIRST.public]).add(body(0, 9))
    again = WitnessService(WitnessFolder.open(folder, NAME), [FIRST.public])
    conflict = again.add(body(0, 9))
    assert (conflict.status_code, conflict.body) == (409, b"9\n")
    assert again.add(body(9, 9)).status_code == 200
    assert again.add(body(9, 9, note(9, entries=REWRITTEN))).status_code == 422


def test_a_head_is_on_the_disk_before_its_cosignature_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = WitnessFolder.open(tmp_path / "witness", NAME)
    service = WitnessService(opened, [FIRST.public])

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "replace_file", full)
    assert service.add(body(0, 9)).status_code == 503
    monkeypatch.undo()
    assert opened.head(ORIGIN) is None
    assert service.add(body(0, 9)).status_code == 200


def test_of_two_forks_shown_at_one_time_to_two_processes_one_is_cosigned(tmp_path: Path) -> None:
    services = [WitnessService(WitnessFolder.open(tmp_path / "witness", NAME), [FIRST.public]) for _ in range(2)]
    assert services[0].add(body(0, 4)).status_code == 200
    forks = (body(4, 23), body(4, 9))
    begin, statuses = threading.Barrier(2), list[int]()

    def show(service: WitnessService, content: bytes) -> None:
        begin.wait()
        statuses.append(service.add(content).status_code)

    threads = [threading.Thread(target=show, args=each) for each in zip(services, forks, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 409]


def test_the_private_key_is_its_owners_and_has_one_name(tmp_path: Path) -> None:
    folder = tmp_path / "witness"
    key = WitnessFolder.open(folder, NAME).public
    assert (folder / PRIVATE).stat().st_mode & 0o777 == 0o600
    assert (folder / PUBLIC).read_text() == f"{key.vkey}\n"
    assert WitnessFolder.open(folder, NAME).public == key
    with pytest.raises(KeysUnusable, match="one name for ever"):
        WitnessFolder.open(folder, "another.example")
    (folder / PRIVATE).chmod(0o640)
    with pytest.raises(KeysUnusable, match="read by others"):
        WitnessFolder.open(folder, NAME)
    (folder / PRIVATE).unlink()
    with pytest.raises(KeysUnusable, match="is missing"):
        WitnessFolder.open(folder, NAME)
    with pytest.raises(Malformed):
        WitnessFolder.open(tmp_path / "other", "no name")
    assert not (tmp_path / "other" / PRIVATE).exists()


@pytest.mark.parametrize("content", ["nonsense", note(4)])
def test_a_head_that_was_changed_on_the_disk_is_no_head(tmp_path: Path, content: str) -> None:
    opened = WitnessFolder.open(tmp_path / "witness", NAME)
    service = WitnessService(opened, [FIRST.public])
    assert service.add(body(0, 9)).status_code == 200
    (tmp_path / "witness" / "heads" / DIGEST).write_text(content, encoding="utf-8")
    assert service.add(body(4, 23)).status_code == 503
    assert service.newest(DIGEST).status_code == 503


def test_a_head_is_forgotten_only_when_that_is_asked_for(tmp_path: Path) -> None:
    opened = WitnessFolder.open(tmp_path / "witness", NAME)
    service = WitnessService(opened, [FIRST.public])
    assert opened.forget(ORIGIN) is None
    assert service.add(body(0, 9)).status_code == 200
    head = opened.forget(ORIGIN)
    assert head is not None
    assert head.size == 9
    assert service.add(body(0, 4)).status_code == 200
