#pragma once

#include "kernel.h"

/* Complex numbers as two arrays. */
typedef struct {
    double *real, *imaginary;
} Wave;

/* Roots of unity e^(2 pi i k/size) for k below three quarters of the size; a transform takes every step-th of them. */
typedef struct {
    double *cosine, *sine;
    int step;
} Roots;

/* Largest error of a transform of 2^bits numbers, in units of the sum of their moduli (certificate, A4, "On a grid"). */
static inline double fourier_error(int bits)
{
    return 24 * UNIT * (bits + 1);
}

size_t roots_room(int bits);
Roots set_roots(int bits, double *room);
Wave transform(int bits, Wave input, Wave room, const Roots *roots);
