#pragma once

#include "kernel.h"

/* Bounds of |phi(t')| for all t' >= t of one step at a tilt: a, c(l) and K(l) from above, above and below, and rungs with
 * log of a bound from each of them on. */
typedef struct {
    const Steps *steps;
    double tilt, atom, most, least_cumulant;
    double *frequency, *log_bound;
    int rungs;
} DrawnTail;

Status make_drawn_tail(const Steps *steps, const Quadrature *quadrature, double tilt, double first, DrawnTail *tail);
double drawn_decay(const DrawnTail *tail, double frequency);
