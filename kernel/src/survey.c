/* The composition at real tilts: K, its derivatives and upper bounds of it, on quadratures laid for a range (A2). */
#include "survey.h"
#include "drawn.h"
#include "laplace.h"
#include "loss.h"
#include "rule.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>


void forget_survey(Survey *survey)
{
    for (int k = 0; k < survey->kinds; k++)
        forget_rule(&survey->quadratures[k].rule);
    free(survey->quadratures);
    free(survey->room);
    memset(survey, 0, sizeof *survey);
}

/* One kind of steps on its rule. */
static void set_quadrature(const Loss *loss, Quadrature *at)
{
    double log_weight = log(at->rule.step) - LOG_SQRT_2PI, extreme = -INFINITY, largest = 0.0;
    for (int k = 0; k < at->rule.size; k++) {
        double x = node(&at->rule, k), ratio = log_ratio(loss, x);
        double log_density = log_weight - 0.5 * x * x;
        double value = loss->left < 0.0 ? loss->right * ratio + loss->left * log_ratio(loss, -x) : loss->right * ratio;
        at->loss[k] = value;
        at->log_first[k] = loss->density > 0.0 ? log_density + ratio : log_density;
        extreme = fmax(extreme, fmax(fabs(value), ratio));
        if (loss->mixture) {
            double error = ratio_error(loss, x, ratio) + (loss->left < 0.0 ? ratio_error(loss, -x, value) : 0.0);
            extreme = fmax(extreme, error / (4 * UNIT));
        }
        largest = fmax(largest, fabs(at->log_first[k]));
    }
    at->extreme = extreme;
    at->largest = largest;
}

static Status make_survey(const Composition *all, double reach, Survey *survey)
{
    size_t nodes = 0, most = 1;
    survey->quadratures = calloc((size_t)all->kinds + 1, sizeof *survey->quadratures);
    if (!survey->quadratures)
        return NO_MEMORY;
    survey->kinds = all->kinds;
    for (int k = 0; k < all->kinds; k++) {
        Rule *rule = &survey->quadratures[k].rule;
        Tilts tilts = {0.0, reach};
        const Steps *steps = &all->steps[k];
        Status status = look_up(all->watch);
        if (status == DONE)
            status = (steps->loss.drawn ? drawn_rule : rule_for)(&steps->loss, steps->count, tilts, 0.0, MOST_NODES, rule);
        if (status != DONE)
            return status;
        nodes += (size_t)rule->size;
        most = (size_t)rule->size > most ? (size_t)rule->size : most;
    }
    survey->room = malloc((2 * nodes + most) * sizeof *survey->room);
    if (!survey->room)
        return NO_MEMORY;
    survey->work = survey->room + 2 * nodes;
    survey->reach = reach;
    survey->nodes = (int)(nodes < 1 << 30 ? nodes : 1 << 30);
    survey->most_nodes = (int)most;
    double *room = survey->room;
    for (int k = 0; k < all->kinds; k++) {
        Quadrature *at = &survey->quadratures[k];
        at->log_first = room;
        at->loss = room + at->rule.size;
        room += 2 * at->rule.size;
        (all->steps[k].loss.drawn ? set_drawn_quadrature : set_quadrature)(&all->steps[k].loss, at);
    }
    return DONE;
}

/* The survey of a reach, kept until others take its place. */
Status survey_of(Composition *all, double reach, Survey **survey)
{
    if (!(reach > 0.0 && isfinite(reach)))
        return NO_TILT;
    int kept = all->kinds <= 2 * KEPT ? KEPT : KEPT / 4; /* of a thousand kinds one takes megabytes */
    for (int k = 0; k < kept; k++)
        if (all->surveys[k].reach == reach) {
            *survey = &all->surveys[k];
            return DONE;
        }
    Survey *fresh = &all->surveys[all->next_survey];
    forget_survey(fresh);
    Status status = make_survey(all, reach, fresh);
    if (status != DONE) {
        forget_survey(fresh);
        return status;
    }
    all->next_survey = (all->next_survey + 1) % kept;
    *survey = fresh;
    return DONE;
}

/* The exponents of one kind at a tilt, and the largest. */
double exponents(const Quadrature *at, double tilt, double *work)
{
    double top = -INFINITY;
    for (int k = 0; k < at->rule.size; k++) {
        double exponent = at->log_first[k] + tilt * at->loss[k];
        work[k] = exponent;
        top = exponent > top ? exponent : top;
    }
    return top;
}

/* K, K' and K'' of one step. */
static void moments(Survey *survey, int kind, double tilt, double *cumulant, double *mean, double *variance)
{
    const Quadrature *at = &survey->quadratures[kind];
    double *work = survey->work, top = exponents(at, tilt, work), total = 0.0, first = 0.0, second = 0.0;
    for (int k = 0; k < at->rule.size; k++) {
        double below = work[k] - top;
        if (below > -NEGLIGIBLE) {
            double weight = exp(below), moment = weight * at->loss[k];
            total += weight;
            first += moment;
            second += moment * at->loss[k];
        }
    }
    *cumulant = top + log(total);
    *mean = first / total;
    *variance = fmax(second / total - *mean * *mean, 0.0);
}

/* K of one step; an estimate. */
double step_cumulant(Survey *survey, int kind, double tilt)
{
    double cumulant, mean, variance;
    moments(survey, kind, tilt, &cumulant, &mean, &variance);
    return cumulant;
}

Saddle place_at(const Composition *all, Survey *survey, double tilt)
{
    double poles = 1.0 / (tilt * tilt) + 1.0 / ((1.0 + tilt) * (1.0 + tilt));
    Saddle sum = {tilt, 0.5 * all->square * tilt * (tilt + 1.0), all->square * (tilt + 0.5), all->square + poles};
    for (int k = 0; k < all->kinds; k++) {
        double cumulant, mean, variance, count = all->steps[k].count;
        moments(survey, k, tilt, &cumulant, &mean, &variance);
        sum.cumulant += count * cumulant;
        sum.mean += count * mean;
        sum.curvature += count * variance;
    }
    add_laplace_moments(all, tilt, &sum);
    return sum;
}

/* Standard deviation of the integrand's bulk, from the curvature there. */
double saddle_width(Saddle place)
{
    return sqrt(place.curvature);
}

/* An upper bound of K of one kind: the plain sum, raised by its quadrature error and rounding. */
static double upper_of_kind(const Composition *all, Survey *survey, int kind, double tilt)
{
    const Quadrature *at = &survey->quadratures[kind];
    const Rule *rule = &at->rule;
    const Steps *steps = &all->steps[kind];
    double *work = survey->work, top = exponents(at, tilt, work), total = 0.0;
    int left_out = 0;
    for (int k = 0; k < rule->size; k++) {
        double below = work[k] - top;
        if (below > -NEGLIGIBLE)
            total += exp(below);
        else
            left_out++;
    }
    total += left_out * exp(-NEGLIGIBLE);
    double log_moment = top + log(total), end = exp(rule->log_end + (1.0 + tilt) * rule->ratio_end - log_moment);
    double cumulant = steps->count * (log_moment + log1p(end));
    double edge = fmax(fabs(node(rule, 0)), fabs(node(rule, rule->size - 1)));
    double size = (1.0 + tilt) * (64.0 * at->extreme + 64.0 * steps->loss.shift * edge);
    double rounding = summation_error(rule->size) + UNIT * (4.0 * edge * edge + size + 64.0);
    return cumulant + steps->count * (rule->error + rounding) + 8 * UNIT * fabs(cumulant);
}

/* An upper bound of K at a tilt up to the reach. */
double upper_cumulant(const Composition *all, Survey *survey, double tilt)
{
    if (!(tilt > 0.0))
        return 0.0;
    double sum = 0.5 * all->square * tilt * (tilt + 1.0) * (1.0 + 12 * UNIT), size = sum;
    for (int k = 0; k < all->kinds; k++) {
        const Steps *steps = &all->steps[k];
        double bound = steps->loss.drawn ? upper_drawn_cumulant(steps, &survey->quadratures[k], tilt, survey->work)
                                         : upper_of_kind(all, survey, k, tilt);
        sum += bound;
        size += fabs(bound);
    }
    double laplace = upper_laplace_cumulant(all, tilt);
    sum += laplace;
    return sum + 4 * UNIT * (all->kinds + 2.0) * (size + fabs(laplace));
}
