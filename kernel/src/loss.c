/* The subsampled Gaussian loss of one step, and that of a mixture of Gaussian laws (certificate, A2 and A10).
 *
 *     r(x) = 1 - q + q e^y,  y = s x - s^2/2,  p = q e^y/r = d log r/dy,   or
 *     r(x) = sum w_k e^(y_k),  y_k = s_k x - s_k^2/2,  p = (log r)'/s with s the largest s_k. */
#include "loss.h"

Loss loss_of(double rate, double shift, int density, int right, int left)
{
    return (Loss){NULL, rate, shift, log(rate) - log1p(-rate), density, right, left, INFINITY, false};
}

static double argument(double shift, double x)
{
    return shift * (x - 0.5 * shift);
}

double log_argument(const Loss *loss, double x)
{
    return argument(loss->shift, x);
}

/* Set the share of each component in r(x); return log r(x), and bound its error, by the sum of positive terms (A10). */
static double set_shares(const Mixture *all, double x, double *share, double *error)
{
    double top = -INFINITY, total = 0.0, sizes = 0.0;
    for (int k = 0; k < all->size; k++) {
        share[k] = all->log_weight[k] + argument(all->shift[k], x);
        top = fmax(top, share[k]);
    }
    for (int k = 0; k < all->size; k++)
        total += share[k] = exp(share[k] - top);
    for (int k = 0; k < all->size; k++) {
        share[k] /= total;
        if (share[k] > 0.0)
            sizes += share[k] * (fabs(all->log_weight[k]) + fabs(argument(all->shift[k], x)));
    }
    double ratio = top + log(total);
    *error = UNIT * (8.0 * sizes + 2.0 * fabs(top) + 8.0 * fabs(ratio) + all->size + 32.0);
    return ratio;
}

/* Return log r(x) of a mixture and bound its error: by log(1 + sum w (e^y - 1)) unless its terms cancel (A10). */
static double mixture_ratio(const Mixture *all, double x, double *error)
{
    double change = 0.0, sizes = 0.0, moved = 0.0, share[MOST_COMPONENTS];
    if (argument(all->shift[all->size - 1], x) <= LARGEST)
        for (int k = 0; k < all->size; k++) {
            double y = argument(all->shift[k], x), term = all->weight[k] * expm1(y);
            change += term;
            sizes += fabs(term);
            moved += (all->weight[k] + term) * fabs(y);
        }
    else
        sizes = INFINITY;
    if (!(sizes <= 1.0 + change))
        return set_shares(all, x, share, error);
    double ratio = log1p(change);
    *error = UNIT * (1.01 * ((all->size + 12.0) * sizes + 4.0 * fabs(moved)) / (1.0 + change) + 8.0 * fabs(ratio));
    return ratio;
}

double response(const Loss *loss, double x)
{
    if (loss->mixture) {
        double share[MOST_COMPONENTS], error, mean = 0.0;
        set_shares(loss->mixture, x, share, &error);
        for (int k = 0; k < loss->mixture->size; k++)
            mean += share[k] * (loss->mixture->shift[k] / loss->shift);
        return fmin(mean, 1.0);
    }
    return 1.0 / (1.0 + exp(-(loss->log_odds + log_argument(loss, x))));
}

double log_ratio(const Loss *loss, double x)
{
    double y = log_argument(loss, x), q = loss->rate, error;
    if (loss->mixture)
        return mixture_ratio(loss->mixture, x, &error);
    if (q > 0.5) {
        double rest = 1.0 - q;
        return y < -300.0 ? log(rest) + log1p(q / rest * exp(y)) : y + log1p(rest * expm1(-y));
    }
    return y > 300.0 ? y + log(q) + log1p((1.0 - q) / q * exp(-y)) : log1p(q * expm1(y));
}

double ratio_error(const Loss *loss, double x, double ratio)
{
    if (loss->mixture) {
        double error;
        mixture_ratio(loss->mixture, x, &error);
        return error;
    }
    double y = fabs(log_argument(loss, x)) + loss->shift * fabs(x);
    if (loss->rate > 0.5)
        return 24 * UNIT * y;
    return UNIT * (16.0 * fabs(ratio) + 8.0 * response(loss, x) * y);
}

/* Return r(x + iy)/r(x) - 1 of a mixture. */
Complex turned(const Loss *loss, double x, double height)
{
    double share[MOST_COMPONENTS], error;
    Complex sum = {0.0, 0.0};
    set_shares(loss->mixture, x, share, &error);
    for (int k = 0; k < loss->mixture->size; k++) {
        double tangent = tan(0.5 * loss->mixture->shift[k] * height), shrunk = 2.0 / (1.0 + tangent * tangent);
        sum.real -= share[k] * tangent * tangent * shrunk;
        sum.imaginary += share[k] * tangent * shrunk;
    }
    return sum;
}

/* Whether some factor r(x)^(c1), r(-x)^(c2) has a negative exponent at positive tilts. */
bool falls(const Loss *loss)
{
    return loss->right < 0.0 || loss->left < 0.0;
}

/* Return a tau that rises with p such that |arg r(x + iy)| <= s y tau (A2; of a mixture A10). */
double upper_turn(const Loss *loss, double response)
{
    if (loss->mixture)
        return response < 1.0 / 3.0 ? response / (1.0 - 2.0 * response) * (1.0 + 1e-9) : 1.0;
    return response <= 0.5 ? response : 1.0;
}

/* Return a sigma such that |r(x + iy)|^2 >= r(x)^2 (1 - 4 sigma sin^2(s y/2)) (A2; of a mixture A10). */
double upper_spread(const Loss *loss, double response)
{
    if (loss->mixture)
        return response < 0.25 ? response : 0.25;
    return response <= 0.5 ? response * (1.0 - response) : 0.25;
}

/* Return the largest angle s y at which the bounds above are proved. */
double widest_angle(const Loss *loss)
{
    return loss->mixture ? 2.2 : 3.0;
}

/* Return the largest loss of one step, rounded up; infinite if there is none. */
double largest_loss(const Loss *loss)
{
    if (loss->right > 0.0)
        return INFINITY;
    if (!loss->mixture)
        return -log1p(-loss->rate) * (1.0 + 4 * UNIT);
    const Mixture *all = loss->mixture;
    double rest = 0.0;
    for (int k = 1; k < all->size; k++)
        rest += all->weight[k];
    if (all->shift[0] > 0.0)
        return INFINITY;
    double most = rest <= 0.5 ? -log1p(-rest) : -all->log_weight[0];
    return most * (1.0 + UNIT * (4.0 * all->size + 16.0));
}

/* log of a bound of Phi(-x), x >= 0: the Mills ratio is at most 2/(x + sqrt(x^2 + 8/pi)) (Pollak 1956). It is too high
 * by less than a hundredth; its own rounding is below 1e-12 of 1 + x^2. */
double upper_log_tail(double x)
{
    double mills = 2.0 / (x + sqrt(x * x + 8.0 / PI));
    return (log(mills) - 0.5 * x * x - LOG_SQRT_2PI) + 1e-12 + 4 * UNIT * x * x;
}

/* log of the sum of exponentials, but for what is below e^-40 of the largest. */
double log_sum(const double *logs, int size)
{
    double top = -INFINITY, total = 0.0;
    for (int k = 0; k < size; k++)
        top = fmax(top, logs[k]);
    if (!isfinite(top))
        return top;
    for (int k = 0; k < size; k++)
        total += logs[k] > top - 40.0 ? exp(logs[k] - top) : 0.0;
    return top + log(total);
}

/* gamma_n = nu/(1 - nu), with ten more units for each term. */
double summation_error(int terms)
{
    double product = (terms + 10) * UNIT;
    return product / (1.0 - product);
}
