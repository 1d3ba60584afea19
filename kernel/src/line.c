/* The integrand of a composition on a line: the transforms of its parts, one after the other, and their product. */
#include "line.h"
#include "change.h"
#include "drawn.h"
#include "grid.h"
#include "laplace.h"
#include "laplace_run.h"
#include "powers.h"
#include "rule.h"
#include "watch.h"
#include "weigh.h"

#include <stdlib.h>

/* The quadratures of all kinds at the line's tilt, for its last frequency; BEYOND_BUDGET before the work is done. A line
 * may take a tenth of a second: where it is refused, the reference takes longer. */
static Status rules_of(const Composition *all, Line *line, Rule *rules, int *most)
{
    double tilt = line->place.tilt, products = 0.0, budget = 3.0 * MOST_PRODUCTS;
    Tilts tilts = {tilt, tilt};
    *most = 0;
    for (int k = 0; k < all->kinds; k++) {
        const Steps *steps = &all->steps[k];
        double last = line->nodes * line->spacing;
        Status status = look_up(all->watch);
        if (status == DONE)
            status = (steps->loss.drawn ? drawn_rule : rule_for)(&steps->loss, steps->count, tilts, last, MOST_NODES,
                                                                 &rules[k]);
        if (status != DONE)
            return status;
        *most = rules[k].size > *most ? rules[k].size : *most;
        products += (double)line->nodes * rules[k].size;
        budget += k ? MOST_PRODUCTS / 128 : 0.0;
    }
    line->dear = products > MOST_PRODUCTS;
    return products <= budget ? DONE : BEYOND_BUDGET;
}

/* phi - 1 on the nodes of a line, on a grid where that is quicker; `summed` is what the grid adds to its error. */
static Status set_change_on(const Weighing *at, Line *line, double count, Change *change, double *summed)
{
    double error = grid_error(at, line->spacing, line->nodes);
    if (line->exact || !suits_grid(at, line->nodes, count, error)) {
        set_change(at, line->spacing, change);
        return DONE;
    }
    line->grid_error += count * error;
    *summed = 1.01 * error;
    return grid_change(at, line->spacing, line->nodes, change);
}

/* phi^T of one kind of steps. */
static Status steps_on_line(const Steps *steps, const Rule *rule, Line *line, double *room, Change *change,
                            Powers *powers)
{
    Weighing at = weighing_in(room, rule->size);
    double tilt = line->place.tilt, count = steps->count;
    (steps->loss.drawn ? weigh_drawn : weigh)(steps, rule, tilt, &at);
    keep_weights(count, &at);
    /* Beyond the window every tilted law falls like a Gaussian from c standard deviations on. */
    if (!(at.at_ends <= 8.0 * exp(-0.5 * rule->c * rule->c)))
        return INCONSISTENT;
    double summed = 0.0;
    Status status = set_change_on(&at, line, count, change, &summed);
    if (status != DONE)
        return status;
    double quadrature = rule->error + end_error(rule, tilt, at.cumulant);
    for (int k = 0; k < line->nodes; k++) {
        double frequency = line->spacing * k;
        double error = k ? 1.01 * at.slope * frequency + 2.02 * (at.dropped + quadrature) + summed : 0.0;
        if (!(error <= 0.5))
            return NOT_POSITIVE;
        Polar one = polar(change->real[k], change->imaginary[k], error, frequency * fabs(at.mean));
        add_power(powers, k, (Polar){count * one.log_modulus, count * one.phase, count * one.log_growth,
                                     count * one.rounding});
    }
    double of_one = at.cumulant_error + 2.02 * quadrature + 2 * UNIT * fabs(at.cumulant);
    add_part(powers, count * at.mean, count * at.cumulant, count * of_one);
    return DONE;
}

/* Steps that are not sampled: centred at mu^2 (l + 1/2), the transform is e^(-mu^2 t^2/2). An error of mu^2 moves the
 * modulus and, against the centre that is used, the phase. */
static void gaussian_on_line(double square, const Line *line, Powers *powers)
{
    double tilt = line->place.tilt, centre = square * (tilt + 0.5), cumulant = 0.5 * square * tilt * (tilt + 1.0);
    for (int k = 0; k < line->nodes; k++) {
        double frequency = line->spacing * k, log_modulus = -0.5 * square * frequency * frequency;
        double rounding = 12 * UNIT * (fabs(log_modulus) + centre * frequency);
        add_power(powers, k, (Polar){log_modulus, 0.0, 0.0, rounding});
    }
    add_part(powers, centre, cumulant, 12 * UNIT * cumulant);
}

/* All Laplace losses, or of a run what at least two of them between the ends add. */
static Status laplace_on_line(const Composition *all, const Line *line, Powers *powers)
{
    double tilt = line->place.tilt, centre, cumulant, error;
    laplace_sums(all, tilt, &centre, &cumulant, &error);
    for (int k = 0; k < line->nodes; k++) {
        Polar power;
        double frequency = line->spacing * k;
        bool known = all->split ? run_power(&all->laplace[0], tilt, frequency, centre, &power)
                                : laplace_power(all, tilt, frequency, centre, &power);
        if (!known)
            return NOT_POSITIVE;
        add_power(powers, k, power);
    }
    add_part(powers, centre, cumulant, error);
    return DONE;
}

static Status add_all(const Composition *all, const Rule *rules, int most, Line *line, Powers *powers)
{
    Change change = {0};
    double *room = malloc((weighing_room(most) + 1) * sizeof *room);
    Status status = room ? DONE : NO_MEMORY;
    if (status == DONE && all->kinds)
        status = make_change(line->nodes, &change);
    if (status == DONE && all->square > 0.0)
        gaussian_on_line(all->square, line, powers);
    for (int k = 0; status == DONE && k < all->kinds; k++) {
        status = steps_on_line(&all->steps[k], &rules[k], line, room, &change, powers);
        if (status == DONE)
            status = look_up(all->watch);
    }
    if (status == DONE && all->laplace_kinds)
        status = laplace_on_line(all, line, powers);
    free(change.real);
    free(room);
    return status;
}

/* The terms on the nodes of a line whose place, spacing, number of nodes and truncation are set. */
Status set_line(const Composition *all, Line *line)
{
    int most;
    Powers powers = {0};
    Rule *rules = calloc((size_t)all->kinds + 1, sizeof *rules);
    Status status = rules ? rules_of(all, line, rules, &most) : NO_MEMORY;
    if (status == DONE)
        status = make_powers(line->nodes, &powers);
    if (status == DONE)
        status = add_all(all, rules, most, line, &powers);
    if (status == DONE)
        status = set_terms(&powers, line);
    free(powers.log_modulus);
    for (int k = 0; rules && k < all->kinds; k++)
        forget_rule(&rules[k]);
    free(rules);
    return status;
}
