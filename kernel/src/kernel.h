/* Compositions of privacy losses whose transforms are known, by an integral along a contour: types and limits.
 *
 * The mathematics, its names and its proofs are those of docs/engine-certificate.md (A0 to A10), and every error term is
 * the one charged there. Why these charges cover this arithmetic:
 *
 *   - additions, products, quotients and roots are IEEE doubles, one rounding each: no excess precision, no
 *     reassociation, no contraction (FLT_EVAL_METHOD is checked, and the build asks for -ffp-contract=off);
 *   - sums are charged gamma_n = nu/(1 - nu) against the sum of moduli, which holds in any order, so in this one; the sum
 *     over the noise has a charge of its own (change.c; certificate, A4, "Compiled");
 *   - exp, expm1, log, log1p, erf, tan, tanh, sinh, cosh, atan2, sin, cos and hypot may err by four units in the last place
 *     (tan by eight). The libraries of C state less (glibc's manual, "Errors in Math Functions"), and the Python side
 *     checks known answers of the very library that is linked before it relies on this one;
 *   - the normal tail is bounded by elementary functions that are proved to lie above it (loss.c).
 *
 * What cannot be answered here is refused, and the caller turns to Python. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#if FLT_EVAL_METHOD != 0
#error "doubles must be rounded to doubles after every operation"
#endif

/* Where the loader can choose, a function is also compiled for wider registers: the same operations in the same order. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__)
#define WIDER __attribute__((target_clones("avx2", "default")))
#else
#define WIDER
#endif

/* Before a loop whose turns read nothing that another one writes. */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#define UNIT 0x1p-53                              /* unit roundoff of doubles */
#define PI 3.14159265358979323846                 /* rounded to a double */
#define LOG_SQRT_2PI 0.91893853320467274178       /* log of the root of 2 pi, rounded to a double */

/* Most nodes of a quadrature over the noise, of a line, and atoms that are summed one by one. */
#define MOST_NODES (1 << 14)
/* Most products of nodes of both in all: a nanosecond each. A line alone may take three times as many (line.c); where its
 * answer will do, no other line is then tried. */
#define MOST_PRODUCTS (1 << 25)

/* Width of an enclosure of log delta below which no further way is tried: 1e-9 of an epsilon of a few nats. */
#define GOOD_WIDTH 2.5e-8
/* Width above which nothing is answered: the relative width of delta that the lattice is asked for. */
#define WIDEST 1e-4

/* Nats by which the alias and the frequencies left out lie below delta: e^-28 is a part in 10^12. */
#define NATS 28.0
/* Nats by which the quadrature of one step, and the weights dropped, lie below 1/T: a part in 10^13 of all steps. */
#define QUADRATURE_NATS 31.0
/* Nats below the largest term of a sum at which terms are bounded and not evaluated: 2^14 of them make 10^-15. */
#define NEGLIGIBLE 45.0

/* Largest exponent of what is scaled, so that it and its products are doubles. */
#define LARGEST 600.0

/* Most steps of a search for a place; ten are common. */
#define ITERATIONS 40
/* Most times that a line or a cut is made anew for one question; two are common. */
#define REMAKES 8

/* Tilts of a ladder, from its reach down to e^-10 of that. */
#define RUNGS 30
/* Surveys and lines that are kept, as questions nearby share them: they fit into a megabyte or two. */
#define KEPT 8

/* Half-width of the range of epsilon that a line serves, in units of the integrand's width: on a wider one the period
 * doubles. */
#define REACH 1.2

/* Angle in radians by which the highest line of the noise turns e^y: less than pi/2. */
#define STEEPEST 1.4
/* The farthest noise in standard deviations: beyond it lies the mass e^-800. */
#define FARTHEST 40

/* Most components of a mixture, and most numbers that one question is asked about. */
#define MOST_COMPONENTS 64

/* Nodes that are summed together; of cheaper work four times as many are done together. */
#define BLOCK 16

/* Layers of the noise (rule.c). */
#define LAYERS 36
/* Other tilts than the line's at which delta is bounded (chernoff.c). */
#define OTHERS 8

typedef enum {
    DONE,
    BEYOND_BUDGET,
    NO_DECAY,
    NO_TILT,
    NOT_POSITIVE,
    INCONSISTENT,
    NO_MEMORY,
    INTERRUPTED /* by the caller */
} Status;

/* Whether a status ends a question: nothing else is tried. */
static inline bool ends_all(Status status)
{
    return status == NO_MEMORY || status == INTERRUPTED;
}

/* Asks the caller, at most every INTERVAL seconds of processor time, whether a long computation is to stop. */
#define INTERVAL 0.05
typedef struct {
    bool (*interrupts)(void);
    double due; /* seconds of processor time; 0 before the first question */
    bool stopped;
} Watch;

typedef struct {
    double lower, upper;
} Interval;

/* Components of a mixture by rising shifts. All weights but one are the very doubles of the law; that one is what they
 * leave of one, rounded. */
typedef struct {
    int size;
    double shift[MOST_COMPONENTS], weight[MOST_COMPONENTS], log_weight[MOST_COMPONENTS];
} Mixture;

/* One step's loss: the first law has density phi r^density, the loss is right log r(x) + left log r(-x). Noise beyond
 * `end` is left out; it is infinite unless the noise is cut. With a mixture r(x) = sum w_k e^(s_k x - s_k^2/2), and
 * `shift` is the largest s_k (certificate, A10). */
typedef struct {
    const Mixture *mixture; /* NULL for one component next to N(0, 1) */
    double rate, shift, log_odds;
    double density, right, left;
    double end;
    bool drawn; /* on a batch drawn without replacement (drawn.c), where r has no mirror image */
} Loss;

/* Independent steps of one sampled Gaussian loss. */
typedef struct {
    Loss loss;
    double count;
} Steps;

/* Independent Laplace losses of one shift. */
typedef struct {
    double shift, count;
} Laplace;

typedef struct {
    double least, most;
} Tilts;

/* Nodes origin + (first + k) step, k < size, over a window; `error` bounds |sum - M(z)|/M(l) of one step, but for what
 * the end of cut noise adds to |sum - M(z)|, which is at most e^(log_end + (1 + l) ratio_end). */
typedef struct Rule {
    double origin, step, c, error, log_end, ratio_end;
    long long first;
    int size;
    struct Rule *parts; /* of a mixture drawn without replacement, one for each component; NULL of others */
} Rule;

/* Layers of the noise, each from so far beyond its mode: log of their mass, and bounds of turn and spread there. */
typedef struct {
    double log_mass[LAYERS], turn[LAYERS], spread[LAYERS];
} Layers;

typedef struct {
    Layers inside, outside;
} Swings;

/* A tilt with K, K' and F'' there; estimates. */
typedef struct {
    double tilt, cumulant, mean, curvature;
} Saddle;

/* A saddle, and the reach of the survey that holds it. */
typedef struct {
    Saddle saddle;
    double reach;
} Located;

/* Steps of one kind on a quadrature for real tilts: M(l) = sum e^(log_first + l loss). */
typedef struct {
    Rule rule;
    double *log_first, *loss;
    double extreme, largest;
} Quadrature;

/* Quadratures of all kinds of steps for real tilts in [0, reach], and the places on its ladder that are known. */
typedef struct {
    double reach;
    int kinds, nodes, most_nodes;
    Quadrature *quadratures;
    double *room, *work;
    Saddle places[RUNGS];
    bool known[RUNGS];
} Survey;

/* Upper bounds of log C(mu) + K(mu) at tilts other than the line's and at that, and of both series of the alias. */
typedef struct {
    double above[OTHERS], log_above[OTHERS], series_above[OTHERS];
    double below[OTHERS + 1], log_below[OTHERS + 1], series_below[OTHERS + 1];
    double log_here;
    int aboves, belows;
} Chernoff;

/* A complex number. */
typedef struct {
    double real, imaginary;
} Complex;

/* Of a line for a short run (few.c): the masses of sums with a large loss at the tilts 0 and -1, bounds of what lies a
 * period and more beyond, and of sums without a large loss. `least` is the least sum. */
typedef struct {
    double mass[2], mass_error[2], above, log_above, small_tilt, log_small, log_tail, log_leak, least;
    bool on, split;
} Few;

/* The integrand on its nodes t_k = k spacing: (spacing/pi) phi^T/(z(1 + z)), the first halved. */
typedef struct {
    Saddle place;
    Chernoff chernoff;
    double spacing, truncation, centre, cumulant, cumulant_size, cumulant_error, fixed_error, weighted_frequency;
    double epsilon, reach; /* for which it was made, and how far from there it serves, in nats */
    int nodes;
    bool dear; /* whether it took more than MOST_PRODUCTS */
    bool exact;        /* whether no grid may be used for it */
    double grid_error; /* about what grids add to the error of a term, relative to it */
    double size;       /* sum of the terms' moduli */
    double *real, *imaginary;
    Few few;
} Line;

/* A line at a tilt of the grid that neighbouring questions share, or why there is none. */
typedef struct {
    double tilt;
    Status status;
    Line line;
} Shared;

/* Atoms of a run of Laplace losses: totals shift (steps - 2k) with their log masses, from the largest on. */
typedef struct {
    double shift, steps;
    double *log_mass;
} Atoms;

/* A composition, with what was computed for it: a function of the tilt alone, so that what was asked before changes
 * nothing. Of cut noise, `wanted` is what was asked to be left out, `log_leak` bounds what is; else both are -inf. */
typedef struct Composition {
    Steps *steps;
    Mixture *mixtures; /* which steps refer to; those of cut noise are its origin's */
    int kinds;
    double square; /* of the Gaussian shift of all steps that are not sampled */
    Laplace *laplace;
    int laplace_kinds;
    bool split; /* whether it is a run of Laplace losses of one kind, less than two of which between the ends are apart */
    Atoms atoms[2];
    double supremum, first_reach, wanted, log_leak;
    bool cut;
    Survey surveys[KEPT];
    Shared shared[KEPT], few[KEPT / 4]; /* `few` by their epsilon */
    struct Composition *cuts[KEPT / 4];
    int next_survey, next_shared, next_few, next_cut;
    bool located_known;
    double located_at;
    Located located; /* at the last epsilon */
    Watch *watch;    /* of the call that runs */
} Composition;

/* A sum that is rounded about once: what rounding takes away is added up beside it. */
typedef struct {
    double sum, rest;
} Sum;

/* phi of one step: log max(|phi|, eta), arg phi, log(1 + eta/max(|phi|, eta)), and the rounding of the first two. */
typedef struct {
    double log_modulus, phase, log_growth, rounding;
} Polar;

/* phi^T of all parts on the nodes of a line, as it is added up part by part (A4, A5 "Several parts"). */
typedef struct {
    int nodes, parts;
    double *log_modulus, *phase, *log_growth, *rounding, *moved;
    Sum centre, cumulant;
    double cumulant_size, cumulant_error;
} Powers;

/* The nodes of the noise under the tilted law of one step; of those that weigh enough, weight and deviation from the
 * mean. `dropped` is what the others weigh, `slope` bounds what phi errs by at a frequency, over that. */
typedef struct {
    int size, kept;
    double *weight, *deviation, *loss, *loss_error, *exponent, *error;
    double cumulant, cumulant_error, mean, dropped, slope, at_ends;
} Weighing;

/* phi - 1 at the nodes of a line, with room for what is summed on the way. */
typedef struct {
    int babies, giants, stride;
    double *real, *imaginary, *room;
} Change;

/* One step at a real tilt: x = l + 1/2, tanh xs, f = tanh(xs)/2x, K and about K'. */
typedef struct {
    double x, tanh, inner, cumulant, mean;
} TiltedLaplace;

/* What is summed in closed form beside an integral, over e^log_scale: ends of it at an epsilon, and two derivatives. */
typedef struct {
    double log_scale, lower, upper, slope, curvature;
} Beside;

/* log delta with its derivative in epsilon, or log Q(S > epsilon) with its own; estimates. */
typedef struct {
    double value, slope;
} Estimate;

/* Ends of what was asked, and the relative width of delta behind them; infinite if there is no answer. No other way is
 * tried where the width is `enough`, which depends on what the line took. */
typedef struct {
    Interval ends;
    double width, enough;
} Answer;

/* Where a test S > epsilon has a size, with the width of log delta there and about |d log Q(S > epsilon)/d epsilon|. */
typedef struct {
    double epsilon, width, steepness;
} Threshold;

/* An epsilon near a root, the line it was found on and log delta there. */
typedef struct {
    const Line *line;
    double epsilon;
    Interval here;
} Root;

/* Ends of the true positive rate of the best test, about its epsilon, and the width of log delta there. */
typedef struct {
    Interval ends;
    double epsilon, width;
} BestTest;

/* What a search for a tilt is for: an epsilon, log delta, or the log of the size of a test under the second law. */
typedef enum {
    AT_EPSILON,
    AT_LOG_DELTA,
    AT_LOG_SIZE
} Aim;

/* A function of a place that rises through zero at the wanted tilt. */
typedef struct {
    Aim aim;
    double wanted;
} Target;
