"""Makes one move again and again, and is killed at each of its statements in turn; run with a file or a URL.

Each attempt is a process that kills itself with SIGKILL before its n-th statement, or before its COMMIT, or just after
it. Prints the number of places at which it was killed; fails if the rows say after one of them what is not so.
"""

from __future__ import annotations

import os
import signal
import sys

from sqlalchemy import event, func, select

from epsilond.ledgers.store import entries, keys, ledgers, reservations
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.tables import ENTRIES, HOLDINGS, KEYS, NODES
from epsilond.ledgers.store.transactions import looking, moving
from tests.ledgers.store.samples import CENT, answer, enter, kept, ledger, reservation, spent


def move(place: str, attempt: int) -> None:
    """A reservation, its debit, its entry with its node, and its key; killed at the place of this number."""
    database = open_store(place)
    places = iter(range(attempt + 1))

    def perhaps_killed(*_: object) -> None:
        if next(places) == attempt:
            os.kill(os.getpid(), signal.SIGKILL)

    with looking(database) as connection:
        before = ledgers.load(connection, "a")["a"]
    event.listen(database._engine, "before_cursor_execute", perhaps_killed)
    event.listen(database._engine, "commit", perhaps_killed)
    with moving(database, {"a": before.version}) as connection:
        ledgers.write(connection, before, spent(before))
        reservations.add(connection, reservation(f"r{attempt}"))
        enter(connection, "a", body=f"{attempt}")
        keys.keep(connection, [answer(f"k{attempt}")])
    perhaps_killed()


def check(place: str) -> int:
    """Every debit has its entry, and every entry its debit; answers how many there are."""
    database = open_store(place)
    with looking(database) as connection:
        row = ledgers.load(connection, "a")["a"]
        told = [each.seq for each in entries.page(connection, limit=1000)]
        counts = {
            connection.execute(select(func.count()).select_from(table)).scalar_one() for table in (HOLDINGS, KEYS)
        }
        whole = {
            entries.size(connection),
            *(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in (ENTRIES, NODES)),
        }
    database.close()
    assert told == list(range(len(told)))
    assert whole == {len(told)}
    assert counts == {row.version} == {len(told) - 1}
    assert row.parts[0].used == row.parts[0].held == CENT * row.version
    return row.version


def main(place: str) -> None:
    """Kill it at one place after another, until it is through."""
    database = open_store(place)
    kept(database, ledger())
    database.close()
    attempt = made = 0
    while True:
        child = os.fork()
        if child == 0:
            move(place, attempt)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        before, made = made, check(place)
        if status == 0:
            assert made == before + 1
            break
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        assert made - before in (0, 1)
        attempt += 1
    print(attempt, made)


if __name__ == "__main__":
    main(sys.argv[1])
