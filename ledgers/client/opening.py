"""Entry point of the library to ledgers: those of a file, or of a service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from epsilond.extras import extra

if TYPE_CHECKING:
    from epsilond.ledgers.client.books import Books


def ledger(
    place: str | os.PathLike[str],
    *,
    runs: str | os.PathLike[str] | None = None,
    key: str | None = None,
    timeout: float = 60.0,
) -> Books:
    """Return the ledgers of an SQLite file, which is created if it does not exist, or of a service.

    Args:
        place: path of the file, or URL of the service. The signing keys of a file are in the folder FILE.keys.
        runs: folder in which used receipts are noted. By default it is FILE.runs next to a file, and a folder in the
            home directory for a service. All processes that might get the same receipt must share it.
        key: API key of the service; EPSILOND_API_KEY by default.
        timeout: longest time of each try of a request, in seconds.

    Returns:
        The ledgers. Their methods open ledgers, reserve budget for runs and commit runs.

    Guarantees:
        Everything that a ledger allows stays within its ε and δ, under its declared conditions: outputs are released
            only after their commit, and each receipt is used for one run.

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
        InvalidInput: another process has the file, it cannot be written, or the URL is not valid.
        MissingExtra: the packages of the extra `ledger` are not installed.
    """
    with extra("ledger", "a ledger"):
        from epsilond.ledgers.client.books import Books  # noqa: PLC0415  only the extra has their packages
        from epsilond.ledgers.client.local import file_place  # noqa: PLC0415
        from epsilond.ledgers.client.remote import ServicePlace  # noqa: PLC0415
        from epsilond.ledgers.client.runs import RunNotes  # noqa: PLC0415
    location = os.fspath(place)
    is_url = "://" in location
    if is_url:
        notes_folder = _user_folder() if runs is None else Path(runs)
        notes = RunNotes(notes_folder)
        return Books(ServicePlace(location, key, timeout=timeout, heads=notes.folder), notes)
    path = Path(location).expanduser()
    notes_folder = path.with_name(f"{path.name}.runs") if runs is None else Path(runs)
    notes = RunNotes(notes_folder)
    return Books(file_place(path, notes), notes)


def _user_folder() -> Path:
    """Return the user's folder for notes on runs."""
    configured = os.environ.get("XDG_STATE_HOME")
    state_folder = Path(configured) if configured else Path.home() / ".local" / "state"
    return state_folder / "epsilond" / "runs"
