"""Parts of the Rényi divergence: its integrand without cancellation, and the nodes of its quadrature."""
