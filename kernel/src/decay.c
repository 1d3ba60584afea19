/* Where a line may end: bounds of |phi^T| beyond a frequency (A3), and the frequency from which on little is left. */
#include "decay.h"
#include "drawn_decay.h"
#include "laplace.h"
#include "laplace_run.h"
#include "loss.h"
#include "rule.h"
#include "survey.h"

#include <stdlib.h>

/* Heights y at which B is tried. */
#define HEIGHTS_TRIED 5
/* Frequencies of one pass over the kinds of steps. */
#define PASS 4
/* Ratio of neighbouring frequencies: a line ends at most 28 % later than it might. */
#define RATIO 1.28

/* The tilted law of one kind at which decay is sought, and its bounds at a few heights. */
typedef struct {
    const Steps *steps;
    const Rule *rule;
    double *weights, *response, *mirrored;
    double tilt, rounding, log_moment, mean_response;
    int first, last; /* of the nodes that are summed */
    double height[HEIGHTS_TRIED], error[HEIGHTS_TRIED];
    double *growth[HEIGHTS_TRIED], *turn[HEIGHTS_TRIED];
    bool known[HEIGHTS_TRIED];
    int best;
    Swings swings;
} Decay;

static Decay decay_of(const Steps *steps, const Quadrature *quadrature, double tilt, double *room)
{
    const Loss *loss = &steps->loss;
    int size = quadrature->rule.size;
    Decay at = {.steps = steps, .rule = &quadrature->rule, .weights = room, .tilt = tilt, .last = size, .best = 1};
    at.response = room + size;
    at.mirrored = room + 2 * size;
    for (int k = 0; k < HEIGHTS_TRIED; k++) {
        at.growth[k] = room + (3 + 2 * k) * size;
        at.turn[k] = room + (4 + 2 * k) * size;
    }
    double top = exponents(quadrature, tilt, at.weights), total = 0.0;
    for (int k = 0; k < size; k++)
        total += at.weights[k] = exp(at.weights[k] - top);
    for (int k = 0; k < size; k++) {
        double x = node(at.rule, k);
        at.weights[k] /= total;
        at.response[k] = response(loss, x);
        at.mirrored[k] = loss->left < 0.0 ? response(loss, -x) : 0.0;
        at.mean_response += at.weights[k] * (at.response[k] + at.mirrored[k]);
    }
    at.log_moment = top + log(total);
    set_swings(loss, at.rule, tilt, &at.swings);
    /* B - 1 is a sum of w (G e^(-t theta) - 1). Where no factor falls, no term is positive: some may be left out. */
    if (!falls(loss)) {
        while (at.first < size && at.weights[at.first] < exp(-NEGLIGIBLE))
            at.first++;
        while (at.last > at.first && at.weights[at.last - 1] < exp(-NEGLIGIBLE))
            at.last--;
    }
    double sizes = quadrature->largest + (1.0 + tilt) * quadrature->extreme;
    at.rounding = summation_error(size) + UNIT * (64.0 + 8.0 * sizes);
    if (loss->mixture)
        at.rounding += UNIT * (1.0 + tilt) * (loss->mixture->size + 32.0);
    return at;
}

/* Heights around the best ones, at an angle s y below pi/2: y = t s E[p] or so, and down to T^(-1/2). Where rare large losses
 * rule E[p], what they take away is bounded, and e^(T y^2/2) outweighs it at larger heights. */
static void set_heights(Decay *at, double first, double last)
{
    double shift = at->steps->loss.shift, most = STEEPEST / shift;
    double low = fmin(0.4 * first * shift * at->mean_response, 0.2 * most);
    low = fmax(fmin(low, 1.0 / sqrt(at->steps->count)), 1e-100);
    double high = fmax(fmin(last * shift * at->mean_response, most), 1.001 * low);
    for (int k = 0; k < HEIGHTS_TRIED; k++) {
        at->height[k] = low * pow(high / low, (double)k / (HEIGHTS_TRIED - 1));
        at->known[k] = false;
    }
}

/* Add the argument of 1 + z, and the logarithm of its modulus times an exponent. */
static void add_turn(Complex z, double exponent, double *turn, double *growth)
{
    *turn += atan2(z.imaginary, 1.0 + z.real);
    *growth += exponent * 0.5 * log1p(2.0 * z.real + z.real * z.real + z.imaginary * z.imaginary);
}

/* arg r(x + iy) and the log of G at every node, for the height k. */
static void set_turns(Decay *at, int k)
{
    const Loss *loss = &at->steps->loss;
    double angle = loss->shift * at->height[k], sine = sin(angle), half = sin(0.5 * angle), square = half * half;
    double first = loss->density + loss->right * at->tilt, second = loss->left * at->tilt;
    for (int i = at->first; loss->mixture && i < at->last; i++) {
        double x = node(at->rule, i);
        at->turn[k][i] = at->growth[k][i] = 0.0;
        add_turn(turned(loss, x, at->height[k]), first, &at->turn[k][i], &at->growth[k][i]);
        if (loss->left < 0.0)
            add_turn(turned(loss, -x, at->height[k]), second, &at->turn[k][i], &at->growth[k][i]);
    }
    for (int i = at->first; !loss->mixture && i < at->last; i++) {
        double p = at->response[i];
        at->turn[k][i] = atan2(p * sine, 1.0 - 2.0 * p * square);
        at->growth[k][i] = first * 0.5 * log1p(-4.0 * p * (1.0 - p) * square);
        if (loss->left < 0.0) {
            p = at->mirrored[i];
            at->turn[k][i] += atan2(p * sine, 1.0 - 2.0 * p * square);
            at->growth[k][i] += second * 0.5 * log1p(-4.0 * p * (1.0 - p) * square);
        }
    }
    at->error[k] = decay_error(loss, at->rule, &at->swings, at->tilt, at->height[k]);
    at->error[k] += end_decay_error(at->rule, at->tilt, at->log_moment, at->height[k]);
    at->known[k] = true;
}

/* log of B_y(t) at the height k: small B with relative accuracy, and of others B - 1 with absolute accuracy. */
static double log_bound(Decay *at, int k, double frequency)
{
    if (!at->known[k])
        set_turns(at, k);
    const double *growth = at->growth[k], *turns = at->turn[k];
    double sum = 0.0, log_mean;
    for (int i = at->first; i < at->last; i++)
        sum += at->weights[i] * expm1(fmin(growth[i] - frequency * turns[i], LARGEST));
    if (sum > -0.9)
        log_mean = log1p(sum + (2.0 + fabs(sum)) * at->rounding + at->error[k]);
    else {
        double small = at->rule->size * exp(-NEGLIGIBLE); /* what is left out */
        for (int i = at->first; i < at->last; i++)
            small += at->weights[i] * exp(fmin(growth[i] - frequency * turns[i], LARGEST));
        log_mean = log(small * (1.0 + at->rounding + 6000 * UNIT) + at->error[k] + 1e-300);
    }
    return 0.5 * at->height[k] * at->height[k] + log_mean;
}

/* The least of the bounds, from the best height of the frequency before on; any height gives a bound. */
static double best_bound(Decay *at, double frequency)
{
    int k = at->best;
    double best = log_bound(at, k, frequency);
    for (int step = 1; step >= -1; step -= 2)
        for (int next = k + step; 0 <= next && next < HEIGHTS_TRIED; next += step) {
            double bound = log_bound(at, next, frequency);
            if (!(bound < best))
                break;
            best = bound;
            at->best = next;
        }
    return fmin(best, 0.0);
}

/* log of a bound of the sum beyond each of a few rising frequencies, in units of e^(K - l epsilon). */
static void log_tails(const Composition *all, Survey *survey, const DrawnTail *tails, double tilt, double *room,
                      const double *frequency, int size, double *log_tail)
{
    for (int j = 0; j < size; j++) {
        double t = frequency[j];
        log_tail[j] = log(atan2(tilt, t) / (PI * tilt)) - 0.5 * all->square * t * t * (1.0 - 12 * UNIT);
        double laplace = laplace_decay(all, tilt, t);
        log_tail[j] += all->split ? run_decay(&all->laplace[0], tilt, t, laplace) : laplace;
    }
    for (int k = 0; k < all->kinds; k++) {
        for (int j = 0; tails[k].steps && j < size; j++)
            log_tail[j] += drawn_decay(&tails[k], frequency[j]);
        if (tails[k].steps)
            continue;
        Decay at = decay_of(&all->steps[k], &survey->quadratures[k], tilt, room);
        set_heights(&at, frequency[0], frequency[size - 1]);
        for (int j = 0; j < size; j++)
            log_tail[j] += all->steps[k].count * best_bound(&at, frequency[j]);
    }
}

/* Bounds for every kind of steps on batches drawn without replacement; the caller frees them. */
static Status make_tails(const Composition *all, Survey *survey, double tilt, double first, DrawnTail **tails)
{
    Status status = DONE;
    *tails = calloc((size_t)all->kinds + 1, sizeof **tails);
    if (!*tails)
        return NO_MEMORY;
    for (int k = 0; k < all->kinds && status == DONE; k++)
        if (all->steps[k].loss.drawn)
            status = make_drawn_tail(&all->steps[k], &survey->quadratures[k], tilt, first, &(*tails)[k]);
    return status;
}

/* A frequency up to `most` beyond which the sum is negligible beside e^log_target, and the bound there. Where that takes
 * too many nodes, so far that the answer is wider; NO_DECAY where it would be too wide. */
Status truncate_line(const Composition *all, Survey *survey, Saddle place, double log_target, double most,
                     double *highest, double *truncation)
{
    double start = 5.0 / saddle_width(place), quick = most;
    double enough = 0.0, log_enough = 0.0, frequency[PASS], log_tail[PASS];
    if (!all->kinds && !(all->square > 0.0))
        quick /= 16.0; /* a transform that falls as a power of t takes many nodes */
    double *room = malloc((size_t)survey->most_nodes * (3 + 2 * HEIGHTS_TRIED) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    DrawnTail *tails = NULL;
    Status status = start > 0.0 && start <= most ? DONE : NO_DECAY;
    if (status == DONE)
        status = make_tails(all, survey, place.tilt, start, &tails);
    bool ended = status != DONE;
    while (!ended) {
        for (int j = 0; j < PASS; j++)
            frequency[j] = fmin(start * pow(RATIO, j), most);
        log_tails(all, survey, tails, place.tilt, room, frequency, PASS, log_tail);
        for (int j = 0; j < PASS && !ended; j++) {
            double left = log_tail[j] - log_target;
            bool last = frequency[j] >= most;
            if ((left <= log(GOOD_WIDTH) - 1.0 && !(enough > 0.0)) || (left <= -NATS && frequency[j] <= quick) ||
                (last && !(enough > 0.0) && left <= log(WIDEST) - 1.0)) {
                enough = frequency[j];
                log_enough = log_tail[j];
            }
            ended = last || (left <= -NATS && frequency[j] <= quick) || (enough > 0.0 && frequency[j] > quick);
        }
        start *= pow(RATIO, PASS);
    }
    for (int k = 0; tails && k < all->kinds; k++) {
        free(tails[k].frequency);
        free(tails[k].parts);
    }
    free(tails);
    free(room);
    if (!(enough > 0.0))
        return ends_all(status) ? status : NO_DECAY;
    *highest = enough;
    *truncation = 1.001 * exp(log_enough);
    return status;
}
