#ifndef EPSILOND_WEIGH_H
#define EPSILOND_WEIGH_H

#include "kernel.h"

/* Numbers that the arrays of a weighing take for each node. */
#define ROOM_FOR_NODE 6
/* Nodes that are summed together. */
#define BLOCK 16

Weighing weighing_in(double *room, int size);
void weigh(const Steps *steps, const Rule *rule, double tilt, Weighing *at);

#endif
