"""Das et al.: convergence of DP-NormFedAvg."""
