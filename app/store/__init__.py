"""The store of jobs: tables, migrations, leases."""

from epsilond.app.store.record import AttemptProgress as AttemptProgress
from epsilond.app.store.record import Beat as Beat
from epsilond.app.store.record import End as End
from epsilond.app.store.record import Record as Record
from epsilond.app.store.record import State as State
from epsilond.app.store.store import Store as Store
from epsilond.storage.faults import StoreFault as StoreFault
from epsilond.storage.faults import StoreLocked as StoreLocked
from epsilond.storage.faults import StoreUnavailable as StoreUnavailable
