"""DP-μ²-FL of Reshef and Levy: its draws and the algorithm."""
