"""Reshef and Levy: noise cancellation."""
