#pragma once

#include "kernel.h"

/* Complex numbers as two arrays. */
typedef struct {
    double *real, *imaginary;
} Wave;

/* Largest error of a transform of 2^bits numbers, in units of the sum of their moduli (certificate, A4, "On a grid"). */
static inline double fourier_error(int bits)
{
    return 24 * UNIT * (bits + 1);
}

size_t fourier_room(int bits);
Wave transform(int bits, Wave input, double *room);
