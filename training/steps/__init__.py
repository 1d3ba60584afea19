"""What a client and what a server does in one round, as functions and small objects over plain arrays.

Vectors are rows of the last axis; axes before it are broadcast, so that repetitions may run side by side. Nothing here
draws anything: noise comes as standard normal draws, batches as places. So what is simulated is what is trained with.
"""
