/* The trapezoidal rule over the whole line of the noise, certified (A2). */
#include "rule.h"
#include "loss.h"

#include <stdlib.h>


/* Layers of the noise: the first is the whole of it, each of the others begins so far beyond the mode. */
static const double LAYER[LAYERS] = {0.0,  1.0,  1.5,  2.0,  2.5,  3.0,  3.5,  4.0,  4.5,  5.0,  5.5,  6.0,
                                     6.5,  7.0,  7.5,  8.0,  8.5,  9.0,  10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
                                     16.0, 17.0, 18.0, 19.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0};

/* The largest number of seven significant bits that does not exceed step > 0. */
double exact_step(double step)
{
    int exponent;
    double mantissa = frexp(step, &exponent);
    return ldexp(floor(ldexp(mantissa, 7)), exponent - 7);
}

/* A c >= 1 with Phi(-c) <= e^-nats, for nats > 2: where phi(c)/c, which lies above Phi(-c), is that small. */
static double normal_quantile(double nats)
{
    double c = sqrt(2.0 * nats);
    for (int k = 0; k < 6; k++) /* Newton from above, on a function that is convex and rises */
        c -= (0.5 * c * c + log(c) + LOG_SQRT_2PI - nats) / (c + 1.0 / c);
    return fmax(c, 1.0) * (1.0 + 1e-9) + 1e-9;
}

/* Bracket of x* = -l s p(x*), where phi r^-l is largest (to add); (0, 0) otherwise. */
static void mode(const Loss *loss, double tilt, double *low, double *high)
{
    *low = *high = 0.0;
    if (loss->right > 0.0 || tilt == 0.0)
        return;
    *low = -tilt * loss->shift;
    while (*high - *low > 0.02 + 1e-12 * fabs(*low)) {
        double middle = 0.5 * (*low + *high);
        if (middle + tilt * loss->shift * response(loss, middle) > 0.0)
            *high = middle;
        else
            *low = middle;
    }
    *low -= 1e-9 * (1.0 - *low);
    *high += 1e-9 * (1.0 - *high);
}

/* rho(x) rho(-x) <= 1; not shown of a mixture. */
static bool balanced(const Loss *loss)
{
    return !loss->mixture && loss->log_odds <= 0.5 * loss->shift * loss->shift * (1.0 - 1e-12);
}

static Layers layers_beyond(const Loss *loss, double least, double beyond)
{
    Layers layers;
    double low, high;
    mode(loss, least, &low, &high);
    for (int k = 0; k < LAYERS; k++) {
        double p = k + 1 < LAYERS ? response(loss, high + beyond + LAYER[k + 1]) : 1.0;
        layers.turn[k] = upper_turn(loss, p);
        layers.spread[k] = upper_spread(loss, p);
        layers.log_mass[k] = fmin(log(2.0) + upper_log_tail(beyond + LAYER[k]), 0.0);
    }
    return layers;
}

/* log E_l[e^(t |arg r|) (|r(x + iy)|/r(x))^-l; x beyond the mode] for the factor with a negative exponent. */
static double log_swing(const Layers *layers, double most, double frequency, double angle)
{
    double logs[LAYERS], sine = sin(0.5 * angle), square = sine * sine, last = log1p(-square);
    for (int k = 0; k < LAYERS; k++) {
        double part = 4.0 * layers->spread[k] * square;
        /* log(1 - x) >= -x/(1 - x), which is close where x is small. */
        double size = layers->spread[k] == 0.25 ? last : part < 1e-3 ? -part / (1.0 - part) : log1p(-part);
        logs[k] = frequency * angle * layers->turn[k] - 0.5 * most * size + layers->log_mass[k];
    }
    return log_sum(logs, LAYERS) + 1e-9;
}

/* log of 2E/(e^(2 pi a/h) - 1), E = e^growth. */
double log_strip_error(double height, double growth, double step)
{
    double exponent = 2.0 * PI * height / step;
    return log(2.0) + growth - exponent - log(-expm1(-exponent)) + 1e-9;
}

/* The widest step whose strip errs by e^-nats at most, for an integrand that grows so at each height. */
double widest_step(const double *height, const double *growth, double nats)
{
    double widest = 0.0;
    for (int k = 0; k < HEIGHTS; k++) {
        double nats_there = growth[k] + nats + log(2.0);
        double soft = fmax(nats_there, 0.0) + log1p(exp(-fabs(nats_there)));
        widest = fmax(widest, 2.0 * PI * height[k] / soft);
    }
    return widest > 1e-300 ? exact_step(widest) : 0.0;
}

void forget_rule(Rule *rule)
{
    free(rule->parts);
    rule->parts = NULL;
}

double node(const Rule *rule, int k)
{
    return rule->origin + rule->step * (double)(rule->first + k);
}

/* Of what the end of cut noise adds to |sum - M(z)|, the share in M(l), whose logarithm was computed. M(l) must not be
 * below one by more than what is cut off, so that the share also bounds what the end adds to the sum of phi. */
double end_error(const Rule *rule, double tilt, double log_moment)
{
    if (rule->log_end == -INFINITY)
        return 0.0;
    double share = exp(rule->log_end + (1.0 + tilt) * rule->ratio_end - log_moment);
    return share <= 1e-3 && log_moment >= -1e-3 ? 1.01 * share : INFINITY;
}

/* The same of E_l[G e^(-t theta)] at a height, with what the contour adds that returns to the end (A3, "Cut law"). */
double end_decay_error(const Rule *rule, double tilt, double log_moment, double height)
{
    return (3.0 + PI * height / rule->step) * end_error(rule, tilt, log_moment);
}

/* Nodes up to the end x_b of cut noise, midway between the last of them and the next (A2, "Cut midway"). The factor turns
 * by v tau(x_b) at most. */
static Status half_line(const Loss *loss, double count, double frequency, int most_nodes, Rule *rule)
{
    double nats = QUADRATURE_NATS + log(count) + (frequency == 0.0 ? NEGLIGIBLE / count : 0.0);
    double tallest = fmin(12.0, (frequency == 0.0 ? 1.5 : widest_angle(loss)) / loss->shift), end = loss->end;
    double turn = frequency * loss->shift * upper_turn(loss, response(loss, end)) * (1.0 + 1e-9);
    double height[HEIGHTS], growth[HEIGHTS], strip = INFINITY, fall = 0.0;
    for (int k = 0; k < HEIGHTS; k++) {
        height[k] = k ? 0.65 * height[k - 1] : tallest;
        growth[k] = 0.5 * height[k] * height[k] + turn * height[k];
    }
    double step = widest_step(height, growth, nats), c = normal_quantile(nats + log(3.0));
    if (!(end + c + 2.0 * step < step * (most_nodes - 2)))
        return BEYOND_BUDGET;
    for (int k = 0; k < HEIGHTS; k++) {
        double error = log_strip_error(height[k], growth[k], step);
        if (error < strip) {
            strip = error;
            fall = 2.0 * PI / step - turn - 0.5 * height[k];
        }
    }
    rule->parts = NULL;
    rule->origin = end - 0.5 * step;
    rule->step = step;
    rule->c = c;
    rule->first = (long long)floor((-(c + step) - rule->origin) / step);
    rule->size = (int)(1 - rule->first);
    rule->error = exp(strip) + 3.0 * exp(upper_log_tail(c)) * (1.0 + 1e-12);
    double ratio = log_ratio(loss, end);
    rule->ratio_end = ratio + ratio_error(loss, end, ratio);
    rule->log_end = log(2.0 / fall) - LOG_SQRT_2PI - 0.5 * end * end + 1e-9;
    return isfinite(rule->error) && fall > 0.0 ? DONE : BEYOND_BUDGET;
}

static Status whole_line(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule)
{
    double nats = QUADRATURE_NATS + log(count) + (frequency == 0.0 ? NEGLIGIBLE / count : 0.0);
    double tallest = fmin(12.0, (frequency == 0.0 ? 1.5 : widest_angle(loss)) / loss->shift);
    double height[HEIGHTS], growth[HEIGHTS], strip = INFINITY, low, high, unused;
    bool rising = loss->right > 0.0;
    double falling_frequency = rising && balanced(loss) ? 0.0 : frequency;
    Layers layers;
    if (falls(loss))
        layers = layers_beyond(loss, tilts.least, 0.0);
    for (int k = 0; k < HEIGHTS; k++) {
        height[k] = k ? 0.65 * height[k - 1] : tallest;
        double angle = loss->shift * height[k];
        double swing = falls(loss) ? log_swing(&layers, tilts.most, falling_frequency, angle) : 0.0;
        growth[k] = 0.5 * height[k] * height[k] + (rising ? frequency * angle : 0.0) + swing;
    }
    double step = widest_step(height, growth, nats);
    double c = normal_quantile(nats + log(3.0));
    if (loss->right < 0.0) {
        mode(loss, tilts.most, &low, &unused);
        low -= c + step;
        high = c + step;
    } else {
        double doubled = loss->left < 0.0 && !balanced(loss) ? 2.0 : 1.0;
        low = -(c + step);
        high = loss->shift * (1.0 + doubled * tilts.most) + (c + step);
    }
    if (!(high - low < step * (most_nodes - 2)))
        return BEYOND_BUDGET;
    for (int k = 0; k < HEIGHTS; k++)
        strip = fmin(strip, log_strip_error(height[k], growth[k], step));
    rule->parts = NULL;
    rule->origin = 0.0;
    rule->log_end = -INFINITY;
    rule->ratio_end = 0.0;
    rule->step = step;
    rule->c = c;
    rule->first = (long long)floor(low / step);
    rule->size = (int)((long long)ceil(high / step) - rule->first + 1);
    rule->error = exp(strip) + 3.0 * exp(upper_log_tail(c)) * (1.0 + 1e-12);
    return isfinite(rule->error) ? DONE : BEYOND_BUDGET;
}

Status rule_for(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule)
{
    if (isfinite(loss->end))
        return half_line(loss, count, frequency, most_nodes, rule);
    return whole_line(loss, count, tilts, frequency, most_nodes, rule);
}

/* The layers of the noise under the tilted law: all of it, and what lies outside the window. */
void set_swings(const Loss *loss, const Rule *rule, double tilt, Swings *swings)
{
    if (falls(loss)) {
        swings->inside = layers_beyond(loss, tilt, 0.0);
        swings->outside = layers_beyond(loss, tilt, rule->c);
    }
}

/* What must be added to the computed E_l[G e^(-t theta)] at a height to bound it, whatever t >= 0 (A3). */
double decay_error(const Loss *loss, const Rule *rule, const Swings *swings, double tilt, double height)
{
    double shift = loss->shift, strip = INFINITY;
    double most = fmin(2.0 * PI / rule->step, fmin(1.57, widest_angle(loss) + 0.1 - shift * height) / shift);
    for (double outer = most; outer > 0.05 * most; outer *= 0.65) {
        double swing = falls(loss) ? log_swing(&swings->inside, tilt, 0.0, shift * (height + outer)) : 0.0;
        strip = fmin(strip, log_strip_error(outer, 0.5 * outer * outer + swing, rule->step));
    }
    double error = exp(fmin(strip, 50.0)) + rule->error;
    if (falls(loss)) {
        error += rule->error * exp(fmin(log_swing(&swings->inside, tilt, 0.0, shift * height), 600.0));
        error += exp(fmin(log_swing(&swings->outside, tilt, 0.0, shift * height), 600.0));
    }
    return error;
}
