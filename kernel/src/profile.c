/* log delta near one epsilon: the nodes of a line, and the enclosure and the estimates that they give (A5). */
#include "profile.h"
#include "chernoff.h"
#include "composition.h"
#include "cut.h"
#include "decay.h"
#include "few.h"
#include "laplace_run.h"
#include "line.h"
#include "rule.h"
#include "saddle.h"
#include "survey.h"


static double period(const Chernoff *at, double tilt, Saddle saddle, double epsilon, double reach)
{
    double found = period_for(at, tilt, epsilon, log_delta_near(saddle, epsilon) - NATS);
    for (int side = -1; reach > 0.0 && side <= 1; side += 2) {
        double end = epsilon + side * reach * saddle_width(saddle);
        found = fmax(found, period_for(at, tilt, end, log_delta_near(saddle, end) - NATS));
    }
    return found;
}

/* Whether an answer would be wide because of grids. Delta, e^log_target in the units of the sum, may be far below the terms
 * of a line, which the error of a grid is relative to. */
static bool grids_rule(const Line *line, double log_target)
{
    double error = line->grid_error * line->size;
    return error > 0.05 * GOOD_WIDTH * exp(log_target) && error > 0.5 * line->fixed_error;
}

/* A line at a tilt that is the saddle's or lies below it, for the epsilons within `reach` of the integrand's width. */
Status build(Composition *all, Located at, double tilt, double epsilon, double reach, Line *line)
{
    double width = saddle_width(at.saddle), highest;
    Survey *survey;
    Status status = survey_of(all, fmax(tilt + OTHER[OTHERS - 1] / width, at.reach), &survey);
    if (status != DONE && !ends_all(status))
        status = survey_of(all, fmax(tilt + OTHER[0] / width, at.reach), &survey);
    if (status != DONE)
        return status;
    Saddle place = tilt == at.saddle.tilt ? at.saddle : place_at(all, survey, tilt);
    status = set_chernoff(all, survey, tilt, width, &line->chernoff);
    if (status != DONE)
        return status;
    double length = period(&line->chernoff, tilt, at.saddle, epsilon, reach);
    if (!(length > 0.0 && isfinite(length)))
        return NO_TILT;
    line->place = place;
    line->epsilon = epsilon;
    line->reach = reach * width;
    line->spacing = exact_step(2.0 * PI / length);
    double log_target = log_delta_near(at.saddle, epsilon) - (place.cumulant - place.tilt * epsilon);
    double frequencies = fmin(MOST_NODES, (1 << 20) / fmax(all->laplace_kinds, 1.0));
    double most = line->spacing * (frequencies - 2.0);
    status = truncate_line(all, survey, place, log_target, most, &highest, &line->truncation);
    if (status != DONE)
        return status;
    double nodes = ceil(highest / line->spacing) + 1.0;
    if (!(nodes <= MOST_NODES))
        return BEYOND_BUDGET;
    line->nodes = (int)nodes;
    set_series(&line->chernoff, tilt, line->spacing);
    line->exact = false;
    line->grid_error = 0.0;
    status = set_line(all, line);
    if (line->grid_error > 0.0 && !ends_all(status) && (status != DONE || grids_rule(line, log_target))) {
        forget_line(line);
        line->exact = true;
        status = set_line(all, line);
    }
    return status;
}

/* Trapezoidal sums at one epsilon in units of e^(K - l epsilon): the value, two derivatives in epsilon, and the error
 * but for the alias. */
typedef struct {
    double value, slope, curvature, error;
} Sums;

/* Add the terms of nodes from `first` on, whose rotations by `turn` are those of the first node times a table's. */
WIDER
static void add_turned(const Line *line, int first, int count, Complex start, const double *cosines, const double *sines,
                       Sums *at)
{
    double tilt = line->place.tilt, value = 0.0, slope = 0.0, curvature = 0.0;
    const double *reals = line->real + first, *imaginaries = line->imaginary + first;
    for (int k = 0; k < count; k++) {
        double frequency = line->spacing * (first + k);
        double cosine = start.real * cosines[k] - start.imaginary * sines[k];
        double sine = start.real * sines[k] + start.imaginary * cosines[k];
        double real = reals[k] * cosine - imaginaries[k] * sine;
        double imaginary = reals[k] * sine + imaginaries[k] * cosine;
        double turned = real * tilt - imaginary * frequency;
        value += real;
        slope -= turned;
        curvature += turned * tilt - (real * frequency + imaginary * tilt) * frequency;
    }
    at->value += value;
    at->slope += slope;
    at->curvature += curvature;
}

static Sums sums(const Line *line, double epsilon)
{
    double turn = line->centre - epsilon, cosines[4 * BLOCK], sines[4 * BLOCK];
    Sums at = {0};
    for (int k = 0; k < 4 * BLOCK && k < line->nodes; k++) {
        cosines[k] = cos(turn * (line->spacing * k));
        sines[k] = sin(turn * (line->spacing * k));
    }
    for (int first = 0; first < line->nodes; first += 4 * BLOCK) {
        double angle = turn * (line->spacing * first);
        int count = line->nodes - first < 4 * BLOCK ? line->nodes - first : 4 * BLOCK;
        add_turned(line, first, count, (Complex){cos(angle), sin(angle)}, cosines, sines, &at);
    }
    double argument = 8 * UNIT * (fabs(turn) + fabs(line->centre) + fabs(epsilon));
    at.error = line->fixed_error + argument * line->weighted_frequency;
    return at;
}

/* What a run adds that its transform leaves out, in the units of the sums; false if that is no double. */
static bool add_beside(const Composition *all, const Line *line, double epsilon, Beside *found)
{
    *found = line->few.on ? few_beside(line, epsilon) : (Beside){0};
    if (!all->split || line->few.on)
        return true;
    *found = beside(all, epsilon);
    double log_unit = found->log_scale - (line->cumulant - line->place.tilt * epsilon);
    if (!(log_unit <= LARGEST))
        return false;
    double unit = exp(log_unit);
    found->lower *= unit;
    found->upper *= unit;
    found->slope *= unit;
    found->curvature *= unit;
    return true;
}

/* log_scale + log(value) moved outward by its rounding and kept at or below 0; -inf if value <= 0. */
static double outward(double log_scale, double value, int side)
{
    if (value <= 0.0)
        return -INFINITY;
    double log_value = log_scale + log(value);
    return fmin(log_value + side * 8 * UNIT * (1.0 + fabs(log_value) + fabs(log_scale)), 0.0);
}

/* Lower <= log delta(epsilon) <= upper <= 0, however far epsilon is from where the line was laid. */
Status enclose(const Composition *all, const Line *line, double epsilon, Interval *found)
{
    if (epsilon >= all->supremum) {
        *found = (Interval){-INFINITY, -INFINITY};
        return DONE;
    }
    Beside more;
    Sums at = sums(line, epsilon);
    if (!add_beside(all, line, epsilon, &more))
        return NOT_POSITIVE;
    double tilt = line->place.tilt, log_scale = line->cumulant - tilt * epsilon;
    double size = line->cumulant_size + tilt * fabs(epsilon) + 64.0;
    double scale_error = line->cumulant_error + 4 * UNIT * size;
    double log_alias = line->few.on ? few_log_excess(line, epsilon) : log_excess(&line->chernoff, epsilon);
    double excess = log_alias - log_scale + scale_error;
    double least = at.value - at.error - 1.001 * exp(fmin(excess, LARGEST)) + more.lower;
    double most = at.value + at.error + more.upper;
    if (!isfinite(log_scale) || !isfinite(scale_error) || isnan(excess) || isnan(least) || isnan(most))
        return NOT_POSITIVE;
    double lower = outward(log_scale - scale_error, least, -1), upper = outward(log_scale + scale_error, most, +1);
    double chernoff = line->few.on ? 0.0 : chernoff_log_delta(&line->chernoff, tilt, epsilon);
    if (lower > chernoff + scale_error)
        return INCONSISTENT;
    upper = with_leak(all, fmin(upper, chernoff));
    *found = (Interval){fmin(lower, upper), upper};
    return DONE;
}

/* log delta, or log Q(S > epsilon) = log(-d delta/d epsilon) - epsilon, for root searches; nothing is certified. */
Status estimate(const Composition *all, const Line *line, Aim aim, double epsilon, Estimate *found)
{
    Beside more;
    Sums at = sums(line, epsilon);
    if (!add_beside(all, line, epsilon, &more))
        return NOT_POSITIVE;
    double value = at.value + more.upper, slope = at.slope + more.slope, curvature = at.curvature + more.curvature;
    double log_scale = line->cumulant - line->place.tilt * epsilon;
    if (aim == AT_LOG_SIZE) {
        if (!(slope < 0.0 && curvature - slope > 0.0))
            return NOT_POSITIVE;
        *found = (Estimate){log_scale + log(-slope) - epsilon, curvature / slope - 1.0};
    } else {
        if (!(value > 0.0 && slope < 0.0))
            return NOT_POSITIVE;
        *found = (Estimate){log_scale + log(value), slope / value};
    }
    return DONE;
}
