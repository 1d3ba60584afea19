/* The subsampled Gaussian loss of one step.
 *
 *     r(x) = 1 - q + q e^y,  y = s x - s^2/2,  p = q e^y/r = d log r/dy. */
#include "loss.h"

Loss loss_of(double rate, double shift, int density, int right, int left)
{
    return (Loss){rate, shift, log(rate) - log1p(-rate), density, right, left, INFINITY};
}

double log_argument(const Loss *loss, double x)
{
    return loss->shift * (x - 0.5 * loss->shift);
}

double response(const Loss *loss, double x)
{
    return 1.0 / (1.0 + exp(-(loss->log_odds + log_argument(loss, x))));
}

double log_ratio(const Loss *loss, double x)
{
    double y = log_argument(loss, x), q = loss->rate;
    if (q > 0.5) {
        double rest = 1.0 - q;
        return y < -300.0 ? log(rest) + log1p(q / rest * exp(y)) : y + log1p(rest * expm1(-y));
    }
    return y > 300.0 ? y + log(q) + log1p((1.0 - q) / q * exp(-y)) : log1p(q * expm1(y));
}

double ratio_error(const Loss *loss, double x, double ratio)
{
    double y = fabs(log_argument(loss, x)) + loss->shift * fabs(x);
    if (loss->rate > 0.5)
        return 24 * UNIT * y;
    return UNIT * (16.0 * fabs(ratio) + 8.0 * response(loss, x) * y);
}

/* Whether some factor r(x)^(c1), r(-x)^(c2) has a negative exponent at positive tilts. */
bool falls(const Loss *loss)
{
    return loss->right < 0.0 || loss->left < 0.0;
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
