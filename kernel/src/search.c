/* The shift, the count or the rate of a run at which delta(epsilon) is as asked; nothing is certified.
 *
 * First by the saddle-point estimate of log delta, then by the upper ends themselves, from where that ended. */
#include "search.h"
#include "composition.h"
#include "loss.h"
#include "questions.h"
#include "saddle.h"


/* log delta of one order at a trial value, estimated or as the upper end. */
static Status value_at(const Search *asked, int order, double number, bool rough, double *value)
{
    Composition all;
    Steps steps = asked->orders[order];
    double rate = asked->unknown == OF_RATE ? number : steps.loss.rate;
    double shift = asked->unknown == OF_SHIFT ? number : steps.loss.shift;
    if (!(rate > 0.0 && rate < 1.0 && shift > 0.0 && isfinite(shift)))
        return NO_TILT;
    steps.loss = loss_of(rate, shift, steps.loss.density > 0.0, (int)steps.loss.right, (int)steps.loss.left);
    steps.loss.drawn = asked->orders[order].loss.drawn;
    steps.count = asked->unknown == OF_COUNT ? number : steps.count;
    Status status = make(&all, 1, 0);
    all.watch = asked->watch;
    if (status == DONE) {
        all.steps[0] = steps;
        status = complete(&all);
    }
    if (status == DONE && rough) {
        Located at;
        status = locate(&all, (Target){AT_EPSILON, asked->epsilon}, &at);
        *value = status == DONE ? log_delta_near(at.saddle, asked->epsilon) : 0.0;
    } else if (status == DONE) {
        Answer best;
        status = evaluate(&all, asked->epsilon, &best);
        status = status == DONE && !(best.width <= WIDEST) ? NOT_POSITIVE : status;
        *value = best.ends.upper;
    }
    forget(&all);
    return status;
}

/* By how much the larger log delta exceeds what is asked. After a rough look only the orders that may be the larger. */
static Status excess_at(const Search *asked, double number, bool rough, bool *counts, double *excess)
{
    double values[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < asked->size; k++) {
        Status status = rough || counts[k] ? value_at(asked, k, number, rough, &values[k]) : DONE;
        if (status != DONE)
            return status;
    }
    double larger = fmax(values[0], values[1]);
    for (int k = 0; rough && k < asked->size; k++)
        counts[k] = values[k] > larger - 0.5;
    *excess = fmax(larger, 1e3 * asked->log_delta) - asked->log_delta;
    return isfinite(*excess) ? DONE : NO_TILT;
}

/* Secants inside a shrinking bracket, from a logarithm of the number with about the slope there. */
static Status approach(const Search *asked, bool rough, bool *counts, double close, double *place, double *slope)
{
    double low = -INFINITY, high = INFINITY, before = NAN, excess_before = 0.0, at = *place;
    for (int k = 0; k < ITERATIONS; k++) {
        double excess;
        Status status = excess_at(asked, exp(at), rough, counts, &excess);
        if (status != DONE)
            return status;
        if (excess > 0.0)
            high = fmin(high, at);
        else
            low = fmax(low, at);
        double secant = (excess - excess_before) / (at - before);
        *slope = secant > 0.0 && isfinite(secant) ? secant : *slope;
        double step = fmax(fmin(-excess / *slope, log(2.0)), -log(2.0));
        before = at;
        excess_before = excess;
        at = low < at + step && at + step < high ? at + step : 0.5 * (low + high);
        *place = at;
        if (!isfinite(at))
            return NO_TILT;
        if (fabs(at - before) <= close)
            return DONE;
    }
    return NO_TILT;
}

/* delta rises with the shift, the count and the rate. A secant errs by about the product of the last two errors, so that
 * the second of both ends within about 1e-7 of the logarithm. */
Status search_number(const Search *asked, double guess, double *found)
{
    bool counts[2] = {true, true};
    double place = log(guess), slope = -(asked->unknown == OF_COUNT ? 1.0 : 2.0) * asked->log_delta;
    Status status = approach(asked, true, counts, 1e-2, &place, &slope);
    if (status == DONE)
        status = approach(asked, false, counts, 2e-4, &place, &slope);
    *found = exp(place);
    return status;
}
