/* The trapezoidal rule over the whole line of the noise, certified: transforms/sampled_gaussian.py, `whole_line`. */
#include "kernel.h"

#define QUADRATURE_NATS 31.0
#define DECAY_NATS 40.0
#define LAYERS 36

static const double HEIGHT[HEIGHTS] = {1.0, 0.8, 0.62, 0.48, 0.36, 0.27, 0.2, 0.14, 0.09, 0.05, 0.02, 0.007};
static const double STRIP[STRIPS] = {1.0, 0.7, 0.45, 0.3, 0.2, 0.1, 0.05};
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

/* rho(x) rho(-x) <= 1. */
static bool balanced(const Loss *loss)
{
    return loss->log_odds <= 0.5 * loss->shift * loss->shift * (1.0 - 1e-12);
}

/* The layers beyond mode + beyond, for `log_swing`: log of their mass, and bounds of turn and spread there. */
typedef struct {
    double log_mass[LAYERS], turn[LAYERS], spread[LAYERS];
} Layers;

static Layers layers_beyond(const Loss *loss, double least, double beyond)
{
    Layers layers;
    double low, high;
    mode(loss, least, &low, &high);
    for (int k = 0; k < LAYERS; k++) {
        double p = k + 1 < LAYERS ? response(loss, high + beyond + LAYER[k + 1]) : 1.0;
        layers.turn[k] = p <= 0.5 ? p : 1.0;
        layers.spread[k] = p <= 0.5 ? p * (1.0 - p) : 0.25;
        layers.log_mass[k] = fmin(LOG_2 + upper_log_tail(beyond + LAYER[k]), 0.0);
    }
    return layers;
}

/* log E_l[e^(t |arg r|) (|r(x + iy)|/r(x))^-l; x beyond the mode] for the factor with a negative exponent. */
static double log_swing(const Layers *layers, double most, double frequency, double angle)
{
    double logs[LAYERS], sine = sin(0.5 * angle), square = sine * sine;
    for (int k = 0; k < LAYERS; k++) {
        double size = log1p(-4.0 * layers->spread[k] * square);
        logs[k] = frequency * angle * layers->turn[k] - 0.5 * most * size + layers->log_mass[k];
    }
    return log_sum(logs, LAYERS) + 1e-9;
}

/* log of 2E/(e^(2 pi a/h) - 1), E = e^growth. */
static double log_strip_error(double height, double growth, double step)
{
    double exponent = 2.0 * PI * height / step;
    return LOG_2 + growth - exponent - log(-expm1(-exponent)) + 1e-9;
}

Status whole_line(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule)
{
    double nats = QUADRATURE_NATS + log(count) + (frequency == 0.0 ? DECAY_NATS / count : 0.0);
    double tallest = fmin(12.0, (frequency == 0.0 ? 1.5 : 3.0) / loss->shift);
    double growth[HEIGHTS], widest = 0.0, strip = INFINITY, low, high, unused;
    bool rising = loss->right > 0.0;
    double falling_frequency = rising && balanced(loss) ? 0.0 : frequency;
    Layers layers;
    if (falls(loss))
        layers = layers_beyond(loss, tilts.least, 0.0);
    for (int k = 0; k < HEIGHTS; k++) {
        double height = tallest * HEIGHT[k], angle = loss->shift * height;
        double swing = falls(loss) ? log_swing(&layers, tilts.most, falling_frequency, angle) : 0.0;
        growth[k] = 0.5 * height * height + (rising ? frequency * angle : 0.0) + swing;
        double nats_there = growth[k] + nats + LOG_2;
        double soft = fmax(nats_there, 0.0) + log1p(exp(-fabs(nats_there)));
        widest = fmax(widest, 2.0 * PI * height / soft);
    }
    double step = widest > 1e-300 ? exact_step(widest) : 0.0;
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
        strip = fmin(strip, log_strip_error(tallest * HEIGHT[k], growth[k], step));
    rule->step = step;
    rule->c = c;
    rule->first = (long long)floor(low / step);
    rule->size = (int)((long long)ceil(high / step) - rule->first + 1);
    rule->error = exp(strip) + 3.0 * exp(upper_log_tail(c)) * (1.0 + 1e-12);
    return isfinite(rule->error) ? FOUND : BEYOND_BUDGET;
}

/* What must be added to the computed E_l[G e^(-t theta)] at a height to bound it, whatever t >= 0 (A3). */
double decay_error(const Loss *loss, const Rule *rule, double tilt, double height)
{
    double shift = loss->shift, strip = INFINITY;
    double most = fmin(2.0 * PI / rule->step, fmin(1.57, 3.1 - shift * height) / shift);
    Layers layers;
    if (falls(loss))
        layers = layers_beyond(loss, tilt, 0.0);
    for (int k = 0; k < STRIPS; k++) {
        double outer = most * STRIP[k];
        double swing = falls(loss) ? log_swing(&layers, tilt, 0.0, shift * (height + outer)) : 0.0;
        strip = fmin(strip, log_strip_error(outer, 0.5 * outer * outer + swing, rule->step));
    }
    double error = exp(fmin(strip, 50.0)) + rule->error;
    if (falls(loss)) {
        Layers outside = layers_beyond(loss, tilt, rule->c);
        error += rule->error * exp(fmin(log_swing(&layers, tilt, 0.0, shift * height), 600.0));
        error += exp(fmin(log_swing(&outside, tilt, 0.0, shift * height), 600.0));
    }
    return error;
}
