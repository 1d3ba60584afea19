"""Lowy and Razaviyayn: excess risk of noisy mini-batch SGD and its accelerated forms, from above and below."""
