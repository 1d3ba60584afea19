"""Where answers come from: the cache, the event loop or a worker process."""
