"""A module whose import does not end. It gives its process a name, so that it is seen when it has come this far."""

from __future__ import annotations

import threading
from pathlib import Path

Path("/proc/self/comm").write_text("for-ever")
threading.Event().wait()
