/* T steps of one Poisson-subsampled Gaussian loss, composed on a contour: the quick way of epsilond's contour engine.
 *
 * The mathematics, its names and its proofs are those of accountants/engine/contour/ and docs/engine-certificate.md;
 * what is written there once in Python is followed here function by function. Every error term is the one charged
 * there, but for one sum. Why these charges cover this arithmetic:
 *
 *   - additions, products, quotients and roots are IEEE doubles, one rounding each: no excess precision, no
 *     reassociation, no contraction (FLT_EVAL_METHOD is checked, and the build asks for -ffp-contract=off);
 *   - sums are charged gamma_n = nu/(1 - nu) against the sum of moduli, which holds in any order, so in this one; the one
 *     sum that is formed in another way than in Python has a charge of its own (line.c, `change`; certificate, A4);
 *   - exp, expm1, log, log1p, tan, atan2, sin, cos and hypot may err by four units in the last place (tan by eight).
 *     The libraries of C state less (glibc's manual, "Errors in Math Functions": at most two for all of them), and
 *     the Python side checks known answers of the very library that is linked before it relies on this file;
 *   - the normal tail is bounded by elementary functions that are proved to lie above it (rule.c).
 *
 * What cannot be answered here is refused, and the caller turns to the Python path. */
#ifndef EPSILOND_KERNEL_H
#define EPSILOND_KERNEL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#if FLT_EVAL_METHOD != 0
#error "doubles must be rounded to doubles after every operation"
#endif

#define UNIT 0x1p-53
#define PI 3.14159265358979323846
#define LOG_2 0.69314718055994530942
#define LOG_SQRT_2PI 0.91893853320467274178

/* A product takes about a nanosecond here, so that the budget lies between `QUICK` and DEFAULT_BUDGET of composition.py:
 * no more than some 20 ms. */
#define MOST_NOISE_NODES 4096
#define MOST_FREQUENCIES 8192
#define MOST_PRODUCTS (1 << 24)
/* Where giant losses have a share in the saddle: what takes more is more often refused in the end than answered. */
#define MOST_PRODUCTS_OF_JUMPS (1 << 22)

/* Of delta, relative: a wider answer is left to the Python path, which has other ways. */
#define GOOD_WIDTH 2.5e-8

#define REACH 1.2
#define HEIGHTS 12
#define STRIPS 7
#define DECAY_HEIGHTS 5
#define STEPS 8
#define PLACES 30
#define SURVEYS 8
#define LINES 8
#define CUTS 2

typedef enum {
    FOUND,
    BEYOND_BUDGET,
    NO_DECAY,
    NO_TILT,
    NOT_POSITIVE,
    INCONSISTENT,
    NO_MEMORY
} Status;

/* One step's loss: the first law has density phi r^density, the loss is right log r(x) + left log r(-x). Noise beyond
 * `end` is left out; it is infinite unless the noise is cut. */
typedef struct {
    double rate, shift, log_odds;
    double density, right, left;
    double end;
} Loss;

typedef struct {
    double least, most;
} Tilts;

/* Nodes origin + (first + k) step, k < size, over a window; `error` bounds |sum - M(z)|/M(l) of one step, but for what
 * the end of cut noise adds to |sum - M(z)|, which is at most e^(log_end + (1 + l) ratio_end). */
typedef struct {
    double origin, step, c, error, log_end, ratio_end;
    long long first;
    int size;
} Rule;

/* lambda with K, K' and F'' there; estimates. */
typedef struct {
    double tilt, cumulant, mean, curvature;
} Saddle;

/* A quadrature for real tilts in [0, reach], and places on its ladder of tilts as far as they are known. */
typedef struct {
    double reach;
    Rule rule;
    double *log_first, *loss, *response, *mirrored, *work;
    double extreme, largest;
    Saddle places[PLACES];
    bool known[PLACES];
} Survey;

/* Upper bounds of log C(mu) + K(mu) at tilts other than lambda, and at lambda. */
typedef struct {
    double above[STEPS], log_above[STEPS], below[STEPS + 1], log_below[STEPS + 1], log_here;
    double series_above[STEPS], series_below[STEPS + 1];
    int aboves, belows;
} Chernoff;

/* The integrand on its nodes; t_k = k spacing. */
typedef struct {
    Saddle place;
    Chernoff chernoff;
    double spacing, truncation, centre, cumulant, cumulant_error, fixed_error, weighted_frequency;
    double epsilon, reach; /* around which it was laid, and how far from there it serves, in nats */
    int nodes, most_products;
    double *real, *imaginary; /* (spacing/pi) phi^T/(z(1 + z)), the first halved */
} Line;

/* A line at a tilt of the grid that neighbouring questions share, or the refusal to lay it. */
typedef struct {
    double tilt;
    Status status;
    Line line;
} Shared;

typedef struct {
    Saddle place;
    double reach; /* of the survey it was found in */
} Found;

/* T steps, with what was laid for them: a function of the tilt alone, so that what was asked before changes nothing.
 * Of cut noise, `wanted` is what was asked to be left out, `log_leak` bounds what is; else both are -inf. */
typedef struct Composition {
    Loss loss;
    double count, supremum, first_reach, wanted, log_leak;
    Survey surveys[SURVEYS];
    Shared shared[LINES];
    struct Composition *cuts[CUTS];
    int next_survey, next_shared, next_cut;
    bool found_known;
    double found_at;
    Found found; /* the place at the last epsilon */
} Composition;

typedef struct {
    double lower, upper;
} Interval;

/* A function of a place that rises through zero at the wanted tilt. */
typedef struct {
    bool at_epsilon;
    double wanted;
} Target;

#endif
