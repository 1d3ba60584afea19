/* Laplace losses in closed form (A7): M(z) is in proportion to cosh ws + sinh(ws)/2w at w = z + 1/2 = x + it. */
#include "laplace.h"
#include "powers.h"

TiltedLaplace tilted_laplace(double shift, double tilt)
{
    TiltedLaplace at = {.x = tilt + 0.5};
    double turn = at.x * shift, sine = sinh(fmin(turn, 1.0));
    at.tanh = tanh(turn);
    at.inner = at.tanh / (2.0 * at.x);
    double log_cosh = turn < 1.0 ? 0.5 * log1p(sine * sine) : turn + log1p(exp(-2.0 * turn)) - log(2.0);
    at.cumulant = log_cosh + (log1p(at.inner) - 0.5 * shift);
    double rest = (1.0 - at.tanh) * (1.0 + at.tanh);
    at.mean = shift * at.tanh + (shift * rest / (2.0 * at.x) - at.tanh / (2.0 * at.x * at.x)) / (1.0 + at.inner);
    return at;
}

/* Of K of one step, the rounding of x included, as 0 <= K' <= s. */
double laplace_cumulant_error(double shift, double x)
{
    return 32 * UNIT * shift * (1.0 + x);
}

/* K, K' and K'' of all Laplace losses, by derivatives of the closed form. */
void add_laplace_moments(const Composition *all, double tilt, Saddle *sum)
{
    for (int k = 0; k < all->laplace_kinds; k++) {
        double shift = all->laplace[k].shift, count = all->laplace[k].count;
        TiltedLaplace at = tilted_laplace(shift, tilt);
        double rest = (1.0 - at.tanh) * (1.0 + at.tanh), x = at.x;
        double second = -shift * shift * at.tanh * rest / x - shift * rest / (x * x) + at.tanh / (x * x * x);
        double slope = at.mean - shift * at.tanh;
        double variance = shift * shift * rest + second / (1.0 + at.inner) - slope * slope;
        sum->cumulant += count * at.cumulant;
        sum->mean += count * at.mean;
        sum->curvature += count * fmax(variance, 0.0);
    }
}

double upper_laplace_cumulant(const Composition *all, double tilt)
{
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < all->laplace_kinds; k++) {
        TiltedLaplace at = tilted_laplace(all->laplace[k].shift, tilt);
        double raised = all->laplace[k].count * (at.cumulant + laplace_cumulant_error(all->laplace[k].shift, at.x));
        sum += raised;
        size += fabs(raised);
    }
    return sum + UNIT * (all->laplace_kinds + 4.0) * size;
}

/* A bound of log |phi(t')| for all t' >= t. |cosh wv|^2 = cosh^2 xv - sin^2 tv falls with t up to pi/2s; from any t* on
 * |phi| is at most (1 + 1/2t*)/(1 + f). */
static double decay_of_one(double shift, double tilt, double frequency)
{
    double x = tilt + 0.5, turn = shift * x, inner = tanh(turn) / (2.0 * x), quarter = 0.5 * PI / shift;
    double bound = (1.0 + 0.5 / fmax(frequency, quarter)) / (1.0 + inner);
    if (frequency < quarter) {
        double sine = sin(fmin(shift * frequency, 0.5 * PI)) / cosh(fmin(turn, 350.0));
        double fallen = sine * sine / (1.0 + sqrt((1.0 - sine) * (1.0 + sine)));
        bound = fmax(bound, 1.0 - fallen / (1.0 + inner));
    }
    return log(fmin(bound * (1.0 + 32 * UNIT * (1.0 + turn)), 1.0));
}

/* The same of phi^T of all Laplace losses. */
double laplace_decay(const Composition *all, double tilt, double frequency)
{
    double sum = 0.0;
    for (int k = 0; k < all->laplace_kinds; k++)
        sum += all->laplace[k].count * decay_of_one(all->laplace[k].shift, tilt, frequency);
    return sum;
}

/* phi of one step at a frequency, in terms that are small where it is, with |error| <= (160 + 4xs) u ts; false where
 * that exceeds a half. */
bool laplace_polar(const TiltedLaplace *at, double shift, double frequency, Polar *one)
{
    double x = at->x, half = 0.5 * shift * frequency, sine = sin(half), cosine = cos(half);
    double fallen = 2.0 * sine * sine, turned = 2.0 * sine * cosine;
    double across = -x * at->tanh * fallen, along = x * turned - at->tanh * frequency;
    double scale = 1.0 / (2.0 * x * (x * x + frequency * frequency)), whole = 1.0 / (1.0 + at->inner);
    double real = ((across * x + along * frequency) * scale - fallen) * whole;
    double imaginary = ((along * x - across * frequency) * scale + at->tanh * turned) * whole;
    double error = UNIT * (160.0 + 4.0 * x * shift) * shift * frequency;
    *one = polar(real, imaginary, error, frequency * fabs(at->mean));
    return error <= 0.5;
}

/* The product over all kinds at one node; false where an error is too large. */
bool laplace_power(const Composition *all, double tilt, double frequency, double centre, Polar *power)
{
    double sizes = 0.0;
    *power = (Polar){0};
    for (int k = 0; k < all->laplace_kinds; k++) {
        Polar one;
        double shift = all->laplace[k].shift, count = all->laplace[k].count;
        TiltedLaplace at = tilted_laplace(shift, tilt);
        if (!laplace_polar(&at, shift, frequency, &one))
            return false;
        power->log_modulus += count * one.log_modulus;
        power->phase += count * one.phase;
        power->log_growth += count * one.log_growth;
        power->rounding += count * one.rounding;
        sizes += fabs(count * one.phase);
    }
    double kinds = all->laplace_kinds + 4.0;
    power->rounding += UNIT * (kinds * (sizes + fabs(power->log_modulus)) + 4.0 * fabs(centre) * frequency);
    power->phase -= centre * frequency;
    power->rounding *= 1.0 + 4 * UNIT * kinds;
    power->log_growth *= 1.0 + 4 * UNIT * kinds;
    return true;
}

/* K' and K of all Laplace losses at a tilt, and what K errs by. */
void laplace_sums(const Composition *all, double tilt, double *centre, double *cumulant, double *error)
{
    Sum centres = {0}, cumulants = {0};
    *error = 0.0;
    for (int k = 0; k < all->laplace_kinds; k++) {
        double shift = all->laplace[k].shift, count = all->laplace[k].count;
        TiltedLaplace at = tilted_laplace(shift, tilt);
        add_to(&centres, count * at.mean);
        add_to(&cumulants, count * at.cumulant);
        *error += count * (laplace_cumulant_error(shift, at.x) + 4 * UNIT * fabs(at.cumulant));
    }
    *centre = value_of(centres);
    *cumulant = value_of(cumulants);
}
