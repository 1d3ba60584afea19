#pragma once

#include "kernel.h"

double grid_error(const Weighing *at, double spacing, int nodes);
bool suits_grid(const Weighing *at, int nodes, double count, double error);
Status grid_change(const Weighing *at, double spacing, int nodes, Change *change);
