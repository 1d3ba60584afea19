#pragma once
#include "kernel.h"

Status best_tests(Composition *all, int count, const double *rates, double rounding, BestTest *found,
                  Answer *at_zero);
Status upper_log_deltas(Composition *all, int count, const double *epsilons, double *found);
