/* The trapezoidal rule for a batch drawn without replacement: u = sigma log(1 + e^(v/sigma)), all v (A8, "Quadrature").
 *
 * Of a Rule, `origin` is sigma, nodes are v = (first + k) step, and `size` counts the losses log r and -log r of all
 * nodes, and the loss 0. */
#include "drawn.h"
#include "loss.h"
#include "rule.h"

#include <stdlib.h>


/* Cells of u: log of a bound of f = phi r^(1+l) on each, a bound of tau there; log f beyond them, and of M(l) from below. */
typedef struct {
    double width, beyond, log_rest, log_least;
    double *log_most, *turn, *room;
    int size;
} Cells;

/* Bound f on cells: log f + x^2/2 is convex, so that the larger end and width^2/8 bound log f (A8, "Quadrature").
 *
 * Cells are a quarter as wide as the tallest strip is high, which raises a bound by 0.02 nats. They reach c standard
 * deviations beyond d (1 + l), where the slope of log f is -c and less than e^-nats of the integral is left; for a transform
 * also to where p = 1/2, as tau is 1 from there on. */
static Status set_cells(const Loss *loss, double nats, double tilt, double frequency, Cells *cells)
{
    double shift = loss->shift, before = 0.0, reach;
    cells->beyond = sqrt(2.0 * nats) + 1.0;
    cells->width = 0.25 * STEEPEST * fmin(1.0, 1.0 / shift);
    reach = shift * (0.5 + tilt) + cells->beyond;
    if (frequency > 0.0 && 1.0 - loss->log_odds / shift < cells->width * (MOST_NODES / 8))
        reach = fmax(reach, 1.0 - loss->log_odds / shift);
    if (!(reach <= cells->width * (MOST_NODES / 4)))
        return BEYOND_BUDGET;
    cells->size = (int)ceil(reach / cells->width);
    double end = cells->width * cells->size + 0.5 * shift;
    double rounding = 1e-9 + UNIT * (16.0 * end * end + 64.0 * (1.0 + tilt) * shift * end);
    cells->log_most = malloc((size_t)cells->size * 3 * sizeof *cells->log_most);
    if (!cells->log_most)
        return NO_MEMORY;
    cells->turn = cells->log_most + cells->size;
    cells->room = cells->turn + cells->size;
    for (int k = 0; k <= cells->size; k++) {
        double u = cells->width * k, x = u + 0.5 * shift;
        double here = -0.5 * x * x - LOG_SQRT_2PI + (1.0 + tilt) * drawn_log_ratio(loss, u);
        if (k) {
            double p = 1.0 / (1.0 + exp(-(loss->log_odds + shift * u)));
            cells->log_most[k - 1] = fmax(before, here) + 0.125 * cells->width * cells->width + rounding;
            cells->turn[k - 1] = p <= 0.5 ? p * (1.0 + 1e-9) : 1.0;
            cells->room[k - 1] = k < cells->size ? here : -INFINITY;
        }
        before = here;
    }
    cells->log_rest = before + rounding;
    /* On a cell around u the mean of log f is at least log f(u) - width^2/24, and f's own is larger (Jensen). */
    double log_mean = log_sum(cells->room, cells->size) - cells->width * cells->width / 24.0;
    cells->log_least = fmax(log_mean + log(cells->width) - 2.0 * rounding, 0.0);
    return DONE;
}

/* Return b(y) = -log |r(iy)|, which rises up to dy = pi (A8, "Quadrature"). */
double drawn_edge(const Loss *loss, double height)
{
    double sine = sin(0.5 * loss->shift * height);
    return -0.5 * log1p(-4.0 * loss->rate * (1.0 - loss->rate) * sine * sine);
}

/* Return log E at a height, E M(l) a bound of the integral of |k_z| there; t = 0 needs no cells (A8, "Quadrature"). */
static double log_growth(const Loss *loss, const Cells *cells, double tilt, double frequency, double height, double scale)
{
    double falling = tilt * drawn_edge(loss, height), angle = loss->shift * height;
    double shape = 0.5 * height * height - log(cos(height / scale)) + falling + log1p(exp(-falling)) + log(2.0) + 1e-9;
    if (frequency == 0.0)
        return shape;
    for (int k = 0; k < cells->size; k++)
        cells->room[k] = cells->log_most[k] + frequency * angle * cells->turn[k];
    double parts[2] = {log_sum(cells->room, cells->size) + log(cells->width),
                       cells->log_rest + frequency * angle - log(cells->beyond)};
    return log_sum(parts, 2) + shape - cells->log_least + 1e-9;
}

/* Return the first node's v and bound the sum of |k_z| over the nodes before it (A8, "Ends"). */
static double left_end(const Loss *loss, double tilt, double frequency, double scale, double step, double nats,
                       double *error)
{
    double drawn = loss->rate * loss->shift * scale, size = tilt + frequency;
    double log_size = 2.0 * log(drawn) - 0.125 * loss->shift * loss->shift - LOG_SQRT_2PI;
    log_size += log(0.4 * scale + 1.2 * step) + log(size) + log1p(size) + 1e-9;
    double low = fmin(-4.0 * scale, -scale * log(11.0 * (1.0 + tilt) * drawn));
    low = fmin(low, -scale * (log_size + nats) / 3.0);
    *error = exp(log_size + 3.0 * low / scale);
    return low;
}

/* Return the last node's v and bound the sum of |k_z|/M(l) over the nodes beyond it, |k_z| <= 4f (A8, "Ends"). */
static double right_end(const Cells *cells, double step, double nats, double *error)
{
    double offset = log(4.0) + 1e-9 - cells->log_least, log_beyond = cells->log_rest + log(1.0 / cells->beyond + step);
    double wanted = fmax(-nats, log_beyond + offset);
    int last = cells->size;
    while (last > 0) {
        double parts[2] = {log_beyond, cells->log_most[last - 1] + log(cells->width + step)};
        double longer = log_sum(parts, 2) + 1e-15;
        if (longer + offset > wanted)
            break;
        log_beyond = longer;
        last--;
    }
    *error = exp(fmin(log_beyond + offset, 50.0));
    return cells->width * last;
}

/* Set the widest rule whose error is about what is allowed, given the cells (A8, "Quadrature"). */
static Status set_rule(const Loss *loss, const Cells *cells, double nats, double tilt, double frequency, int most_nodes,
                       Rule *rule)
{
    double scale = exp2(floor(log2(fmin(1.0, 1.0 / loss->shift)))), height[HEIGHTS], growth[HEIGHTS], strip = INFINITY;
    double left, right;
    for (int k = 0; k < HEIGHTS; k++) {
        height[k] = k ? 0.65 * height[k - 1] : STEEPEST * fmin(scale, 1.0 / loss->shift);
        growth[k] = log_growth(loss, cells, tilt, frequency, height[k], scale);
    }
    double step = widest_step(height, growth, nats);
    if (!(step > height[0] * 0x1p-20))
        return BEYOND_BUDGET;
    double first = floor(left_end(loss, tilt, frequency, scale, step, nats, &left) / step);
    double last = ceil(right_end(cells, step, nats, &right) / step);
    if (!(2.0 * (last - first) + 3.0 < most_nodes))
        return BEYOND_BUDGET;
    for (int k = 0; k < HEIGHTS; k++)
        strip = fmin(strip, log_strip_error(height[k], growth[k], step));
    double error = (exp(fmin(strip, 50.0)) + left + right) * (1.0 + 1e-9);
    *rule = (Rule){.origin = scale, .step = step, .error = error, .log_end = -INFINITY, .first = (long long)first};
    rule->size = 2 * (int)(last - first + 1.0) + 1;
    return isfinite(rule->error) ? DONE : BEYOND_BUDGET;
}

static Status rule_of_one(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule)
{
    Cells cells = {0};
    double nats = QUADRATURE_NATS + log(count);
    Status status = set_cells(loss, nats, tilts.most, frequency, &cells);
    if (status == DONE)
        status = set_rule(loss, &cells, nats, tilts.most, frequency, most_nodes, rule);
    free(cells.log_most);
    return status;
}

/* Lay a rule for real tilts in a range and frequencies up to the given one; a positive one goes with one tilt (A8). Of a
 * mixture each component has its own, eight times as many nodes in all; relative errors are at most the largest (A10). The
 * caller forgets it. */
Status drawn_rule(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule)
{
    if (!loss->mixture)
        return rule_of_one(loss, count, tilts, frequency, most_nodes, rule);
    *rule = (Rule){.log_end = -INFINITY, .size = 1};
    rule->parts = calloc((size_t)loss->mixture->size, sizeof *rule->parts);
    Status status = rule->parts ? DONE : NO_MEMORY;
    for (int k = 0; status == DONE && k < loss->mixture->size; k++) {
        Loss one = drawn_component(loss, k);
        status = rule_of_one(&one, count, tilts, frequency, 8 * most_nodes - rule->size, &rule->parts[k]);
        rule->size += rule->parts[k].size - 1;
        rule->error = fmax(rule->error, rule->parts[k].error);
    }
    if (status != DONE)
        forget_rule(rule);
    return status;
}
