#ifndef EPSILOND_ROOTS_H
#define EPSILOND_ROOTS_H

#include "kernel.h"

Status solve(Composition *all, double log_delta, double slack, Answer *best);
Status threshold(Composition *all, double log_size, Threshold *found);
Status estimate_log_delta(Composition *all, double epsilon, double *log_delta);

#endif
