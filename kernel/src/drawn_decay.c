/* How fast the transform of a batch drawn without replacement falls along the line (certificate, A8, "Decay"). */
#include "drawn_decay.h"
#include "change.h"
#include "drawn.h"
#include "loss.h"
#include "rule.h"
#include "weigh.h"

#include <stdlib.h>

/* Share of 1 - |phi|^2 by which the bound between two rungs may exceed it: a line is then a twentieth longer. */
#define SHARE_LOST 0.1

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

/* Return |phi(t)|^2 of the nodes' own law from a change phi - 1. */
static double square_of(double real, double imaginary)
{
    return (1.0 + real) * (1.0 + real) + imaginary * imaginary;
}

/* Return |phi(t)|^2 of the nodes' own law at one frequency. */
static double square_at(const Weighing *at, double frequency)
{
    double real = 0.0, imaginary = 0.0;
    for (int k = 0; k < at->kept; k++) {
        double tangent = tan(0.5 * frequency * at->deviation[k]), square = tangent * tangent;
        double shrunk = 2.0 * at->weight[k] / (1.0 + square);
        real -= square * shrunk;
        imaginary += tangent * shrunk;
    }
    return square_of(real, imaginary);
}

/* What rungs are laid with: half of what bounds the second derivative of |phi|^2 of the nodes' own law, what |phi| errs by
 * at t, e0 + e1 t, and |phi|^2 that is wanted, and by how much a bound between far rungs may exceed that at its ends. */
typedef struct {
    double variance, error, error_slope, wanted, slack;
} Spread;

/* Bound the second derivative of |sum m e^(itd)|^2 by 2 (sum |m|)(sum |m| d^2), and collect errors (A4, A8 "Decay"). */
static Spread spread_of(const DrawnTail *tail, const Rule *rule, const Weighing *at)
{
    Spread found = {0};
    double total = 0.0, second = 0.0, least = exp(log(tail->atom) - tail->least_cumulant);
    for (int k = 0; k < at->kept; k++) {
        total += at->weight[k];
        second += at->weight[k] * at->deviation[k] * at->deviation[k];
    }
    found.variance = second * (total + fabs(1.0 - total)) * (1.0 + 1e-9);
    found.error = 2.02 * (at->dropped + rule->error) + 4.0 * summation_error(at->kept + 64);
    found.error_slope = 1.01 * at->slope;
    found.wanted = exp(-2.0 * NEGLIGIBLE / tail->steps->count);
    found.slack = fmax(0.5 * (found.wanted - least * least), 0.05 * found.wanted);
    return found;
}

/* Append a rung at t with log of a bound of |phi| up to the next rung: |phi|^2 of the nodes' own law exceeds the larger of
 * its values at the ends of an interval of length D by (s D)^2/4 at most (A8, "Decay"). */
static void add_rung(DrawnTail *tail, const Spread *spread, double t, double next, double square, double after)
{
    double length = (next - t) * (1.0 + 1e-9), most = fmax(square, after) + 0.25 * spread->variance * length * length;
    tail->frequency[tail->rungs] = t;
    tail->log_bound[tail->rungs++] = log(sqrt(most) + spread->error + spread->error_slope * next);
}

/* Return a number of steps for which the quadrature of rungs is laid: it then errs by e^-11/T, of T steps by nothing that
 * matters to where a line ends. */
static double coarse_count(const Steps *steps)
{
    return steps->count * exp(-0.5 * NEGLIGIBLE);
}

/* Lay near rungs from the first frequency on, each farther by what 1 - |phi|^2 allows, while that is a good share of t.
 * Return the stride for far rungs. A twentieth of the last frequency is the most, as the quadrature serves 1.1 times that. */
static double near_rungs(DrawnTail *tail, const Spread *spread, const Weighing *at, double *t, double *square, double last)
{
    while (*square > spread->wanted - spread->slack && *t < last && tail->rungs < MOST_NODES) {
        double slack = SHARE_LOST * (1.0 - fmin(*square, spread->wanted)) * fmax(*square, spread->wanted);
        double stride = fmin(2.0 * sqrt(slack / spread->variance), 0.05 * last), next = *t + stride;
        if (!(stride > SHARE_LOST * *t))
            return stride;
        double after = square_at(at, next);
        add_rung(tail, spread, *t, next, *square, after);
        *t = next;
        *square = after;
    }
    return 2.0 * sqrt(spread->slack / spread->variance);
}

/* Lay far rungs at multiples of a stride up to the last frequency; BEYOND_BUDGET where they are too many. */
static Status far_rungs(DrawnTail *tail, const Spread *spread, const Weighing *at, double t, double square, double stride,
                        double last)
{
    double nodes = ceil(last / stride) + 2.0;
    if (!(nodes * at->kept <= MOST_PRODUCTS / 2 && nodes <= MOST_NODES))
        return BEYOND_BUDGET;
    Change change = {0};
    Status status = make_change((int)nodes, &change);
    if (status != DONE)
        return status;
    set_change(at, stride, &change);
    for (int k = (int)fmin(floor(t / stride), nodes) + 1; k < (int)nodes; k++) {
        double next = stride * k, after = square_of(change.real[k], change.imaginary[k]);
        add_rung(tail, spread, t, next, square, after);
        t = next;
        square = after;
    }
    free(change.real);
    return DONE;
}

/* Lay rungs up to a last frequency, from which on |phi| has a bound; none where they are too many. */
static Status lay_rungs(DrawnTail *tail, const Rule *rule, double *room, double first, double last, double log_beyond)
{
    Weighing at = weighing_in(room, rule->size);
    weigh_drawn(tail->steps, rule, tail->tilt, &at);
    keep_weights(coarse_count(tail->steps), &at);
    Spread spread = spread_of(tail, rule, &at);
    tail->frequency = malloc(4 * (size_t)MOST_NODES * sizeof *tail->frequency);
    if (!tail->frequency)
        return NO_MEMORY;
    tail->log_bound = tail->frequency + 2 * MOST_NODES;
    double t = first, square = square_at(&at, t), stride = near_rungs(tail, &spread, &at, &t, &square, last);
    Status status = far_rungs(tail, &spread, &at, t, square, exact_step(fmin(stride, 0.03 * last)), last);
    if (status != DONE)
        tail->rungs = 0;
    for (int k = tail->rungs - 1; k >= 0; k--)
        log_beyond = tail->log_bound[k] = fmax(tail->log_bound[k], log_beyond);
    return ends_all(status) ? status : DONE;
}

/* Find a frequency from which on the moved contour alone is enough, and lay rungs up to there; none if there is none. */
static Status find_rungs(DrawnTail *tail, double first)
{
    const Loss *loss = &tail->steps->loss;
    double count = tail->steps->count, last = 2.0 / (loss->rate * loss->shift), most_last = 212.0 * last;
    double log_beyond = log_moved(tail, last);
    while (!(count * log_beyond <= -NEGLIGIBLE) && last < most_last) {
        last *= 1.0 + SHARE_LOST;
        log_beyond = log_moved(tail, last);
    }
    Rule rule;
    Tilts tilts = {tail->tilt, tail->tilt};
    if (!(first < last && count * log_beyond <= -NEGLIGIBLE))
        return DONE;
    Status status = drawn_rule(loss, coarse_count(tail->steps), tilts, (1.0 + SHARE_LOST) * last, MOST_NODES, &rule);
    if (status != DONE)
        return ends_all(status) ? status : DONE;
    double *room = malloc(weighing_room(rule.size) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    status = lay_rungs(tail, &rule, room, first, last, log_beyond);
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
    return find_rungs(tail, first);
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
