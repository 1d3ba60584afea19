#pragma once

#include "kernel.h"

/* Cells of the noise have a width of 1/16 standard deviation: with that, bounds of integrals are some percent too high. */
#define CELL 0.0625
/* The first cell in standard deviations: the mass before it is 1e-17. */
#define FIRST_CELL -8.5
/* Cells up to FARTHEST, 16 to a standard deviation. */
#define CELLS ((FARTHEST + 8) * 16 + 8)

/* The weight 1/(1 + e^-sinh((x - centre)/scale)), and how it is bounded off the axis (A9). */
typedef struct {
    double centre, scale;
} Weight;

/* Cells of the noise of one kind of steps, at whose beginnings log phi r, log r and p are known, and a bound of the integral of phi r
 * over each. Of a plan, sinh of the weights' arguments at the beginnings, log of a bound of 1 - v on the axis, and at a height bounds of
 * the turn of r and of the logarithm of the integral of |phi r^(1 + l) w (1 - v)| over each. */
typedef struct {
    const Loss *loss;
    double count;
    double log_first[CELLS + 1], ratio[CELLS + 1], response[CELLS + 1], mass[CELLS + 1];
    double far_steep[CELLS + 1], large_steep[CELLS + 1], log_kept[CELLS + 1], log_share[CELLS + 1], turn[CELLS + 1];
} Cells;

/* What is chosen for a line: any choice gives true ends. Losses are large by the weight w, all of them where its scale is 0;
 * noise is left out by the weight v. */
typedef struct {
    double tilt, period, last, log_truncation;
    Weight large, far;
    Few few;
} Plan;

double cell(int k);
void set_few_cells(const Steps *steps, Cells *cells);
void set_few_weights(const Plan *plan, Cells *cells);
double weight_growth(void);
double log_weight(double steep, double scale, double height);
double highest(const Plan *plan, const Loss *loss);
double log_integral(const Plan *plan, Cells *cells, double tilt, double height);
double log_moment(const Cells *cells, double tilt);
Status make_plan(Cells *cells, double epsilon, double log_once, double nats, Plan *plan);

/* Partial sums over the noise, for wide registers. */
#define LANES 8

/* Real and imaginary parts of many numbers. */
typedef struct {
    double *real, *imaginary;
} Complexes;

/* Noise on the line x + i height: per node log r and the tilted densities of large and of small losses. Nodes from `first_large`
 * on and before `last_small` have weights that count. The errors are those of whole sums, and of masses at the tilts 0 and -1. */
typedef struct {
    double height, step;
    int size, first, first_large, last_small, active;
    double *room;
    Complexes loss, large, small, turned, rotation;
    double large_error, small_error, mass_error[2], mass[2];
} Noise;

static inline Complex times(Complex a, Complex b)
{
    return (Complex){a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

static inline void set(Complexes numbers, int k, Complex value)
{
    numbers.real[k] = value.real;
    numbers.imaginary[k] = value.imaginary;
}

static inline Complex exponential(double real, double imaginary)
{
    double size = exp(real);
    return (Complex){size * cos(imaginary), size * sin(imaginary)};
}

Status set_noise(const Plan *plan, Cells *cells, double spacing, double most_nodes, Noise *noise);
void sum_noise(Noise *noise, int k, double spacing, Complex *large, Complex *small);
void forget_noise(Noise *noise);
