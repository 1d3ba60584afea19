#pragma once

#include "kernel.h"

/* Masses of one step on a lattice from its first point on, and the number of such steps. */
typedef struct {
    const double *masses;
    size_t size;
    unsigned long long count;
} LatticeSteps;

Status convolve(int bits, int kinds, const LatticeSteps *steps, double *masses);
