"""The processes that compute: one pool, its queues, and what a worker does."""
