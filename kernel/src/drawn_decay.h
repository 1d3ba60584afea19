#pragma once

#include "kernel.h"

/* A component: its loss and weight, and a and c(l) from above. */
typedef struct {
    Loss loss;
    double weight, atom, most;
} TailPart;

/* Bounds of |phi(t')| for all t' >= t of one step at a tilt: a and K(l) from above and below, and rungs with log of a bound
 * from each of them on. */
typedef struct {
    const Steps *steps;
    TailPart *parts;
    double tilt, atom, least_cumulant;
    double *frequency, *log_bound;
    int rungs;
} DrawnTail;

Status make_drawn_tail(const Steps *steps, const Quadrature *quadrature, double tilt, double first, DrawnTail *tail);
double drawn_decay(const DrawnTail *tail, double frequency);
