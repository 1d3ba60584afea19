"""DP-μ²-FL of Reshef and Levy: the request, the random draws, and the simulation."""
