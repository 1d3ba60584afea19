/* The integrand on its nodes, and the enclosure of log delta that they give: nodes.py, and profile.py, `log_delta`. */
#include "nodes.h"
#include "composition.h"
#include "cut.h"
#include "line.h"
#include "rule.h"
#include "saddle.h"
#include "survey.h"

#define NATS 28.0

/* Distances of the other tilts from lambda, in units of 1/sd of the integrand's bulk. */
static const double STEP[STEPS] = {0.3, 0.6, 1.0, 1.7, 2.8, 4.2, 6.0, 8.0};

/* The alias (A1). -------------------------------------------------------------------------------------------------- */

static void bound_at(const Composition *all, Survey *survey, double tilt, double *log_bound)
{
    *log_bound = upper_cumulant(all, survey, tilt) + log_chernoff_factor(tilt);
}

static Status chernoff_of(const Composition *all, Survey *survey, Saddle place, double width, Chernoff *found)
{
    bool finite = true;
    found->aboves = found->belows = 0;
    found->below[found->belows] = 0.0;
    bound_at(all, survey, 0.0, &found->log_below[found->belows++]);
    bound_at(all, survey, place.tilt, &found->log_here);
    for (int k = 0; k < STEPS; k++) {
        double above = place.tilt + STEP[k] / width, below = place.tilt - STEP[k] / width;
        if (above <= survey->reach && above > place.tilt) {
            found->above[found->aboves] = above;
            bound_at(all, survey, above, &found->log_above[found->aboves]);
            finite = finite && isfinite(found->log_above[found->aboves++]);
        }
        if (below > 0.0 && below < place.tilt) {
            found->below[found->belows] = below;
            bound_at(all, survey, below, &found->log_below[found->belows]);
            finite = finite && isfinite(found->log_below[found->belows++]);
        }
    }
    return finite && isfinite(found->log_here) && found->aboves ? FOUND : NO_TILT;
}

/* A period whose excess at an epsilon is about e^target. */
static double period_for(const Chernoff *at, double tilt, double epsilon, double target)
{
    double right = INFINITY, left = INFINITY;
    for (int k = 0; k < at->aboves; k++)
        right = fmin(right, (at->log_above[k] - at->above[k] * epsilon - target) / (at->above[k] - tilt));
    for (int k = 0; k < at->belows; k++)
        left = fmin(left, (at->log_below[k] - at->below[k] * epsilon - target) / (tilt - at->below[k]));
    return fmax(right, left);
}

static double period(const Chernoff *at, double tilt, Saddle saddle, double epsilon, double reach)
{
    double found = period_for(at, tilt, epsilon, log_delta_near(saddle, epsilon) - NATS);
    for (int side = -1; reach > 0.0 && side <= 1; side += 2) {
        double end = epsilon + side * reach * saddle_width(saddle);
        found = fmax(found, period_for(at, tilt, end, log_delta_near(saddle, end) - NATS));
    }
    return found;
}

/* Both geometric series of the alias, as far as they do not depend on epsilon. */
static double series(double tilt, double log_bound, double from, double length)
{
    double gap = fabs(tilt - from) * length, rounding = 16 * UNIT * (fabs(log_bound) + gap);
    return log_bound + rounding - gap - log(-expm1(-gap));
}

static void set_series(Chernoff *at, double tilt, double spacing)
{
    double length = 2.0 * PI / spacing * (1.0 - 4 * UNIT);
    for (int k = 0; k < at->aboves; k++)
        at->series_above[k] = series(at->above[k], at->log_above[k], tilt, length);
    for (int k = 0; k < at->belows; k++)
        at->series_below[k] = series(at->below[k], at->log_below[k], tilt, length);
}

/* log of the bound on the alias at epsilon, with its rounding: the best tilt of each side. */
static double log_excess(const Chernoff *at, double epsilon)
{
    double above = INFINITY, below = INFINITY, rounding = 16 * UNIT * fabs(epsilon);
    for (int k = 0; k < at->aboves; k++)
        above = fmin(above, at->series_above[k] - at->above[k] * epsilon + rounding * at->above[k]);
    for (int k = 0; k < at->belows; k++)
        below = fmin(below, at->series_below[k] - at->below[k] * epsilon + rounding * at->below[k]);
    double larger = fmax(above, below), less = fabs(above - below);
    return larger + log1p(exp(-less)) + 4 * UNIT * (1.0 + fabs(larger));
}

static double chernoff_at(double tilt, double log_bound, double epsilon)
{
    return log_bound + 16 * UNIT * (1.0 + fabs(log_bound)) - tilt * epsilon + 16 * UNIT * tilt * fabs(epsilon);
}

/* The Chernoff bound of log delta itself, the smaller of 0 and what the tilts give. */
static double upper_log_delta(const Chernoff *at, double tilt, double epsilon)
{
    double least = fmin(0.0, chernoff_at(tilt, at->log_here, epsilon));
    for (int k = 0; k < at->aboves; k++)
        least = fmin(least, chernoff_at(at->above[k], at->log_above[k], epsilon));
    for (int k = 0; k < at->belows; k++)
        least = fmin(least, chernoff_at(at->below[k], at->log_below[k], epsilon));
    return least;
}

/* The line. -------------------------------------------------------------------------------------------------------- */

/* At a tilt that is the saddle's or lies below it, for the epsilons around that saddle. */
Status build(Composition *all, Found at, double tilt, double epsilon, double reach, Line *line)
{
    double width = saddle_width(at.place), highest;
    Survey *survey;
    Status status = survey_of(all, fmax(tilt + STEP[STEPS - 1] / width, at.reach), &survey);
    if (status != FOUND && status != NO_MEMORY)
        status = survey_of(all, fmax(tilt + STEP[0] / width, at.reach), &survey);
    if (status != FOUND)
        return status;
    Saddle place = tilt == at.place.tilt ? at.place : place_at(all, survey, tilt);
    status = chernoff_of(all, survey, place, width, &line->chernoff);
    if (status != FOUND)
        return status;
    double length = period(&line->chernoff, tilt, at.place, epsilon, reach);
    if (!(length > 0.0 && isfinite(length)))
        return NO_TILT;
    line->place = place;
    line->epsilon = epsilon;
    line->reach = reach * width;
    line->spacing = exact_step(2.0 * PI / length);
    double log_scale = place.cumulant - place.tilt * epsilon;
    double target = log_delta_near(at.place, epsilon) - log_scale - NATS, most = line->spacing * MOST_FREQUENCIES;
    status = decay(all, survey, place, target, most, &highest, &line->truncation);
    if (status != FOUND)
        return status;
    double nodes = ceil(highest / line->spacing) + 1.0;
    if (!(nodes <= MOST_FREQUENCIES))
        return BEYOND_BUDGET;
    line->nodes = (int)nodes;
    line->most_products = is_cut(all) || jumps(all, at.place) ? MOST_PRODUCTS_OF_JUMPS : MOST_PRODUCTS;
    set_series(&line->chernoff, tilt, line->spacing);
    return on_line(all, line);
}

Sums sums(const Line *line, double epsilon)
{
    double turn = line->centre - epsilon, tilt = line->place.tilt, value = 0.0, slope = 0.0;
    for (int k = 0; k < line->nodes; k++) {
        double frequency = line->spacing * k, angle = turn * frequency, cosine = cos(angle), sine = sin(angle);
        double real = line->real[k] * cosine - line->imaginary[k] * sine;
        double imaginary = line->real[k] * sine + line->imaginary[k] * cosine;
        value += real;
        slope -= real * tilt - imaginary * frequency;
    }
    double argument = 8 * UNIT * (fabs(turn) + fabs(line->centre) + fabs(epsilon));
    return (Sums){value, slope, line->fixed_error + argument * line->weighted_frequency};
}

/* log_scale + log(value) moved outward by its rounding and kept at or below 0; -inf if value <= 0. */
static double outward(double log_scale, double value, int side)
{
    if (value <= 0.0)
        return -INFINITY;
    double log_value = log_scale + log(value);
    return fmin(log_value + side * 8 * UNIT * (1.0 + fabs(log_value) + fabs(log_scale)), 0.0);
}

/* Lower <= log delta(epsilon) <= upper <= 0, however far epsilon is from where the line was laid (A5). */
Status enclose(const Composition *all, const Line *line, double epsilon, Interval *found)
{
    if (epsilon >= all->supremum) {
        *found = (Interval){-INFINITY, -INFINITY};
        return FOUND;
    }
    Sums at = sums(line, epsilon);
    double tilt = line->place.tilt, log_scale = line->cumulant - tilt * epsilon;
    double size = fabs(line->cumulant) + tilt * fabs(epsilon) + 64.0;
    double scale_error = line->cumulant_error + 4 * UNIT * size;
    double excess = log_excess(&line->chernoff, epsilon) - log_scale + scale_error;
    double least = at.value - at.error - 1.001 * exp(fmin(excess, 600.0)), most = at.value + at.error;
    if (!isfinite(log_scale) || !isfinite(scale_error) || isnan(excess) || isnan(least) || isnan(most))
        return NOT_POSITIVE;
    double lower = outward(log_scale - scale_error, least, -1), upper = outward(log_scale + scale_error, most, +1);
    double chernoff = upper_log_delta(&line->chernoff, tilt, epsilon);
    if (lower > chernoff + scale_error)
        return INCONSISTENT;
    upper = with_leak(all, fmin(upper, chernoff));
    *found = (Interval){fmin(lower, upper), upper};
    return FOUND;
}

/* log delta and its derivative in epsilon, for root searches; nothing is certified. */
Status estimate(const Line *line, double epsilon, double *log_delta, double *slope)
{
    Sums at = sums(line, epsilon);
    if (!(at.value > 0.0 && at.slope < 0.0))
        return NOT_POSITIVE;
    *log_delta = line->cumulant - line->place.tilt * epsilon + log(at.value);
    *slope = at.slope / at.value;
    return FOUND;
}
