/* The true positive rates of the best tests at false positive rates, and upper bounds of delta at several epsilons.
 *
 * The rate is the least value of h(gamma) = gamma alpha + E_gamma over gamma >= 0, E_gamma = delta(log gamma), which is
 * convex (accountants/trade_off.py). Every point is an upper bound; the lower one comes from the chords between points
 * (accountants/numerics/minimum.py, whose charges are those here). */
#include "best.h"
#include "composition.h"
#include "cut.h"
#include "profile.h"
#include "questions.h"
#include "roots.h"
#include "saddle.h"
#include "shared.h"


/* What the distance of the points may cost, relative to the rate; twice as much is narrow enough. */
#define LOSS 1e-7
/* A chord must fall by so many widths of delta, as far out as the square of the outermost place is. */
#define WIDTHS_APART (4.0 * 2.25)
/* Width of the rate, in widths of one value, with which no more points are laid. */
#define MOST_WIDTHS 5.0
/* Most points after the first four. */
#define CUTS 8
/* The points at 0 and 1/alpha, the first four, and the others. */
#define POINTS (2 + 4 + CUTS)

/* A point gamma, and the ends of h there. gamma itself may be off by a few units of roundoff. */
typedef struct {
    double place;
    Interval ends;
} Known;

/* What is known of h, in increasing order, the least of its upper bounds and bounds of its slope. */
typedef struct {
    Known points[POINTS];
    int size;
    double upper, least_slope, most_slope;
} Minimum;

/* A lower bound of h on an interval, and where it is that low. */
typedef struct {
    double value, place;
} Least;

/* (second - first)/(end - start), moved to the side by what the rounding of the points does to it. */
static double chord(double first, double second, double start, double end, double side)
{
    double slope = (second - first) / (end - start);
    return slope + side * fabs(slope) * 8 * UNIT * (1.0 + (fabs(start) + fabs(end)) / (end - start));
}

/* On the interval after a point: where the falling extension from the left meets the rising one from the right. The
 * chords are those from its ends to at most so many points on either side. */
static Least between(const Minimum *known, int place, int most)
{
    const Known *left = &known->points[place], *right = left + 1;
    double falling = known->least_slope, rising = known->most_slope;
    for (int k = place > most ? place - most : 0; k < place; k++) {
        const Known *far = &known->points[k];
        falling = fmax(falling, chord(far->ends.upper, left->ends.lower, far->place, left->place, -1.0));
    }
    for (int k = place + 2; k < known->size && k < place + 2 + most; k++) {
        const Known *far = &known->points[k];
        rising = fmin(rising, chord(right->ends.lower, far->ends.upper, right->place, far->place, 1.0));
    }
    if (falling >= 0.0)
        return (Least){left->ends.lower, left->place};
    if (rising <= 0.0)
        return (Least){right->ends.lower, right->place};
    /* At any place the lower of the two lines is below where they meet, if one falls and the other rises. */
    double meeting = right->ends.lower - left->ends.lower + falling * left->place - rising * right->place;
    meeting = fmin(fmax(meeting / (falling - rising), left->place), right->place);
    double fallen = falling * (meeting - left->place), risen = rising * (meeting - right->place);
    double slack = 8 * UNIT * (left->ends.lower + right->ends.lower - fallen - risen);
    return (Least){fmin(left->ends.lower + fallen, right->ends.lower + risen) - slack, meeting};
}

/* A lower bound of h between the first and the last point. Where a point lies above the next one towards the lowest, a
 * convex function rises from there outwards. */
static Least least_value(const Minimum *known)
{
    int lowest = 0, first = 0, last = known->size - 1;
    bool seen[POINTS] = {false};
    Least bounds[POINTS];
    for (int k = 1; k < known->size; k++)
        if (known->points[k].ends.upper < known->points[lowest].ends.upper)
            lowest = k;
    for (int k = lowest; k-- > 0 && !first;)
        if (known->points[k].ends.lower > known->points[k + 1].ends.upper)
            first = k;
    for (int k = lowest + 1; k < known->size && last == known->size - 1; k++)
        if (known->points[k].ends.lower > known->points[k - 1].ends.upper)
            last = k;
    for (int k = first; k < last; k++)
        bounds[k] = between(known, k, 1);
    for (;;) { /* chords to all other points where the bound is least: those of close neighbours are known roughly */
        int place = first;
        for (int k = first + 1; k < last; k++)
            if (bounds[k].value < bounds[place].value)
                place = k;
        if (seen[place])
            return bounds[place];
        seen[place] = true;
        Least closer = between(known, place, known->size);
        if (closer.value > bounds[place].value)
            bounds[place] = closer;
    }
}

/* Insert a point; false if there is one there. */
static bool insert(Minimum *known, Known point)
{
    int k = known->size;
    for (int j = 0; j < known->size; j++)
        if (known->points[j].place == point.place)
            return false;
    for (; k > 0 && known->points[k - 1].place > point.place; k--)
        known->points[k] = known->points[k - 1];
    known->points[k] = point;
    known->size++;
    known->upper = fmin(known->upper, point.ends.upper);
    return true;
}

/* Move an end of log delta outward by what a rounded shift may change. */
static double moved(double end, double rounding)
{
    return isfinite(end) ? end + rounding * (1.0 + fabs(end)) : end;
}

/* Read h at an epsilon; false if there is a point there. */
static Status read_point(const Composition *all, const Line *line, double epsilon, double rate, double rounding,
                         Minimum *known, bool *is_new)
{
    Interval here;
    double gamma = exp(epsilon), share = gamma * rate;
    *is_new = false;
    if (!(share < 1.0))
        return DONE;
    Status status = enclose(all, line, epsilon, &here);
    if (status != DONE)
        return status;
    double lower = exp(moved(here.lower, -rounding)), upper = exp(fmin(moved(here.upper, rounding), 0.0));
    Interval ends = {(share + lower * (1.0 - 16 * UNIT)) * (1.0 - 8 * UNIT),
                     (share + upper * (1.0 + 16 * UNIT)) * (1.0 + 8 * UNIT)};
    *is_new = insert(known, (Known){gamma, ends});
    return DONE;
}

/* Whether the ends are as close as they should be, or as what was read around the lower one allows. */
static bool is_narrow(const Minimum *known, Least least)
{
    double widths = INFINITY;
    int place = 0;
    while (place < known->size && known->points[place].place < least.place)
        place++;
    for (int k = place > 0 ? place - 1 : 0; k < place + 2 && k < known->size; k++)
        if (known->points[k].ends.upper <= 1.01 * known->upper)
            widths = fmin(widths, known->points[k].ends.upper - known->points[k].ends.lower);
    double allowed = isfinite(widths) ? MOST_WIDTHS * widths : 0.0;
    return known->upper - least.value <= fmax(2.0 * LOSS * known->upper, allowed);
}

/* Four points around the threshold, on its line; then where the lower bound is least, while that helps. */
static Status lay_points(const Composition *all, const Root *root, double rate, double rounding, Minimum *known)
{
    static const double PATTERN[4] = {0.5, -0.5, 1.5, -1.5};
    Estimate size;
    bool is_new;
    Status status = estimate(all, root->line, AT_LOG_SIZE, root->epsilon, &size);
    double step = sqrt(fmax(LOSS, WIDTHS_APART * width_of(root->here)) / fabs(size.slope));
    for (int k = 0; k < 4 && status == DONE; k++)
        status = read_point(all, root->line, root->epsilon + PATTERN[k] * step, rate, rounding, known, &is_new);
    for (int k = 0; k < CUTS && status == DONE; k++) {
        Least least = least_value(known);
        if (is_narrow(known, least) || least.place <= 0.0)
            return DONE;
        status = read_point(all, root->line, log(least.place), rate, rounding, known, &is_new);
        if (!is_new)
            return status;
    }
    return status;
}

/* Around a threshold: keep the closer ends. */
static Status best_at(const Composition *all, const Root *root, double rate, double rounding, BestTest *found)
{
    Minimum known = {.upper = 1.0, .least_slope = rate - 1.0, .most_slope = rate};
    insert(&known, (Known){0.0, {1.0, 1.0}});
    insert(&known, (Known){1.0 / rate, {1.0, 2.0}});
    Status status = lay_points(all, root, rate, rounding, &known);
    if (status != DONE)
        return status;
    double least = fmax(least_value(&known).value, rate);
    found->ends.upper = fmin(found->ends.upper, known.upper);
    found->ends.lower = fmin(fmax(found->ends.lower, least * (1.0 - 1e-14)), found->ends.upper);
    if (width_of(root->here) < found->width) {
        found->width = width_of(root->here);
        found->epsilon = root->epsilon;
    }
    return DONE;
}

/* The threshold of a size, on the composition without giant losses where they have a share. */
static Status threshold_root(Composition *all, double log_size, Composition **seen, Line *alone, Root *root)
{
    Located at;
    Status status = locate(all, (Target){AT_LOG_SIZE, log_size}, &at);
    if (status != DONE)
        return status;
    if (jumps(all, at.saddle)) {
        status = cut_for(all, log_delta_near(at.saddle, saddle_epsilon(at.saddle)), seen);
        if (status == DONE)
            status = root_at_size(*seen, log_size, alone, root);
        if ((status == DONE && width_of(root->here) <= GOOD_WIDTH) || ends_all(status))
            return status;
        forget_line(alone);
    }
    *seen = all;
    return root_at_size(all, log_size, alone, root);
}

/* The true positive rates of the best tests at several false positive rates, and log delta at 0 as far as the line for
 * the first of them tells. Others are found on that line too where it knows log delta well. `rounding` is the share of
 * 1 + |log delta| by which the ends of log delta are moved outward. */
Status best_tests(Composition *all, int count, const double *rates, double rounding, BestTest *found, Answer *at_zero)
{
    Composition *seen = all;
    Line alone = {0};
    Root first = {0};
    Status status = threshold_root(all, log(rates[0]), &seen, &alone, &first);
    at_zero->width = INFINITY;
    for (int k = 0; k < count; k++)
        found[k] = (BestTest){{rates[k] * (1.0 - 1e-14), 1.0}, 0.0, INFINITY};
    if (status == DONE)
        status = best_at(seen, &first, rates[0], rounding, &found[0]);
    if (status == DONE && enclose(seen, first.line, 0.0, &at_zero->ends) == DONE)
        at_zero->width = width_of(at_zero->ends);
    for (int k = 1; k < count && status == DONE; k++) {
        Root root = {0};
        if (far_root_at_size(seen, first.line, log(rates[k]), &root) == DONE)
            status = best_at(seen, &root, rates[k], rounding, &found[k]);
    }
    forget_line(&alone);
    for (int k = 1; k < count && status == DONE; k++) {
        Root root = {0};
        if (found[k].width < INFINITY)
            continue;
        status = threshold_root(all, log(rates[k]), &seen, &alone, &root);
        if (status == DONE)
            status = best_at(seen, &root, rates[k], rounding, &found[k]);
        forget_line(&alone);
        status = ends_all(status) ? status : DONE;
    }
    return status;
}

/* Upper bounds on one composition, all from the line for the first epsilon. */
static Status bounds_on(Composition *all, Saddle place, int count, const double *epsilons, double *found)
{
    const Line *line;
    Interval ends;
    Status status = shared_line(all, place, &line);
    for (int k = 0; k < count && status == DONE; k++) {
        status = enclose(all, line, epsilons[k], &ends);
        found[k] = ends.upper;
    }
    return status;
}

/* Upper bounds of log delta at several epsilons, without giant losses where they have a share. */
Status upper_log_deltas(Composition *all, int count, const double *epsilons, double *found)
{
    Composition *cut;
    Located at, within;
    Status status = locate(all, (Target){AT_EPSILON, epsilons[0]}, &at);
    if (status != DONE)
        return status;
    if (jumps(all, at.saddle)) {
        status = locate_cut(all, at.saddle, epsilons[0], &cut, &within);
        if (status == DONE)
            status = bounds_on(cut, within.saddle, count, epsilons, found);
        if (status == DONE || ends_all(status))
            return status;
    }
    return bounds_on(all, at.saddle, count, epsilons, found);
}
