#ifndef EPSILOND_NODES_H
#define EPSILOND_NODES_H

#include "kernel.h"

Status build(Composition *all, Found at, double tilt, double epsilon, double reach, Line *line);
typedef struct {
    double value, slope, error;
} Sums;
Sums sums(const Line *line, double epsilon);
Status enclose(const Composition *all, const Line *line, double epsilon, Interval *found);
Status estimate(const Line *line, double epsilon, double *log_delta, double *slope);

#endif
