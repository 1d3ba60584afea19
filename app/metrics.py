"""Metrics for Prometheus at /metrics, in one registry per application."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, PlatformCollector, ProcessCollector

from epsilond.accountants import ENGINE_VERSION, VERSION
from epsilond.app.http.record import ServicePart
from epsilond.app.store.record import State

# Upper limits of the histogram's classes of response times, in seconds.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Upper limits of the classes of durations of a block (part of a simulation), in seconds.
BLOCK_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
# Upper limits of the classes of delays of the event loop, in seconds.
LAGS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
# Upper limits of the classes of relative widths of certified intervals.
WIDTHS = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


class Metrics:
    """Metrics of the service and of its process, which Prometheus (a monitoring program) reads at /metrics.

    A counter only grows, a gauge has a present value, and a histogram counts values in classes. Labels are names from
    the service's lists, never texts from clients.
    """

    def __init__(self) -> None:
        """Create all metrics of the service, in a separate registry, so that a process can have several instances."""
        self.registry = CollectorRegistry()
        self._refreshers: list[Callable[[], Awaitable[None]]] = []

        # Metrics of the process, such as memory and processor time, and of Python.
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.build = Info("epsilond_build", "Versions of the service", registry=self.registry)
        self.build.info({"version": VERSION, "engine_version": ENGINE_VERSION, "python": platform.python_version()})

        self._add_request_metrics(self.registry)
        self._add_computation_metrics(self.registry)
        self._add_job_metrics(self.registry)
        self._add_ledger_metrics(self.registry)

    def _add_request_metrics(self, registry: CollectorRegistry) -> None:
        """Add the metrics of requests, by route and by caller: the name of a key, `token` or `anonymous`.

        Args:
            registry: the collection of metrics that /metrics serves, to which these are added.
        """
        self.requests = Histogram(
            "epsilond_request_seconds",
            "Time to answer a request",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.caller_requests = Counter(
            "epsilond_caller_requests", "Answered requests, by caller", ("caller",), registry=registry
        )
        self.problems = Counter(
            "epsilond_problems",
            "Requests answered with a problem, by kind of problem and caller",
            ("problem", "caller"),
            registry=registry,
        )
        self.caller_cpu_seconds = Counter(
            "epsilond_caller_cpu_seconds", "CPU seconds of computations, by caller", ("caller",), registry=registry
        )

        # Answers about algorithms.
        self.calibrations = Histogram(
            "epsilond_calibration_seconds",
            "Time to answer a calibration",
            ("algorithm", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.risk_bounds = Histogram(
            "epsilond_risk_bound_seconds",
            "Time to answer risk bounds",
            ("algorithm", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.widths = Histogram(
            "epsilond_certificate_relative_width",
            "numerical.relative_width of the calibrations that were computed",
            ("algorithm",),
            buckets=WIDTHS,
            registry=registry,
        )

    def _add_computation_metrics(self, registry: CollectorRegistry) -> None:
        """Add the metrics of the cache, the pool of worker processes and the event loop.

        A lane is a queue of the pool: "read" for requests to be read, "question" for answers, and "job" for jobs.

        Args:
            registry: the collection of metrics that /metrics serves, to which these are added.
        """
        # The cache of answers, and the computations whose answers were not in it.
        self.cache = Counter(
            "epsilond_cache", "Outcomes by use of the cache: hit, miss or shared", ("use",), registry=registry
        )
        self.cache_bytes = Gauge("epsilond_cache_bytes", "Size of the cached answers in bytes", registry=registry)
        self.cache_entries = Gauge("epsilond_cache_entries", "Number of cached answers", registry=registry)
        self.under_way = Gauge("epsilond_computations_under_way", "Computations running or waiting", registry=registry)

        self.queued = Gauge("epsilond_queued", "Tasks that wait for a worker", ("lane",), registry=registry)
        self.running = Gauge("epsilond_running", "Tasks that a worker computes", ("lane",), registry=registry)
        self.background = Gauge(
            "epsilond_running_in_background", "Questions past their deadline that are computed", registry=registry
        )
        self.worker_deaths = Counter(
            "epsilond_worker_deaths", "Workers that crashed or were killed", ("cause",), registry=registry
        )
        self.all_warm = Gauge("epsilond_workers_warm", "1 if no worker is to be replaced, else 0", registry=registry)

        # An event loop with too much to do wakes tasks late.
        self.loop_lag = Histogram(
            "epsilond_event_loop_lag_seconds",
            "Delay with which the event loop wakes a sleeping task",
            buckets=LAGS,
            registry=registry,
        )
        self.loop_lag_p99 = Gauge(
            "epsilond_event_loop_lag_p99_seconds", "99th percentile of the lags of the last minute", registry=registry
        )

    def _add_job_metrics(self, registry: CollectorRegistry) -> None:
        """Add the metrics of jobs and of their store.

        A job is a computation that goes on after its request was answered. A block is a part of a simulation.

        Args:
            registry: the collection of metrics that /metrics serves, to which these are added.
        """
        self.jobs = Counter(
            "epsilond_jobs",
            "Jobs that ended in this service, by kind and final state",
            ("kind", "state"),
            registry=registry,
        )
        self.jobs_running = Gauge("epsilond_jobs_running", "Jobs that run in this service", registry=registry)
        self.store_up = Gauge("epsilond_store_up", "1 if the last call of the store was answered", registry=registry)
        self.store_jobs = Gauge("epsilond_store_jobs", "Jobs in the store", ("state",), registry=registry)
        self.store_bytes = Gauge("epsilond_store_bytes", "Size of the jobs in the store in bytes", registry=registry)

        # Parts of jobs that workers or machines of a cluster have run.
        self.simulation_blocks = Histogram(
            "epsilond_simulation_block_seconds",
            "Time of one block of a simulation",
            ("kind",),
            buckets=BLOCK_SECONDS,
            registry=registry,
        )
        self.cluster_steps = Counter(
            "epsilond_cluster_steps",
            "Steps of jobs given to a cluster, by where they ran",
            ("where",),
            registry=registry,
        )

        self.event_streams = Gauge("epsilond_event_streams", "Event streams that are open", registry=registry)
        self.job_waits = Gauge("epsilond_job_waits", "Requests that wait for jobs", registry=registry)

    def _add_ledger_metrics(self, registry: CollectorRegistry) -> None:
        """Add the metrics of ledgers and of their webhooks.

        A ledger keeps the privacy budget of a data set, and a move is a change of it. A webhook is a URL to which the
        service sends messages about ledgers.

        Args:
            registry: the collection of metrics that /metrics serves, to which these are added.
        """
        self.ledger_moves = Counter(
            "epsilond_ledger_moves",
            "Moves of ledgers answered here, by kind; retries count again",
            ("move",),
            registry=registry,
        )
        self.ledger_rejections = Counter(
            "epsilond_ledger_rejections",
            "Moves of ledgers answered here with a problem, by the move and by the kind of the problem",
            ("move", "problem"),
            registry=registry,
        )

        # A log that does not continue a known head may have lost moves, or may have been changed.
        self.ledger_reconciled = Gauge(
            "epsilond_ledger_reconciled",
            "0 if the log of ledgers was found not to continue a head that is known, else 1",
            registry=registry,
        )

        self.webhook_deliveries = Counter(
            "epsilond_webhook_deliveries",
            "Deliveries to webhooks, by outcome: delivered, failed and to be repeated, or dropped",
            ("outcome",),
            registry=registry,
        )
        self.webhook_messages = Gauge(
            "epsilond_webhook_messages_pending", "Messages that wait for their delivery to webhooks", registry=registry
        )

    def before_scrape(self, refresh: Callable[[], Awaitable[None]]) -> None:
        """Register a function that updates metrics; it is awaited before every answer of /metrics and must be quick."""
        self._refreshers.append(refresh)

    async def refresh(self) -> None:
        """Update the metrics: await all functions that `before_scrape` has registered."""
        for refresh in self._refreshers:
            await refresh()

    def record_store(self, counts: Mapping[State, int] | None, size: int | None) -> None:
        """Record the number of stored jobs by state and their size in bytes; None leaves a value unchanged."""
        if counts is not None:
            for state in get_args(State):
                self.store_jobs.labels(state).set(counts.get(state, 0))
        if size is not None:
            self.store_bytes.set(size)


METRICS: ServicePart[Metrics] = ServicePart("metrics")
