/* A run of Laplace losses of one kind, split by how many of them lie between the ends (A7, "A run of one kind").
 *
 * None and one are summed in closed form; the transform is that of what at least two add, in units of the whole law. */
#include "laplace_run.h"
#include "laplace.h"
#include "powers.h"

#include <stdlib.h>


/* log k! for k < size, within four units of itself and 64 of one: a product, then Stirling's series, whose next term is
 * below 1/(1680 k^7). */
static void set_log_factorials(double *log_factorial, int size)
{
    double product = 1.0;
    for (int k = 0; k < size; k++) {
        double n = k, inverse = 1.0 / fmax(n, 1.0), square = inverse * inverse;
        if (k <= 64) {
            product *= fmax(n, 1.0);
            log_factorial[k] = log(product);
        } else
            log_factorial[k] = (n + 0.5) * log(n) - n + LOG_SQRT_2PI +
                               inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
    }
}

/* Totals of T and of T - 1 atoms with their log masses, the latter T-fold. */
Status set_atoms(Composition *all)
{
    if (all->kinds || all->square > 0.0 || all->laplace_kinds != 1 || !(all->laplace[0].count <= MOST_NODES))
        return DONE;
    double shift = all->laplace[0].shift, count = all->laplace[0].count;
    int steps = (int)count;
    double *log_factorial = malloc(((size_t)steps + 1) * sizeof *log_factorial);
    for (int k = 0; k < 2; k++)
        all->atoms[k].log_mass = malloc(((size_t)steps + 1) * sizeof *log_factorial);
    if (!log_factorial || !all->atoms[0].log_mass || !all->atoms[1].log_mass) {
        free(log_factorial);
        return NO_MEMORY;
    }
    set_log_factorials(log_factorial, steps + 1);
    for (int k = 0; k < 2; k++) {
        Atoms *atoms = &all->atoms[k];
        int size = steps - k;
        atoms->shift = shift;
        atoms->steps = size;
        for (int falls = 0; falls <= size; falls++) {
            double log_choices = log_factorial[size] - log_factorial[falls] - log_factorial[size - falls];
            atoms->log_mass[falls] = log_choices - size * log(2.0) - falls * shift + (k ? log(count) : 0.0);
        }
    }
    free(log_factorial);
    all->split = true;
    return DONE;
}

/* Of what at least two losses between the ends add: by the sum over their number, |a| <= 1/(1 + f) and |c| at most that
 * over 2t, or by all three terms. */
double run_decay(const Laplace *run, double tilt, double frequency, double whole)
{
    double x = tilt + 0.5, log_atoms = -run->count * log1p(tanh(x * run->shift) / (2.0 * x));
    double mean = 0.5 * run->count / frequency;
    double several = log_atoms + fmin(2.0 * log(mean) - log(2.0), 0.0) + mean, others = log_atoms + log1p(mean);
    double apart = fmax(whole, others) + log1p(exp(-fabs(whole - others)));
    double slack = 64 * UNIT * (1.0 + run->count * run->shift * (1.0 + x) + fabs(log_atoms));
    return fmin(fmin(several, apart) + slack, 0.0);
}

/* phi^T less the terms without, and with one, loss between the ends. */
bool run_power(const Laplace *run, double tilt, double frequency, double centre, Polar *power)
{
    Polar one;
    double shift = run->shift, count = run->count;
    TiltedLaplace at = tilted_laplace(shift, tilt);
    if (!laplace_polar(&at, shift, frequency, &one))
        return false;
    double x = at.x, log_scale = -log1p(at.inner), scale = exp(log_scale), turn = shift * frequency;
    double sine = sin(turn), cosine = cos(turn), twice = 2.0 * (x * x + frequency * frequency);
    double between_real = (at.tanh * cosine * x + sine * frequency) / twice;
    double between_imaginary = (sine * x - at.tanh * cosine * frequency) / twice;
    double size = fmax(hypot(cosine, at.tanh * sine), DBL_MIN), angle = atan2(at.tanh * sine, cosine);
    double log_atoms = log(size) + log_scale, inner = exp((count - 1.0) * log_atoms), turned = (count - 1.0) * angle;
    double single = inner * count * scale, edge = inner * size * scale;
    double whole = exp(count * one.log_modulus), phase = count * one.phase;
    double real = whole * cos(phase) - edge * cos(count * angle) -
                  single * (cos(turned) * between_real - sin(turned) * between_imaginary);
    double imaginary = whole * sin(phase) - edge * sin(count * angle) -
                       single * (cos(turned) * between_imaginary + sin(turned) * between_real);
    /* Of each factor, the error relative to its modulus, at least |tanh| of what is summed. */
    double off = UNIT * (32.0 + (4.0 + 4.0 * x * shift) * (1.0 + turn));
    double grown = count * (one.log_growth + one.rounding) + UNIT * (8.0 * count * fabs(one.phase) + 64.0);
    double spread = count * (log1p(off / size) + off);
    spread += UNIT * (8.0 * count * (fabs(angle) + fabs(log_atoms)) + 64.0);
    grown = expm1(fmin(grown, LARGEST));
    spread = expm1(fmin(spread, LARGEST));
    double parts = edge + single * hypot(between_real, between_imaginary);
    double error = whole * grown + parts * spread + single * (1.0 + spread) * off;
    error += UNIT * (4.0 * fabs(centre) * frequency + 64.0) * (whole + parts);
    double computed = hypot(real, imaginary), modulus = fmax(computed, fmax(error, DBL_MIN));
    power->log_modulus = log(modulus);
    power->phase = atan2(imaginary, real) - centre * frequency;
    power->log_growth = log1p(computed < modulus ? 3.0 : error / modulus);
    power->rounding = 4 * UNIT * fabs(power->phase);
    return true;
}

/* How many atoms of a run lie above a total, and one more: totals fall. */
static int atoms_above(const Atoms *atoms, double total)
{
    double above = ceil(0.5 * (atoms->steps - total / atoms->shift)) + 1.0;
    return (int)fmin(fmax(above, 0.0), atoms->steps) + 1;
}

static double top_of(const Atoms *atoms, int kept)
{
    double top = -INFINITY;
    for (int k = 0; k < kept; k++)
        top = fmax(top, atoms->log_mass[k]);
    return top;
}

/* What one loss between the ends adds to delta beside atoms of a total `near` below epsilon. */
static double one_between(double shift, double near)
{
    if (near >= -shift) {
        double edge = expm1(0.5 * fmin(near - shift, 0.0));
        return 0.5 * edge * edge;
    }
    return 0.5 * expm1(-shift) * expm1(near);
}

static double sum_at(const Composition *all, double epsilon, double top, const int *kept, double *left_out)
{
    double sum = 0.0;
    *left_out = 0.0;
    for (int which = 0; which < 2; which++) {
        const Atoms *atoms = &all->atoms[which];
        for (int k = 0; k < kept[which]; k++) {
            double below = atoms->log_mass[k] - top, near = epsilon - atoms->shift * (atoms->steps - 2.0 * k);
            if (below < -NEGLIGIBLE)
                *left_out += exp(-NEGLIGIBLE);
            else
                sum += exp(below) * (which ? one_between(atoms->shift, near) : -expm1(fmin(near, 0.0)));
        }
    }
    return sum;
}

static void set_derivatives(const Composition *all, double epsilon, double top, const int *kept, Beside *found)
{
    for (int which = 0; which < 2; which++) {
        const Atoms *atoms = &all->atoms[which];
        double shift = atoms->shift;
        for (int k = 0; k < kept[which]; k++) {
            double below = atoms->log_mass[k] - top, near = epsilon - shift * (atoms->steps - 2.0 * k);
            double mass = below < -NEGLIGIBLE ? 0.0 : exp(below), first, second;
            if (!which)
                first = second = near < 0.0 ? -exp(near) : 0.0;
            else if (near >= -shift) {
                double half = exp(0.5 * fmin(near - shift, 0.0));
                first = -0.5 * (1.0 - half) * half;
                second = near < shift ? -0.25 * half * (1.0 - 2.0 * half) : 0.0;
            } else
                first = second = 0.5 * expm1(-shift) * exp(near);
            found->slope += mass * first;
            found->curvature += mass * second;
        }
    }
}

/* What runs with at most one loss between the ends add to delta(epsilon). Roundings of totals move epsilon, those of
 * masses the sum. */
Beside beside(const Composition *all, double epsilon)
{
    double shift = all->laplace[0].shift, count = all->laplace[0].count, left_out, more;
    double moved = 8 * UNIT * (count * shift + fabs(epsilon));
    int kept[2] = {atoms_above(&all->atoms[0], epsilon - moved), atoms_above(&all->atoms[1], epsilon - shift - moved)};
    double top = fmax(top_of(&all->atoms[0], kept[0]), top_of(&all->atoms[1], kept[1]));
    if (top == -INFINITY)
        return (Beside){0};
    double log_factorial = count * fmax(log(count), 1.0);
    double relative = 32 * UNIT * (log_factorial + count * (shift + 1.0) + 64.0);
    Beside found = {.log_scale = top};
    found.lower = sum_at(all, epsilon + moved, top, kept, &left_out) * (1.0 - relative);
    found.upper = (sum_at(all, epsilon - moved, top, kept, &more) + fmax(left_out, more)) * (1.0 + relative);
    set_derivatives(all, epsilon, top, kept, &found);
    return found;
}
