#pragma once

#include "kernel.h"

size_t weighing_room(int size);
Weighing weighing_in(double *room, int size);
void weigh(const Steps *steps, const Rule *rule, double tilt, Weighing *at);
void keep_weights(double count, Weighing *at);
