/* How fast the transform of a batch drawn without replacement falls along the line (certificate, A8, "Decay"). */
#include "drawn_decay.h"
#include "drawn.h"
#include "loss.h"
#include "weigh.h"

#include <stdlib.h>

/* Share of 1 - |phi|^2 by which the bound between two rungs may exceed it: a line is then a twentieth longer. */
#define SHARE_LOST 0.1
/* Ratio of trial frequencies for the last rung, from 2 to 2 * 1.25^24 = 424 in units of 1/(q d), of small losses. */
#define LAST_RATIO 1.25

/* Return a bound of |c(l + it')| for all t' >= t: the contour is moved to Im u = y and returns at u = 0 (A8, "Decay"). */
static double upper_mass(const DrawnTail *tail, double frequency)
{
    const Loss *loss = &tail->steps->loss;
    double q = loss->rate, shift = loss->shift, tilt = tail->tilt, least = INFINITY;
    double falling_tail = exp(upper_log_tail(0.5 * shift)), density = exp(-0.125 * shift * shift - LOG_SQRT_2PI);
    for (double share = 1.0; share > 0.04; share *= 0.6) {
        double y = fmin(3.0, share / shift), edge = drawn_edge(loss, y), lean = exp(tilt * edge);
        double fall = frequency * q * sin(shift * y) / y * (1.0 - 1e-12), raised = exp(0.5 * y * y);
        double across = raised * exp(-fall * y) * (tail->most + lean * falling_tail);
        double turned = (q > 0.5 ? 1.0 - q : 1.0) * shift / (fall * fall), size = tilt + frequency;
        double shrunk = q * (1.0 - q) * shift * shift * exp(2.0 * edge) * (1.0 + size + size * lean);
        least = fmin(least, across + density * raised * (turned + shrunk / (fall * fall * fall)));
    }
    return least * (1.0 + 1e-9);
}

/* Return log of a bound of |phi(t')| for all t' >= t from the atom and the moved contour. */
static double log_moved(const DrawnTail *tail, double frequency)
{
    return log(tail->atom + upper_mass(tail, frequency)) - tail->least_cumulant;
}

/* Return |phi(t)|^2 of the nodes' own law; `weight` holds the sums and differences of both losses of a node. */
static double square_at(const Weighing *at, int nodes, double total, double frequency)
{
    double real = at->weight[2 * nodes], imaginary = 0.0;
    for (int k = 0; k < nodes; k++) {
        double tangent = tan(0.5 * frequency * at->loss[k]), square = tangent * tangent, shrunk = 1.0 / (1.0 + square);
        real += at->weight[k] * (1.0 - square) * shrunk;
        imaginary += at->weight[nodes + k] * (2.0 * tangent) * shrunk;
    }
    return (real * real + imaginary * imaginary) / (total * total);
}

/* What the rungs are laid with: the variance of the nodes' law, and |phi|'s error at t, e0 + e1 t. */
typedef struct {
    double total, variance, error, error_slope;
} Spread;

/* Find the total, variance and errors of the nodes' law, and leave sums and differences of a node's weights (A8). */
static Spread spread_of(const Rule *rule, Weighing *at)
{
    int nodes = (rule->size - 1) / 2;
    Spread found = {0};
    double mean = 0.0, second = 0.0;
    for (int k = 0; k < at->size; k++) {
        double weight = at->weight[k];
        found.total += weight;
        found.error += weight * at->error[k];
        found.error_slope += weight * (at->loss_error[k] + 32 * UNIT * fabs(at->loss[k]));
        mean += weight * at->loss[k];
    }
    mean /= found.total;
    for (int k = 0; k < at->size; k++)
        second += at->weight[k] * (at->loss[k] - mean) * (at->loss[k] - mean);
    for (int k = 0; k < nodes; k++) {
        double up = at->weight[k], down = at->weight[nodes + k];
        at->weight[k] = up + down;
        at->weight[nodes + k] = up - down;
    }
    found.variance = second / found.total * (1.0 + 1e-9);
    found.error = 2.02 * (found.error / found.total + summation_error(at->size + 64) + rule->error);
    found.error_slope *= 2.02 / found.total;
    return found;
}

/* Lay rungs from the first frequency up to the last one, with log of a bound of |phi| from each of them on. |phi|^2 is the
 * transform of a law of variance 2 s^2: between rungs it exceeds the larger end by (s D)^2/4 at most (A8, "Decay"). */
static void set_rungs(DrawnTail *tail, const Rule *rule, Weighing *at, double first, double last, double beyond)
{
    int nodes = (rule->size - 1) / 2;
    Spread spread = spread_of(rule, at);
    double floor_square = exp(-2.0 * (NATS + 12.0) / tail->steps->count), t = first, square;
    square = square_at(at, nodes, spread.total, t);
    tail->rungs = 0;
    while (t < last && tail->rungs < tail->most_rungs) {
        double slack = SHARE_LOST * fmax(1.0 - square, 0.0) * fmax(square, floor_square);
        double step = fmin(2.0 * sqrt(slack / spread.variance), 0.5 * last), next = t + step;
        double after = square_at(at, nodes, spread.total, next);
        step = (next - t) * (1.0 + 1e-9);
        double most = fmax(square, after) + 0.25 * spread.variance * step * step;
        tail->frequency[tail->rungs] = t;
        tail->log_bound[tail->rungs++] = log(sqrt(most) + spread.error + spread.error_slope * next);
        if (!(next > t))
            break;
        t = next;
        square = after;
    }
    if (!(t >= last))
        tail->rungs = 0;
    for (int k = tail->rungs - 1; k >= 0; k--)
        beyond = tail->log_bound[k] = fmax(tail->log_bound[k], beyond);
}

/* Find a frequency from which on the moved contour alone is enough, and lay rungs up to there; none if there is none. */
static Status lay_rungs(DrawnTail *tail, double first)
{
    const Steps *steps = tail->steps;
    const Loss *loss = &steps->loss;
    double last = 2.0 / (loss->rate * loss->shift), most_last = 212.0 * last, beyond = log_moved(tail, last);
    while (!(steps->count * beyond <= -(NATS + 12.0)) && last < most_last) {
        last *= LAST_RATIO;
        beyond = log_moved(tail, last);
    }
    Rule rule;
    Tilts tilts = {tail->tilt, tail->tilt};
    if (!(first < last && steps->count * beyond <= -(NATS + 12.0)))
        return DONE;
    Status status = drawn_rule(loss, steps->count, tilts, 1.5 * last, MOST_NODES, &rule);
    if (status != DONE)
        return status == NO_MEMORY ? status : DONE;
    tail->most_rungs = MOST_PRODUCTS / 32 / rule.size;
    tail->frequency = malloc(2 * (size_t)tail->most_rungs * sizeof *tail->frequency);
    double *room = malloc(weighing_room(rule.size) * sizeof *room);
    status = tail->frequency && room ? DONE : NO_MEMORY;
    if (status == DONE) {
        Weighing at = weighing_in(room, rule.size);
        tail->log_bound = tail->frequency + tail->most_rungs;
        weigh_drawn(steps, &rule, tail->tilt, &at);
        set_rungs(tail, &rule, &at, first, last, beyond);
    }
    free(room);
    return status;
}

/* Prepare bounds of |phi| from a first frequency on, at a tilt that a quadrature serves; the caller frees `frequency`. */
Status make_drawn_tail(const Steps *steps, const Quadrature *quadrature, double tilt, double first, DrawnTail *tail)
{
    const Loss *loss = &steps->loss;
    const Rule *rule = &quadrature->rule;
    *tail = (DrawnTail){.steps = steps, .tilt = tilt};
    double *room = malloc(weighing_room(rule->size) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    Weighing at = weighing_in(room, rule->size);
    weigh_drawn(steps, rule, tilt, &at);
    free(room);
    double error = at.cumulant_error + 1.02 * rule->error, atom = (1.0 - loss->rate) * erf(loss->shift / sqrt(8.0));
    tail->least_cumulant = at.cumulant - error - 8 * UNIT * (1.0 + fabs(at.cumulant));
    tail->atom = atom * (1.0 + 32 * UNIT);
    tail->most = exp(at.cumulant + error) * (1.0 + UNIT * (8.0 + 8.0 * fabs(at.cumulant))) - atom * (1.0 - 32 * UNIT);
    return lay_rungs(tail, first);
}

/* Return log of a bound of |phi(t')|^T for all t' >= t. */
double drawn_decay(const DrawnTail *tail, double frequency)
{
    double bound = log_moved(tail, frequency);
    int low = 0, high = tail->rungs;
    while (low < high) { /* the first rung beyond t */
        int middle = (low + high) / 2;
        if (tail->frequency[middle] <= frequency)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0)
        bound = fmin(bound, tail->log_bound[low - 1]);
    return tail->steps->count * (fmin(bound, 0.0) + 8 * UNIT);
}
