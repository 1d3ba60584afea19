#ifndef EPSILOND_QUESTIONS_H
#define EPSILOND_QUESTIONS_H

#include "kernel.h"

Status solve(Composition *all, double log_delta, double slack, Interval *found, double *width);
Status evaluate(Composition *all, double epsilon, Interval *found, double *width);
Status bound(Composition *all, double epsilon, double enough, double *found);

#endif
