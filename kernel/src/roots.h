#pragma once

#include "kernel.h"

Status solve(Composition *all, double log_delta, double slack, Answer *best);
Status threshold(Composition *all, double log_size, Threshold *found);
