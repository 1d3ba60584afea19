/* Powers of the parts' transforms on a line, their product, and what it errs by (A4). */
#include "powers.h"
#include "loss.h"

#include <stdlib.h>
#include <string.h>

void add_to(Sum *sum, double value)
{
    double total = sum->sum + value;
    sum->rest += fabs(sum->sum) >= fabs(value) ? (sum->sum - total) + value : (value - total) + sum->sum;
    sum->sum = total;
}

double value_of(Sum sum)
{
    return sum.sum + sum.rest;
}

Status make_powers(int nodes, Powers *powers)
{
    memset(powers, 0, sizeof *powers);
    powers->nodes = nodes;
    powers->log_modulus = calloc((size_t)nodes * 5, sizeof *powers->log_modulus);
    if (!powers->log_modulus)
        return NO_MEMORY;
    powers->phase = powers->log_modulus + nodes;
    powers->log_growth = powers->phase + nodes;
    powers->rounding = powers->log_growth + nodes;
    powers->moved = powers->rounding + nodes;
    return DONE;
}

/* phi of one step, phi - 1 = real + i imaginary within `error`; `turned` is |K' t|, by which a phase is known. */
Polar polar(double real, double imaginary, double error, double turned)
{
    double square = real * real + imaginary * imaginary, less_one = 2.0 * real + square;
    double computed = hypot(1.0 + real, imaginary), modulus = fmax(computed, fmax(error, DBL_MIN));
    Polar found = {0};
    found.log_modulus = less_one < -0.5 ? log(modulus) : 0.5 * log1p(less_one);
    found.phase = atan2(imaginary, 1.0 + real);
    /* Where |phi| < eta the value of modulus eta that stands for it is off by up to (4 eta)^T - eta^T. */
    found.log_growth = log1p(computed < modulus ? 3.0 : error / modulus);
    found.rounding = UNIT * (6.0 * (2.0 * fabs(real) + square) + 6.0 * fabs(found.log_modulus) +
                             6.0 * fabs(found.phase) + 4.0 * turned);
    return found;
}

/* One part's phi^T at the node k. */
void add_power(Powers *powers, int k, Polar power)
{
    powers->log_modulus[k] += power.log_modulus;
    powers->phase[k] += power.phase;
    powers->log_growth[k] += power.log_growth;
    powers->rounding[k] += power.rounding;
    if (powers->parts)
        powers->moved[k] += fabs(powers->log_modulus[k]) + fabs(powers->phase[k]);
}

/* The rest of a part, after its powers. */
void add_part(Powers *powers, double centre, double cumulant, double cumulant_error)
{
    add_to(&powers->centre, centre);
    add_to(&powers->cumulant, cumulant);
    powers->cumulant_size += fabs(cumulant);
    powers->cumulant_error += cumulant_error;
    powers->parts++;
}

/* The terms of the sum over the line, and what they err by: the product, and the poles z (1 + z). */
Status set_terms(Powers *powers, Line *line)
{
    double tilt = line->place.tilt, scale = line->spacing / PI, grown = 0.0, moved = 0.0, weighted = 0.0, size_of_all = 0.0;
    double summing = summation_error(line->nodes), many = 1.0 + 2 * UNIT * powers->parts;
    line->real = malloc((size_t)line->nodes * 2 * sizeof *line->real);
    if (!line->real)
        return NO_MEMORY;
    line->imaginary = line->real + line->nodes;
    for (int k = 0; k < line->nodes; k++) {
        double frequency = line->spacing * k, log_modulus = powers->log_modulus[k], phase = powers->phase[k];
        double growth = powers->log_growth[k] * many, rounding = (powers->rounding[k] + UNIT * powers->moved[k]) * many;
        rounding += UNIT * (4.0 * fabs(log_modulus) + 4.0 * fabs(phase) + 48.0); /* and two rotations in sums of terms */
        double across = tilt * (1.0 + tilt) - frequency * frequency, along = frequency * (1.0 + 2.0 * tilt);
        double size = scale * exp(log_modulus) / (across * across + along * along) * (k ? 1.0 : 0.5);
        double cosine = cos(phase), sine = sin(phase);
        line->real[k] = size * (cosine * across + sine * along);
        line->imaginary[k] = size * (sine * across - cosine * along);
        double term = hypot(line->real[k], line->imaginary[k]);
        if (growth < 1.0)
            grown += term * expm1(growth);
        else
            grown += exp(fmin(log_modulus + growth, LARGEST)) * scale / (frequency * frequency + tilt * tilt);
        moved += term * (expm1(fmin(rounding, LARGEST)) + summing);
        weighted += term * frequency;
        size_of_all += term;
    }
    line->fixed_error = 1.01 * (line->truncation + grown + moved);
    line->weighted_frequency = weighted;
    line->size = size_of_all;
    line->centre = value_of(powers->centre);
    line->cumulant = value_of(powers->cumulant);
    line->cumulant_size = powers->cumulant_size;
    line->cumulant_error = powers->cumulant_error * many;
    return isfinite(line->fixed_error) && isfinite(line->cumulant_error) ? DONE : NOT_POSITIVE;
}
