"""Lemmas of Appendix E of Lowy and Razaviyayn on the variance, the stability and the descent of Algorithm 1."""
