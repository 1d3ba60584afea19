"""This project beside its peers: python -m benchmarks.peers [--short | --ours | --again] [--minutes M] [--fresh].

Every question goes to each accountant in turn, in a process with that peer alone; answers are kept in a cache folder,
so that a run which is out of minutes is carried on by the next. With everything measured it writes docs/benchmarks.md
and benchmarks/rows.csv. --ours measures this project only, beside the peers' answers that are kept. --short asks it a
few questions and writes nothing. --again writes the document from benchmarks/rows.csv and measures nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks import cases, document, report
from benchmarks.cases import Case
from benchmarks.driver import Runner
from benchmarks.environments import OURS, PEERS, Accountant, Peer, Unavailable
from benchmarks.rows import Row, Store, read_csv

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "epsilond-benchmarks"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of one question: CPU seconds and address space of all its calls; of a run: the moment to stop asking."""

    seconds: int = 20
    megabytes: int = 6000
    until: float = float("inf")

    @property
    def stated(self) -> str:
        """For the documents."""
        return f"{self.seconds} s of CPU and {self.megabytes} MB of address space"


@dataclass
class Session:
    """Asks what is not in the store yet, of this project alone if `ours`. `pending` counts what is left to ask."""

    store: Store
    cache: Path
    limits: Limits
    date: str
    ours: bool = False
    pending: int = 0
    _runners: dict[str, Runner | str] = field(default_factory=dict)
    _over: dict[str, list[Case]] = field(default_factory=dict)

    def rows(self, asked: Sequence[Case], peers: Sequence[Peer]) -> Iterator[Row]:
        """Case by case, all accountants in turn, so that the machine's moods are shared by all."""
        with ExitStack() as stack:
            for case in asked:
                for peer in (OURS, *peers):
                    for accountant in peer.accountants:
                        if not accountant.only or case.id in accountant.only:
                            yield from self._row(case, peer, accountant, stack)

    def _row(self, case: Case, peer: Peer, accountant: Accountant, stack: ExitStack) -> Iterator[Row]:
        limits = self.limits
        key = f"{accountant.name}|{case.fingerprint}|{peer.fingerprint}|{limits.stated}"
        row = self.store.get(key)
        if row is None:
            if any(case.harder_than(easier) for easier in self._over.get(accountant.name, ())):
                yield self._unasked(case, accountant, over="not tried, as an easier one was")
                return
            if time.monotonic() > limits.until or (self.ours and peer is not OURS):
                self.pending += 1
                return
            runner = self._runner(peer, stack)
            if isinstance(runner, str):
                yield self._unasked(case, accountant, absent=runner)
                return
            said = runner.ask(case, accountant.name, seconds=limits.seconds, megabytes=limits.megabytes)
            known = {"accountant": accountant.name, "version": runner.version, "date": self.date}
            row = Row.of(said, case=case.id, group=case.group, load=os.getloadavg()[0], **known)
            if "killed" in said:
                del self._runners[peer.name]  # it may be gone; the next question starts another
            else:
                self.store.put(key, row)
        if row.outcome == "over":
            self._over.setdefault(accountant.name, []).append(case)
        yield row

    def _unasked(self, case: Case, accountant: Accountant, **said: str) -> Row:
        return Row.of(said, case=case.id, group=case.group, accountant=accountant.name)

    def _runner(self, peer: Peer, stack: ExitStack) -> Runner | str:
        """The peer's runner, or why there is none."""
        if peer.name not in self._runners:
            try:
                runner = Runner(peer, self.cache)
                stack.callback(runner.close)
                self._runners[peer.name] = runner
            except Unavailable as error:
                self._runners[peer.name] = str(error)
        return self._runners[peer.name]


def short(cache: Path) -> list[Row]:
    """Our side on a few questions, in seconds."""
    session = Session(Store(cache / "short.jsonl"), cache, Limits(), "")
    session.store.forget()
    return list(session.rows(cases.short(), ()))


def merged(kept: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Rows of an earlier run with those of a new one in their place, in the order of questions and accountants."""
    found = {(row.case, row.accountant): row for row in (*kept, *new)}
    names = [each.name for peer in (OURS, *PEERS) for each in peer.accountants]
    order = ((case.id, name) for case in cases.everything() for name in names)
    return [found[each] for each in order if each in found]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the document."""
    chosen = _parser().parse_args(arguments)
    if chosen.again:
        kept = read_csv(report.CSV)
        limits = Limits(seconds=chosen.seconds, megabytes=chosen.megabytes)
        document.write("peers", report.markdown(kept, limits=limits.stated))
        return 0
    console = Console(width=max(Console().width, 170))
    cache: Path = chosen.cache
    cache.mkdir(parents=True, exist_ok=True)
    if chosen.short:
        report.show(console, short(cache))
        return 0
    peers = [peer for peer in PEERS if not chosen.peers or peer.name in chosen.peers]
    until = time.monotonic() + 60 * chosen.minutes
    limits = Limits(seconds=chosen.seconds, megabytes=chosen.megabytes, until=until)
    session = Session(Store(cache / "rows.jsonl"), cache, limits, chosen.date, ours=chosen.ours)
    if chosen.fresh:
        session.store.forget([each.name for each in OURS.accountants] if chosen.ours else None)
    rows: list[Row] = []
    for row in session.rows(cases.everything(), peers):
        rows.append(row)
        console.print(report.line(row), highlight=False, soft_wrap=True)
    report.show(console, rows)
    if session.pending:
        console.print(f"{session.pending} questions are left: run the same command again.")
    kept = read_csv(report.CSV) if chosen.peers and report.CSV.exists() else []
    report.write(merged(kept, rows), limits=limits.stated)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few questions, this project only, nothing written")
    parser.add_argument("--ours", action="store_true", help="measure this project only; the peers' rows are those kept")
    parser.add_argument("--again", action="store_true", help="write the document from the rows of the last run")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop asking after so many; 0 only writes")
    parser.add_argument("--seconds", type=int, default=Limits.seconds, help="most CPU of one question")
    parser.add_argument("--megabytes", type=int, default=Limits.megabytes, help="most address space of one question")
    parser.add_argument(
        "--peers", nargs="*", choices=[peer.name for peer in PEERS], help="these only; rows of others stay"
    )
    parser.add_argument("--fresh", action="store_true", help="measure anew: everything, or our rows with --ours")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of environments and answers")
    today = datetime.now(tz=UTC).date().isoformat()
    parser.add_argument("--date", default=today, help="the date to write down")
    return parser


if __name__ == "__main__":
    sys.exit(main())
