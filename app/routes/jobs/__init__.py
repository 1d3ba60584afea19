"""Routes of jobs: simulations, and questions that take long."""
