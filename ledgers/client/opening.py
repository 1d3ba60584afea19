"""A budget that is held over time: the ledgers of a file, or of a service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.ledgers.client.ledgers import Books


def ledger(
    place: str | os.PathLike[str],
    *,
    runs: str | os.PathLike[str] | None = None,
    key: str | None = None,
    timeout: float = 60.0,
) -> Books:
    """The ledgers of an SQLite file, made if it is not there, or of the service at a URL.

    Keys that sign stand in the folder FILE.keys. `runs` is the folder in which used receipts are noted, FILE.runs
    beside a file, else one of the user's; all processes that might get the same receipt share it. `key` is the
    service's, EPSILOND_API_KEY if absent; `timeout` [s] is for each try of a request.

    Guarantees: what a ledger allows, all of it together, stays within its ε and δ, as long as its declared conditions
    are so: that everything is committed before it is released, and each receipt is used for one run.

    Example:
        >>> import epsilond, tempfile
        >>> books = epsilond.ledger(tempfile.mkdtemp() + "/ledger.db")
        >>> budget = books.open(
        ...     name="survey", dataset="survey",
        ...     unit="record", relation="add-or-remove-one", observer="released-models",
        ...     epsilon=1.0, delta=1e-6, slots=["gdp"], sealed=True,
        ... )
        >>> with budget.reserve("a mean", spec=epsilond.Gaussian(noise_multiplier=10.0), slot="gdp") as run:
        ...     receipt = run.commit()  # and only now is the mean computed
        >>> receipt.entry["count"]
        1
        >>> budget.what_if(spec=epsilond.Gaussian(noise_multiplier=1.0), slot="gdp").fits
        False
        >>> books.close()

    Raises:
        InvalidInput: the file is another process's or cannot be written; that is no URL.
        MissingExtra: the packages of the extra `ledger` are not installed.
    """
    with extra("ledger", "a ledger"):
        from epsilond.ledgers.client.ledgers import Books  # noqa: PLC0415  only the extra has their packages
        from epsilond.ledgers.client.local import file_place  # noqa: PLC0415
        from epsilond.ledgers.client.remote import ServicePlace  # noqa: PLC0415
        from epsilond.ledgers.client.runs import RunNotes  # noqa: PLC0415
    told = os.fspath(place)
    if "://" in told:
        noted = RunNotes(_folder(runs, _of_user()))
        return Books(ServicePlace(told, key, timeout=timeout, heads=noted.folder), noted)
    path = Path(told).expanduser()
    noted = RunNotes(_folder(runs, path.with_name(f"{path.name}.runs")))
    return Books(file_place(path, noted), noted)


def _folder(told: str | os.PathLike[str] | None, otherwise: Path) -> Path:
    return otherwise if told is None else Path(told)


def _of_user() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "epsilond" / "runs"
