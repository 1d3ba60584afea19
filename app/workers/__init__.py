"""The processes that compute: one pool, its queues, and the work of a worker."""
