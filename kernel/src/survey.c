/* One quadrature for real tilts: transforms/sampled_gaussian_grid.py, "Real tilts" and "Decay on the line". */
#include "survey.h"
#include "composition.h"
#include "loss.h"
#include "rule.h"

#include <stdlib.h>
#include <string.h>

#define FEW 64.0
#define EXPONENTS (6000 * UNIT)
#define LADDER 9
#define RATIO 1.28
/* Terms so many nats below the largest are not evaluated; where an upper end is wanted they stand as this large. */
#define NEGLIGIBLE 45.0

/* gamma_n = nu/(1 - nu), with ten more units for each term. */
double summation_error(int terms)
{
    double product = (terms + 10) * UNIT;
    return product / (1.0 - product);
}

static Status laid(const Composition *all, double reach, Survey *survey)
{
    const Loss *loss = &all->loss;
    Status status = rule_for(loss, all->count, (Tilts){0.0, reach}, 0.0, MOST_NOISE_NODES, &survey->rule);
    if (status != FOUND)
        return status;
    int size = survey->rule.size;
    double *room = malloc((size_t)size * (5 + 2 * DECAY_HEIGHTS) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    survey->reach = reach;
    survey->log_first = room;
    survey->loss = room + size;
    survey->response = room + 2 * size;
    survey->mirrored = room + 3 * size;
    survey->work = room + 4 * size;
    double log_weight = log(survey->rule.step) - LOG_SQRT_2PI, extreme = -INFINITY, largest = 0.0;
    for (int k = 0; k < size; k++) {
        double x = node(&survey->rule, k), ratio = log_ratio(loss, x);
        double log_density = log_weight - 0.5 * x * x;
        double value = loss->left < 0.0 ? loss->right * ratio + loss->left * log_ratio(loss, -x) : loss->right * ratio;
        survey->loss[k] = value;
        survey->log_first[k] = loss->density > 0.0 ? log_density + ratio : log_density;
        extreme = fmax(extreme, fmax(fabs(value), ratio));
        largest = fmax(largest, fabs(survey->log_first[k]));
    }
    survey->extreme = extreme;
    survey->largest = largest;
    survey->response[0] = -1.0; /* not known yet */
    return FOUND;
}

Status survey_of(Composition *all, double reach, Survey **found)
{
    if (!(reach > 0.0 && isfinite(reach)))
        return NO_TILT;
    for (int k = 0; k < SURVEYS; k++)
        if (all->surveys[k].reach == reach) {
            *found = &all->surveys[k];
            return FOUND;
        }
    Survey *survey = &all->surveys[all->next_survey];
    forget_survey(survey);
    Status status = laid(all, reach, survey);
    if (status != FOUND) {
        memset(survey, 0, sizeof *survey);
        return status;
    }
    all->next_survey = (all->next_survey + 1) % SURVEYS;
    *found = survey;
    return FOUND;
}

/* The exponents at a tilt, in `work`, and the largest. */
static double exponents(Survey *survey, double tilt)
{
    double top = -INFINITY;
    for (int k = 0; k < survey->rule.size; k++) {
        double exponent = survey->log_first[k] + tilt * survey->loss[k];
        survey->work[k] = exponent;
        top = exponent > top ? exponent : top;
    }
    return top;
}

Saddle place_at(const Composition *all, Survey *survey, double tilt)
{
    double top = exponents(survey, tilt), total = 0.0, first = 0.0, second = 0.0;
    for (int k = 0; k < survey->rule.size; k++) {
        double below = survey->work[k] - top;
        if (below > -NEGLIGIBLE) {
            double weight = exp(below), moment = weight * survey->loss[k];
            total += weight;
            first += moment;
            second += moment * survey->loss[k];
        }
    }
    double mean = first / total, variance = fmax(second / total - mean * mean, 0.0);
    double poles = 1.0 / (tilt * tilt) + 1.0 / ((1.0 + tilt) * (1.0 + tilt));
    return (Saddle){tilt, all->count * (top + log(total)), all->count * mean, all->count * variance + poles};
}

/* Standard deviation of the integrand's bulk, from the curvature there. */
double saddle_width(Saddle place)
{
    return sqrt(place.curvature);
}

/* An upper bound of K at a tilt up to the reach: the plain sum, raised by its quadrature error and rounding. */
double upper_cumulant(const Composition *all, Survey *survey, double tilt)
{
    if (!(tilt > 0.0))
        return 0.0;
    const Rule *rule = &survey->rule;
    double top = exponents(survey, tilt), total = 0.0;
    int left_out = 0;
    for (int k = 0; k < rule->size; k++) {
        double below = survey->work[k] - top;
        if (below > -NEGLIGIBLE)
            total += exp(below);
        else
            left_out++;
    }
    total += left_out * exp(-NEGLIGIBLE);
    double log_moment = top + log(total), end = exp(rule->log_end + (1.0 + tilt) * rule->ratio_end - log_moment);
    double cumulant = all->count * (log_moment + log1p(end));
    double edge = fmax(fabs(node(rule, 0)), fabs(node(rule, rule->size - 1)));
    double size = (1.0 + tilt) * (64.0 * survey->extreme + 64.0 * all->loss.shift * edge);
    double rounding = summation_error(rule->size) + UNIT * (4.0 * edge * edge + size + 64.0);
    return cumulant + all->count * (rule->error + rounding) + 8 * UNIT * fabs(cumulant);
}

/* Decay on the line (A3). ------------------------------------------------------------------------------------------ */

/* The tilted law at which decay is sought, and its bounds at a few heights y. */
typedef struct {
    const Composition *all;
    Survey *survey;
    double *weights;
    double tilt, rounding, log_moment, mean_response;
    int first, last; /* of the nodes that are summed */
    double height[DECAY_HEIGHTS], error[DECAY_HEIGHTS];
    double *growth[DECAY_HEIGHTS], *turn[DECAY_HEIGHTS];
    bool known[DECAY_HEIGHTS];
    int best;
} Decay;

static void respond(const Loss *loss, Survey *survey)
{
    for (int k = 0; k < survey->rule.size; k++) {
        double x = node(&survey->rule, k);
        survey->response[k] = response(loss, x);
        survey->mirrored[k] = loss->left < 0.0 ? response(loss, -x) : 0.0;
    }
}

static Decay decay_of(const Composition *all, Survey *survey, double tilt)
{
    Decay found = {.all = all, .survey = survey, .weights = survey->work, .tilt = tilt};
    int size = survey->rule.size;
    if (survey->response[0] < 0.0)
        respond(&all->loss, survey);
    double top = exponents(survey, tilt), total = 0.0, mean = 0.0;
    for (int k = 0; k < size; k++)
        total += survey->work[k] = exp(survey->work[k] - top);
    for (int k = 0; k < size; k++) {
        survey->work[k] /= total;
        mean += survey->work[k] * (survey->response[k] + survey->mirrored[k]);
    }
    found.mean_response = mean;
    found.log_moment = top + log(total);
    /* B - 1 is a sum of w (G e^(-t theta) - 1). Where no factor falls, no term is positive: some may be left out. */
    found.last = size;
    if (all->count >= FEW && !falls(&all->loss)) {
        while (found.first < size && survey->work[found.first] < exp(-NEGLIGIBLE))
            found.first++;
        while (found.last > found.first && survey->work[found.last - 1] < exp(-NEGLIGIBLE))
            found.last--;
    }
    found.rounding = summation_error(size) + UNIT * (64.0 + 8.0 * (survey->largest + (1.0 + tilt) * survey->extreme));
    for (int k = 0; k < DECAY_HEIGHTS; k++) {
        found.growth[k] = survey->work + (1 + 2 * k) * size;
        found.turn[k] = survey->work + (2 + 2 * k) * size;
    }
    return found;
}

/* Heights around the best ones, y = t s E[p] or so, at an angle s y below pi/2. */
static void set_heights(Decay *at, double first, double last)
{
    double shift = at->all->loss.shift, most = 1.4 / shift;
    double low = fmax(fmin(0.4 * first * shift * at->mean_response, 0.2 * most), 1e-100);
    double high = fmax(fmin(last * shift * at->mean_response, most), 1.001 * low);
    for (int k = 0; k < DECAY_HEIGHTS; k++) {
        at->height[k] = low * pow(high / low, (double)k / (DECAY_HEIGHTS - 1));
        at->known[k] = false;
    }
    at->best = 1;
}

/* arg r(x + iy) and the log of G at every node, for the height k. */
static void turn(Decay *at, int k)
{
    const Loss *loss = &at->all->loss;
    double angle = loss->shift * at->height[k], sine = sin(angle), half = sin(0.5 * angle), square = half * half;
    double first = loss->density + loss->right * at->tilt, second = loss->left * at->tilt;
    for (int i = at->first; i < at->last; i++) {
        double p = at->survey->response[i];
        at->turn[k][i] = atan2(p * sine, 1.0 - 2.0 * p * square);
        at->growth[k][i] = first * 0.5 * log1p(-4.0 * p * (1.0 - p) * square);
        if (loss->left < 0.0) {
            p = at->survey->mirrored[i];
            at->turn[k][i] += atan2(p * sine, 1.0 - 2.0 * p * square);
            at->growth[k][i] += second * 0.5 * log1p(-4.0 * p * (1.0 - p) * square);
        }
    }
    at->error[k] = decay_error(loss, &at->survey->rule, at->tilt, at->height[k]);
    at->error[k] += end_decay_error(&at->survey->rule, at->tilt, at->log_moment, at->height[k]);
    at->known[k] = true;
}

/* log of B_y(t) at the height k: of few steps with relative accuracy, of many with absolute accuracy of B - 1. */
static double log_modulus_bound(Decay *at, int k, double frequency)
{
    if (!at->known[k])
        turn(at, k);
    const double *growth = at->growth[k], *turns = at->turn[k];
    double sum = 0.0, log_mean;
    if (at->all->count < FEW) {
        for (int i = at->first; i < at->last; i++)
            sum += at->weights[i] * exp(fmin(growth[i] - frequency * turns[i], 600.0));
        log_mean = log(sum * (1.0 + at->rounding + EXPONENTS) + at->error[k] + 1e-300);
    } else {
        for (int i = at->first; i < at->last; i++)
            sum += at->weights[i] * expm1(fmin(growth[i] - frequency * turns[i], 600.0));
        log_mean = log1p(sum + (2.0 + fabs(sum)) * at->rounding + at->error[k]);
    }
    return 0.5 * at->height[k] * at->height[k] + log_mean;
}

/* The least of the bounds, from the best height of the frequency before on; any height gives a bound. */
static double best_bound(Decay *at, double frequency)
{
    int k = at->best;
    double best = log_modulus_bound(at, k, frequency);
    for (int step = 1; step >= -1; step -= 2)
        for (int next = k + step; 0 <= next && next < DECAY_HEIGHTS; next += step) {
            double bound = log_modulus_bound(at, next, frequency);
            if (!(bound < best))
                break;
            best = bound;
            at->best = next;
        }
    return best;
}

/* nodes.py, `_truncation`: a frequency up to `most` beyond which the sum is below e^target, and the bound there. */
Status decay(const Composition *all, Survey *survey, Saddle place, double target, double most, double *highest,
             double *truncation)
{
    Decay at = decay_of(all, survey, place.tilt);
    double start = 5.0 / saddle_width(place);
    while (start <= most) {
        set_heights(&at, start, start * pow(RATIO, LADDER - 1));
        for (int j = 0; j < LADDER; j++) {
            double frequency = start * pow(RATIO, j), best = fmin(0.0, best_bound(&at, frequency));
            double log_tail = log(atan2(place.tilt, frequency) / (PI * place.tilt)) + all->count * best;
            if (log_tail <= target) {
                *highest = frequency;
                *truncation = 1.001 * exp(log_tail);
                return FOUND;
            }
        }
        start *= pow(RATIO, LADDER);
    }
    return NO_DECAY;
}
