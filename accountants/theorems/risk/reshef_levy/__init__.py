"""Reshef and Levy: excess risk of noise cancellation."""
