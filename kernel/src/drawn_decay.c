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
static double upper_mass(const TailPart *part, double tilt, double frequency)
{
    const Loss *loss = &part->loss;
    double q = loss->rate, shift = loss->shift, least = INFINITY;
    double falling_tail = exp(upper_log_tail(0.5 * shift)), density = exp(-0.125 * shift * shift - LOG_SQRT_2PI);
    for (double share = 1.0; share > 0.04; share *= 0.6) {
        double y = fmin(3.0, share / shift), edge = drawn_edge(loss, y), lean = exp(tilt * edge);
        double fall = frequency * q * sin(shift * y) / y * (1.0 - 1e-12), raised = exp(0.5 * y * y);
        double across = raised * exp(-fall * y) * (part->most + lean * falling_tail);
        double turned = (q > 0.5 ? 1.0 - q : 1.0) * shift / (fall * fall), size = tilt + frequency;
        double shrunk = q * (1.0 - q) * shift * shift * exp(2.0 * edge) * (1.0 + size + size * lean);
        least = fmin(least, across + density * raised * (turned + shrunk / (fall * fall * fall)));
    }
    return least * (1.0 + 1e-9);
}

/* Return log of a bound of |phi(t')| for all t' >= t from the atom and the moved contour. */
static double log_moved(const DrawnTail *tail, double frequency)
{
    double sum = tail->atom;
    for (int k = 0; k < drawn_components(&tail->steps->loss); k++)
        sum += tail->parts[k].weight * upper_mass(&tail->parts[k], tail->tilt, frequency);
    return log(sum) - tail->least_cumulant;
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
static Spread spread_of(const DrawnTail *tail, const Rule *rule, const Weighing *at, double left_out)
{
    Spread found = {0};
    double total = 0.0, second = 0.0, least = exp(log(tail->atom) - tail->least_cumulant);
    for (int k = 0; k < at->kept; k++) {
        total += at->weight[k];
        second += at->weight[k] * at->deviation[k] * at->deviation[k];
    }
    found.variance = second * (total + fabs(1.0 - total)) * (1.0 + 1e-9);
    found.error = left_out + 2.02 * (at->dropped + rule->error) + 4.0 * summation_error(at->kept + 64);
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

/* Return the same steps without the largest components of a mixture that hold little of M(l); `left_out` bounds what |phi|
 * of these errs by, half of 1/T (A10, "Decay"). */
static Steps without_rare(const DrawnTail *tail, Mixture *room, double *left_out)
{
    Steps steps = *tail->steps;
    const Mixture *all = steps.loss.mixture;
    *left_out = 0.0;
    if (!all)
        return steps;
    *room = *all;
    for (int k = all->size - 1; k > 0; k--) {
        const TailPart *part = &tail->parts[k];
        double share = part->weight * (part->most + part->atom + 1.0) * exp(-tail->least_cumulant) * (1.0 + 1e-9);
        if (!(*left_out + share <= 0.5 / steps.count))
            break;
        *left_out += share;
        room->size = k;
        steps.loss.shift = room->shift[k - 1];
    }
    steps.loss.mixture = room;
    return steps;
}

/* Lay rungs up to a last frequency, from which on |phi| has a bound; none where they are too many. */
static Status lay_rungs(DrawnTail *tail, const Steps *steps, double left_out, const Rule *rule, double *room, double first,
                        double last, double log_beyond)
{
    Weighing at = weighing_in(room, rule->size);
    weigh_drawn(steps, rule, tail->tilt, &at);
    keep_weights(coarse_count(tail->steps), &at);
    Spread spread = spread_of(tail, rule, &at, left_out);
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
    Mixture mixture;
    double left_out, count = tail->steps->count;
    Steps steps = without_rare(tail, &mixture, &left_out);
    const Loss *loss = &steps.loss;
    double last = 2.0 / (loss->rate * loss->shift), most_last = 212.0 * last;
    double log_beyond = log_moved(tail, last);
    for (double less = last; loss->mixture && less > first && count * log_moved(tail, less) <= -NEGLIGIBLE;) {
        last = less;
        log_beyond = log_moved(tail, last);
        less /= 1.0 + SHARE_LOST;
    }
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
    if (!room) {
        forget_rule(&rule);
        return NO_MEMORY;
    }
    status = lay_rungs(tail, &steps, left_out, &rule, room, first, last, log_beyond);
    free(room);
    forget_rule(&rule);
    return status;
}

/* Weigh one component, or all, and bound the cumulant from both sides (A8). */
static Interval cumulant_of(const Steps *steps, const Rule *rule, double tilt, double *room)
{
    Weighing at = weighing_in(room, rule->size);
    weigh_drawn(steps, rule, tilt, &at);
    double error = at.cumulant_error + 1.02 * rule->error + 8 * UNIT * (1.0 + fabs(at.cumulant));
    return (Interval){at.cumulant - error, at.cumulant + error};
}

/* Prepare bounds of |phi| from a first frequency on, at a tilt that a quadrature serves; the caller frees `frequency` and
 * `parts`. */
Status make_drawn_tail(const Steps *steps, const Quadrature *quadrature, double tilt, double first, DrawnTail *tail)
{
    const Loss *loss = &steps->loss;
    int size = drawn_components(loss);
    *tail = (DrawnTail){.steps = steps, .tilt = tilt, .parts = malloc((size_t)size * sizeof *tail->parts)};
    double *room = malloc(weighing_room(quadrature->rule.size) * sizeof *room), rest = loss->mixture ? 1.0 : 0.0;
    if (!room || !tail->parts) {
        free(room);
        return NO_MEMORY;
    }
    for (int k = 0; k < size; k++) {
        TailPart *part = &tail->parts[k];
        *part = (TailPart){.loss = drawn_component(loss, k), .weight = loss->mixture ? loss->mixture->weight[k] : 1.0};
        Steps one = {part->loss, steps->count};
        double upper = cumulant_of(&one, drawn_part(&quadrature->rule, k), tilt, room).upper;
        double atom = (1.0 - loss->rate) * erf(part->loss.shift / sqrt(8.0));
        part->atom = atom * (1.0 + 32 * UNIT);
        part->most = exp(upper) * (1.0 + UNIT * (8.0 + 8.0 * fabs(upper))) - atom * (1.0 - 32 * UNIT);
        tail->atom += part->weight * part->atom;
        rest -= part->weight;
    }
    if (loss->mixture) /* what the weights leave is a batch without a loss */
        tail->atom = (tail->atom + fmax(rest, 0.0)) * (1.0 + UNIT * (4.0 * size + 16.0)) + 4.0 * size * UNIT;
    tail->least_cumulant = cumulant_of(steps, &quadrature->rule, tilt, room).lower;
    free(room);
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
