"""Questions: read from bytes, answered from the cache, in the event loop, by a worker, or as a job."""
