/* One step under its tilted law on the nodes of the noise, with K and the errors of both (A4). */
#include "weigh.h"
#include "loss.h"
#include "rule.h"


/* Numbers that the arrays of a weighing take. */
size_t weighing_room(int size)
{
    return (size_t)size * 6;
}

Weighing weighing_in(double *room, int size)
{
    Weighing at = {.size = size, .weight = room};
    at.deviation = at.weight + size;
    at.loss = at.deviation + size;
    at.loss_error = at.loss + size;
    at.exponent = at.loss_error + size;
    at.error = at.exponent + size;
    return at;
}

/* Of the sum over the line (change.c). */
static double summing_error(int terms)
{
    return 4.0 * summation_error(BLOCK + terms / BLOCK + 3) + 128 * UNIT;
}

static double density_error(double x, double log_step)
{
    return UNIT * (4.0 * x * x + 2.0 * fabs(log_step) + 24.0);
}

/* K of one step from M - 1 = sum w phi (e^exponent - 1) where M is of order one, and its rounding error. */
static void set_cumulant(const Loss *loss, const Rule *rule, Weighing *at)
{
    double log_step = log(rule->step), summing = summation_error(at->size), top = -INFINITY;
    double sum = 0.0, moved = 0.0;
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), log_full = (log_step - LOG_SQRT_2PI) - 0.5 * x * x + at->exponent[k];
        at->weight[k] = log_full;
        top = fmax(top, log_full);
    }
    if (top > 1.0) {
        for (int k = 0; k < at->size; k++) {
            double shifted = exp(at->weight[k] - top), x = node(rule, k);
            sum += shifted;
            moved += shifted * (at->error[k] + density_error(x, log_step) + 4 * UNIT * fabs(at->weight[k]));
        }
        at->cumulant = top + log(sum);
        at->cumulant_error = 1.01 * (summing + moved / sum) + 4 * UNIT * (fabs(top) + fabs(at->cumulant) + 1.0);
        return;
    }
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), full = exp(at->weight[k]);
        double density = exp((log_step - LOG_SQRT_2PI) - 0.5 * x * x);
        double term = at->exponent[k] < 1.0 ? density * expm1(at->exponent[k]) : full - density;
        sum += term;
        moved += fabs(term) * (density_error(x, log_step) + summing) + full * at->error[k];
    }
    if (isfinite(loss->end)) /* phi itself has lost a mass that does not matter */
        moved += exp(upper_log_tail(loss->end));
    at->cumulant = log1p(sum);
    at->cumulant_error = 1.01 * moved * exp(-at->cumulant) + 4 * UNIT * fabs(at->cumulant);
}

/* The loss at every node and the exponent of its tilted density over phi, with their errors. */
static void set_exponents(const Loss *loss, const Rule *rule, double tilt, Weighing *at)
{
    double first = loss->density + loss->right * tilt, second = loss->left * tilt;
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), ratio = log_ratio(loss, x), of_ratio = ratio_error(loss, x, ratio);
        double exponent = first * ratio, error = fabs(first) * of_ratio + 4 * UNIT * fabs(exponent);
        double of_loss = of_ratio, value = loss->right * ratio;
        if (loss->left < 0.0) {
            double mirrored = log_ratio(loss, -x), of_mirrored = ratio_error(loss, -x, mirrored);
            double turned = second * mirrored;
            exponent += turned;
            error += tilt * of_mirrored + 4 * UNIT * fabs(turned);
            value += loss->left * mirrored;
            of_loss += of_mirrored;
        }
        at->exponent[k] = exponent;
        at->error[k] = error;
        at->loss[k] = value;
        at->loss_error[k] = of_loss + 4 * UNIT * fabs(value);
    }
}

void weigh(const Steps *steps, const Rule *rule, double tilt, Weighing *at)
{
    double log_step = log(rule->step);
    set_exponents(&steps->loss, rule, tilt, at);
    set_cumulant(&steps->loss, rule, at);
    for (int k = 0; k < at->size; k++) {
        double log_full = at->weight[k], x = node(rule, k);
        at->error[k] += density_error(x, log_step) + at->cumulant_error;
        at->error[k] += UNIT * (2.0 * fabs(log_full) + fabs(at->cumulant) + 4.0);
        at->weight[k] = exp(log_full - at->cumulant);
    }
    at->at_ends = at->weight[0] + (isfinite(steps->loss.end) ? 0.0 : at->weight[at->size - 1]);
}

/* Leave out nodes that weigh too little for so many steps; sets the mean, the deviations and what phi errs by (A4). */
void keep_weights(double count, Weighing *at)
{
    double mean = 0.0, slope = 0.0, dropped = 0.0, summing = summing_error(at->size);
    for (int k = 0; k < at->size; k++)
        mean += at->weight[k] * at->loss[k];
    double least = exp(-QUADRATURE_NATS) / (count * at->size);
    at->kept = 0;
    for (int k = 0; k < at->size; k++) {
        double weight = at->weight[k], deviation = at->loss[k] - mean;
        slope += weight * fabs(deviation) * (at->error[k] + summing) + weight * at->loss_error[k];
        if (weight > least) {
            at->weight[at->kept] = weight;
            at->deviation[at->kept++] = deviation;
        } else
            dropped += weight;
    }
    at->mean = mean;
    at->slope = slope;
    at->dropped = dropped;
}
