/* epsilon at delta, delta at epsilon, and a quick bound: composition.py, the first way it tries; profile.py, `shared`. */
#include "questions.h"
#include "composition.h"
#include "cut.h"
#include "nodes.h"
#include "saddle.h"
#include "survey.h"

#include <stdlib.h>
#include <string.h>

#define RECENTRINGS 8
#define NEWTON_STEPS 12
#define DOUBLINGS 30
#define COARSEST 2.0
#define FINEST 40.0
#define LOWER 2
#define CUTTINGS 4

static double width_of(Interval found)
{
    return found.upper == found.lower ? 0.0 : found.upper - found.lower;
}

/* Lines. ----------------------------------------------------------------------------------------------------------- */

static Status laid(Composition *all, double tilt, const Line **line)
{
    for (int k = 0; k < LINES; k++)
        if (all->shared[k].tilt == tilt) {
            *line = &all->shared[k].line;
            return all->shared[k].status;
        }
    Shared *fresh = &all->shared[all->next_shared];
    all->next_shared = (all->next_shared + 1) % LINES;
    forget_line(&fresh->line);
    memset(fresh, 0, sizeof *fresh);
    Survey *survey;
    Status status = survey_for(all, tilt, &survey);
    if (status == FOUND) {
        Saddle place = place_at(all, survey, tilt);
        double used = aside(all, survey, place);
        status = build(all, (Found){place, survey->reach}, used, saddle_epsilon(place), REACH, &fresh->line);
    }
    if (status != NO_MEMORY) {
        fresh->tilt = tilt;
        fresh->status = status;
    }
    *line = &fresh->line;
    return status;
}

/* Whether a line at a tilt would serve an epsilon. */
static bool serves(Composition *all, double tilt, double epsilon)
{
    Survey *survey;
    if (survey_for(all, tilt, &survey) != FOUND)
        return false;
    Saddle place = place_at(all, survey, tilt);
    return fabs(saddle_epsilon(place) - epsilon) <= REACH * saddle_width(place);
}

/* A line laid at the tilt of a grid that is nearest to the place's. Where giant losses begin to rule, a little lower tilt
 * may need far fewer nodes: if there are too many at the nearest, or no end of them, the next below are tried. */
static Status shared(Composition *all, Saddle place, const Line **line)
{
    double bits = ceil(log2(0.7 * place.tilt * saddle_width(place)));
    if (isnan(bits))
        return NO_TILT;
    int shift = (int)fmin(fmax(bits, COARSEST), FINEST);
    double exponent = nearbyint(ldexp(log2(place.tilt), shift));
    Status status = BEYOND_BUDGET;
    for (int lower = 0; lower <= LOWER && (status == BEYOND_BUDGET || status == NO_DECAY); lower++) {
        double tilt = exp2(ldexp(exponent - lower, -shift));
        if (lower && !serves(all, tilt, saddle_epsilon(place)))
            break;
        status = laid(all, tilt, line);
    }
    return status;
}

/* delta at epsilon. ------------------------------------------------------------------------------------------------ */

/* On a line that neighbours share, or where that is not good on one for this epsilon alone: at its saddle, which does
 * not serve cut noise. */
static Status evaluated(Composition *all, Found at, double epsilon, Interval *found, double *width)
{
    const Line *line;
    Status status = shared(all, at.place, &line);
    if (status == FOUND)
        status = enclose(all, line, epsilon, found);
    if (!is_cut(all) && (status != FOUND || !(width_of(*found) <= GOOD_WIDTH))) {
        Line alone = {0};
        status = build(all, at, at.place.tilt, epsilon, 0.0, &alone);
        if (status == FOUND)
            status = enclose(all, &alone, epsilon, found);
        forget_line(&alone);
    }
    *width = width_of(*found);
    return status;
}

/* Where giant losses rule the place found for an epsilon: on the composition without them. What they hold is chosen by
 * delta, which is estimated on what is left. */
static Status evaluated_cut(Composition *all, Saddle place, double epsilon, Interval *found, double *width)
{
    Composition *cut = NULL;
    Found at = {place, 0.0};
    double before = INFINITY; /* What the last cut was asked to leave out: its address may be used again. */
    for (int k = 0; k < CUTTINGS; k++) {
        Status status = cut_for(all, log_delta_near(at.place, epsilon), &cut);
        if (status == FOUND && cut->wanted == before)
            break;
        if (status == FOUND)
            status = find(cut, (Target){true, epsilon}, &at);
        if (status != FOUND)
            return status;
        before = cut->wanted;
    }
    return evaluated(cut, at, epsilon, found, width);
}

Status evaluate(Composition *all, double epsilon, Interval *found, double *width)
{
    Found at;
    if (epsilon >= all->supremum) {
        *found = (Interval){-INFINITY, -INFINITY};
        return FOUND;
    }
    Status status = find(all, (Target){true, epsilon}, &at);
    if (status != FOUND)
        return status;
    if (jumps(all, at.place)) {
        status = evaluated_cut(all, at.place, epsilon, found, width);
        if (status == NO_MEMORY || (status == FOUND && *width <= GOOD_WIDTH))
            return status;
    }
    return evaluated(all, at, epsilon, found, width);
}

/* The Chernoff bound of log delta at one tilt. */
static Status chernoff(Composition *all, Found at, double epsilon, double *found)
{
    Survey *survey;
    Status status = survey_of(all, at.reach, &survey);
    if (status != FOUND)
        return status;
    double cumulant = upper_cumulant(all, survey, at.place.tilt), decrease = at.place.tilt * epsilon;
    double value = cumulant - decrease + log_chernoff_factor(at.place.tilt);
    value += 16 * UNIT * (1.0 + fabs(cumulant) + fabs(decrease) + fabs(value));
    if (isnan(value))
        return NO_TILT;
    *found = fmin(value, 0.0);
    return FOUND;
}

Status bound(Composition *all, double epsilon, double enough, double *found)
{
    Found at;
    Status status = FOUND;
    if (enough > -INFINITY) {
        status = best_rung(all, epsilon, &at);
        if (status == FOUND)
            status = chernoff(all, at, epsilon, found);
        if (status != FOUND || *found <= enough)
            return status;
    }
    status = find(all, (Target){true, epsilon}, &at);
    return status == FOUND ? chernoff(all, at, epsilon, found) : status;
}

/* epsilon at delta. ------------------------------------------------------------------------------------------------ */

/* Newton's iteration from the centre, and whether it ends within reach or at 0. Where giant losses begin to rule, the
 * sum at the centre may be lost in its error; it is larger to the left. */
static Status newton(const Line *line, double log_delta, double *root, bool *inside)
{
    double centre = line->epsilon, at = fmax(centre, 0.0), reach = line->reach;
    for (int k = 1; k <= 2 && !(sums(line, at).value > 0.0); k++)
        at = fmax(centre - 0.5 * k * reach, 0.0);
    *inside = true;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        double value, slope;
        Status status = estimate(line, at, &value, &slope);
        if (status != FOUND)
            return status;
        double moved = fmax(at - (value - log_delta) / slope, 0.0);
        *root = moved;
        if (!(fabs(moved - centre) <= reach)) {
            *root = fmax(centre + copysign(2.0 * reach, moved - centre), 0.0);
            *inside = false;
            return isfinite(*root) ? FOUND : NO_TILT;
        }
        if (fabs(moved - at) <= fmax(1e-7 * reach, 1e-14 * at))
            return FOUND;
        at = moved;
    }
    return FOUND;
}

/* Whether log delta there is certified to be at most the target less slack, or above the target plus slack. */
static Status passes(Composition *all, const Line *line, double end, int side, double log_delta, double slack,
                     bool *passed)
{
    Interval here;
    *passed = side < 0 && end <= 0.0;
    if (*passed)
        return FOUND;
    Status status = enclose(all, line, end, &here);
    if (status == FOUND)
        *passed = side > 0 ? here.upper <= log_delta - slack : here.lower > fmin(log_delta + slack, -1e-300);
    return status;
}

/* The first of root + pad, root + 3 pad, root + 7 pad, ... that passes, kept at or above 0. */
static Status first_end(Composition *all, const Line *line, double root, double pad, double log_delta, double slack,
                        double *end)
{
    double offset = pad;
    for (int k = 0; k < DOUBLINGS; k++) {
        bool passed;
        *end = fmax(root + offset, 0.0);
        Status status = passes(all, line, *end, pad > 0.0 ? 1 : -1, log_delta, slack, &passed);
        if (status != FOUND || passed)
            return status;
        offset = 2.0 * offset + pad;
    }
    return NOT_POSITIVE;
}

/* The nearest ends around the root that are certified. */
static Status certify(Composition *all, const Line *line, double root, Interval here, double log_delta, double slack,
                      Interval *found)
{
    double value, slope;
    Status status = estimate(line, root, &value, &slope);
    if (status != FOUND)
        return status;
    double off = 0.6 * width_of(here) + slack + 8 * UNIT * (1.0 + fabs(log_delta));
    double pad = off / fabs(slope) + 4 * UNIT * root;
    if (!(pad > 0.0 && isfinite(pad)))
        return NOT_POSITIVE;
    status = first_end(all, line, root, pad, log_delta, slack, &found->upper);
    return status == FOUND ? first_end(all, line, root, -pad, log_delta, slack, &found->lower) : status;
}

/* A line, an epsilon >= 0 near the root and log delta there: re-centred while the root lies outside the line's range,
 * and once if the enclosure at the root is wide. The first line is shared with neighbours, or `own`; one of its own is
 * laid in `alone`, which the caller forgets. */
static Status solved(Composition *all, Found at, bool own, double log_delta, Line *alone, const Line **line,
                     double *root, Interval *here)
{
    bool refined = own || is_cut(all), inside;
    double epsilon = saddle_epsilon(at.place);
    Status status = FOUND;
    for (int k = 0; status == FOUND && k < RECENTRINGS; k++) {
        if (own) {
            forget_line(alone);
            status = build(all, at, at.place.tilt, epsilon, REACH, alone);
            *line = alone;
        } else
            status = shared(all, at.place, line);
        if (status == FOUND)
            status = newton(*line, log_delta, root, &inside);
        if (status != FOUND)
            return status;
        own = inside && !is_cut(all);
        if (inside) {
            status = enclose(all, *line, *root, here);
            bool near = fabs(*root - (*line)->epsilon) < 0.05 * (*line)->reach;
            if (status != FOUND || refined || width_of(*here) <= GOOD_WIDTH || near)
                return status;
            refined = true;
        }
        epsilon = *root;
        status = find(all, (Target){true, epsilon}, &at);
    }
    return status == FOUND ? NO_TILT : status;
}

/* From a place near the root: on shared lines, or where those are not good on lines of its own. */
static Status solved_from(Composition *all, Found at, double log_delta, double slack, Interval *found, double *width)
{
    Line alone = {0};
    const Line *line = NULL;
    double root = 0.0;
    Interval here = {0.0, 0.0};
    Status status = FOUND;
    for (int own = 0; own < (is_cut(all) ? 1 : 2); own++) {
        status = solved(all, at, own, log_delta, &alone, &line, &root, &here);
        if (status == FOUND)
            status = certify(all, line, root, here, log_delta, slack, found);
        if (status == NO_MEMORY || (status == FOUND && width_of(here) <= GOOD_WIDTH))
            break;
    }
    *width = width_of(here);
    forget_line(&alone);
    return status;
}

static Status solved_cut(Composition *all, double log_delta, double slack, Interval *found, double *width)
{
    Composition *cut;
    Found at;
    Status status = cut_for(all, log_delta, &cut);
    if (status == FOUND)
        status = find(cut, (Target){false, log_delta}, &at);
    if (status == FOUND && !(saddle_epsilon(at.place) > 0.0))
        status = find(cut, (Target){true, 0.0}, &at);
    return status == FOUND ? solved_from(cut, at, log_delta, slack, found, width) : status;
}

Status solve(Composition *all, double log_delta, double slack, Interval *found, double *width)
{
    Found at;
    Status status = find(all, (Target){false, log_delta}, &at);
    if (status != FOUND)
        return status;
    if (!(saddle_epsilon(at.place) > 0.0)) {
        double least;
        status = chernoff(all, at, 0.0, &least);
        if (status != FOUND)
            return status;
        if (least <= log_delta - slack) {
            *found = (Interval){0.0, 0.0};
            *width = 0.0;
            return FOUND;
        }
        status = find(all, (Target){true, 0.0}, &at);
        if (status != FOUND)
            return status;
    }
    if (jumps(all, at.place)) {
        status = solved_cut(all, log_delta, slack, found, width);
        if (status == NO_MEMORY || (status == FOUND && *width <= GOOD_WIDTH))
            return status;
    }
    return solved_from(all, at, log_delta, slack, found, width);
}
