"""One round of each algorithm, for the client and for the server, as functions and small classes over plain arrays.

Vectors are rows of the last axis; other axes are broadcast, so that several repetitions can run at once. Nothing here
draws random numbers: noise is passed as standard normal variables and batches as places. Simulations and training
therefore share these steps.
"""
