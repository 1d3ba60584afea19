"""Jobs of the service: accepted, queued, run and kept."""
