/* Chernoff bounds at the line's tilt and at others, and the alias of the trapezoidal rule that they bound (A1). */
#include "chernoff.h"
#include "survey.h"

/* Distances of the other tilts, in units of 1/sd of the integrand's bulk. */
const double OTHER[OTHERS] = {0.3, 0.6, 1.0, 1.7, 2.8, 4.2, 6.0, 8.0};

/* log C(mu) = mu log mu - (1 + mu) log(1 + mu), in a form that does not cancel for large mu. */
double log_chernoff_factor(double tilt)
{
    return tilt > 0.0 ? -log1p(tilt) - tilt * log1p(1.0 / tilt) : 0.0;
}

static double bound_at(const Composition *all, Survey *survey, double tilt)
{
    return upper_cumulant(all, survey, tilt) + log_chernoff_factor(tilt);
}

Status set_chernoff(const Composition *all, Survey *survey, double tilt, double width, Chernoff *at)
{
    bool finite = true;
    at->aboves = 0;
    at->belows = 1;
    at->below[0] = at->log_below[0] = 0.0; /* K(0) <= 0 */
    at->log_here = bound_at(all, survey, tilt);
    for (int k = 0; k < OTHERS; k++) {
        double above = tilt + OTHER[k] / width, below = tilt - OTHER[k] / width;
        if (above <= survey->reach && above > tilt) {
            at->above[at->aboves] = above;
            at->log_above[at->aboves] = bound_at(all, survey, above);
            finite = finite && isfinite(at->log_above[at->aboves++]);
        }
        if (below > 0.0 && below < tilt) {
            at->below[at->belows] = below;
            at->log_below[at->belows] = bound_at(all, survey, below);
            finite = finite && isfinite(at->log_below[at->belows++]);
        }
    }
    return finite && isfinite(at->log_here) && at->aboves ? DONE : NO_TILT;
}

/* A period whose excess at an epsilon is about e^log_target. */
double period_for(const Chernoff *at, double tilt, double epsilon, double log_target)
{
    double right = INFINITY, left = INFINITY;
    for (int k = 0; k < at->aboves; k++)
        right = fmin(right, (at->log_above[k] - at->above[k] * epsilon - log_target) / (at->above[k] - tilt));
    for (int k = 0; k < at->belows; k++)
        left = fmin(left, (at->log_below[k] - at->below[k] * epsilon - log_target) / (tilt - at->below[k]));
    return fmax(right, left);
}

/* One geometric series of the alias, as far as it does not depend on epsilon. */
static double series(double tilt, double log_bound, double from, double length)
{
    double gap = fabs(tilt - from) * length, rounding = 16 * UNIT * (fabs(log_bound) + gap);
    return log_bound + rounding - gap - log(-expm1(-gap));
}

void set_series(Chernoff *at, double tilt, double spacing)
{
    double length = 2.0 * PI / spacing * (1.0 - 4 * UNIT);
    for (int k = 0; k < at->aboves; k++)
        at->series_above[k] = series(at->above[k], at->log_above[k], tilt, length);
    for (int k = 0; k < at->belows; k++)
        at->series_below[k] = series(at->below[k], at->log_below[k], tilt, length);
}

/* log of the bound on the alias at epsilon, with its rounding: the best tilt of each side. */
double log_excess(const Chernoff *at, double epsilon)
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
double chernoff_log_delta(const Chernoff *at, double tilt, double epsilon)
{
    double least = fmin(0.0, chernoff_at(tilt, at->log_here, epsilon));
    for (int k = 0; k < at->aboves; k++)
        least = fmin(least, chernoff_at(at->above[k], at->log_above[k], epsilon));
    for (int k = 0; k < at->belows; k++)
        least = fmin(least, chernoff_at(at->below[k], at->log_below[k], epsilon));
    return least;
}
