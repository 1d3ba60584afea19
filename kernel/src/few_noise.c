/* Sums over the noise of a short run, on a line off the axis: transforms of large and of small losses (A9). */
#include "few_plan.h"
#include "loss.h"
#include "rule.h"

#include <stdlib.h>

/* log r at a node off the axis, and what it errs by (A9). */
static Complex complex_ratio(const Loss *loss, double x, double height, double *error)
{
    double y = log_argument(loss, x), angle = loss->shift * height, half = sin(0.5 * angle), grown = exp(y);
    double real = loss->rate * (expm1(y) - 2.0 * grown * half * half), imaginary = loss->rate * grown * sin(angle);
    double modulus = hypot(1.0 + real, imaginary), square = 2.0 * real + real * real + imaginary * imaginary;
    Complex found = {square < -0.5 || square > 1.0 ? log(modulus) : 0.5 * log1p(square), atan2(imaginary, 1.0 + real)};
    double size = fabs(y) + loss->shift * fabs(x) + angle;
    *error = UNIT * loss->rate * (16.0 * fabs(expm1(y)) + grown * (32.0 * sin(angle) + 8.0 * size)) / modulus;
    *error += 24 * UNIT * (hypot(real, imaginary) / modulus + hypot(found.real, found.imaginary));
    return found;
}

/* A logarithm plus that of 1/(1 + e^-g), without overflow: e^g/(1 + e^g) where Re g < 0. */
typedef struct {
    Complex exponent, divisor;
    double size; /* of the factor */
} Factor;

/* The weight 1/(1 + e^-sinh(zeta)) at x + i height for the side 1, one less that for the side -1. Beyond |zeta| = 40 it is 0 or 1
 * but for exp(-10^16), and is taken there: sinh and cosh stay finite. */
static Factor factor_at(Weight weight, double x, double height, int side)
{
    double along = fmax(-40.0, fmin((x - weight.centre) / weight.scale, 40.0)), across = height / weight.scale;
    double risen = side * sinh(along) * cos(across), turned = side * cosh(along) * sin(across);
    Complex below = exponential(-fabs(risen), risen < 0.0 ? turned : -turned);
    Factor factor = {.divisor = {1.0 + below.real, below.imaginary}};
    if (risen < 0.0)
        factor.exponent = (Complex){risen, turned};
    factor.size = exp(factor.exponent.real) / hypot(factor.divisor.real, factor.divisor.imaginary);
    return factor;
}

/* e^exponent times factors. */
static Complex weighted(Complex exponent, const Factor *factors, int size)
{
    for (int k = 0; k < size; k++) {
        exponent.real += factors[k].exponent.real;
        exponent.imaginary += factors[k].exponent.imaginary;
    }
    Complex value = exponential(exponent.real, exponent.imaginary);
    for (int k = 0; k < size; k++) {
        double square = factors[k].divisor.real * factors[k].divisor.real + factors[k].divisor.imaginary * factors[k].divisor.imaginary;
        value = times(value, (Complex){factors[k].divisor.real / square, -factors[k].divisor.imaginary / square});
    }
    return value;
}

/* Return the relative error of a weight, of which the other side has a size: an error of sinh moves it by so much of that. */
static double weight_error(Weight weight, double x, double other)
{
    double along = fabs((x - weight.centre) / weight.scale);
    return 32 * UNIT * (1.0 + (other > 0.0 ? cosh(fmin(along, 40.0)) * (1.0 + along) * other : 0.0));
}

/* Set one node, and add to masses at the tilts 0 and -1 and to errors. */
static void set_node(const Plan *plan, const Loss *loss, double x, int k, Noise *noise)
{
    double height = noise->height, error, power = 1.0 + plan->tilt;
    bool split = plan->large.scale > 0.0;
    Complex ratio = complex_ratio(loss, x, height, &error);
    Complex density = {-0.5 * (x - height) * (x + height) - LOG_SQRT_2PI + log(noise->step), -x * height};
    Complex tilted = {density.real + power * ratio.real, density.imaginary + power * ratio.imaginary};
    Factor near = factor_at(plan->far, x, height, -1), large[2] = {near}, small[2] = {near};
    double large_error = weight_error(plan->far, x, factor_at(plan->far, x, height, 1).size), small_error = large_error;
    Complex of_large = weighted(tilted, &near, 1), of_small = {0.0, 0.0};
    if (split) {
        large[1] = factor_at(plan->large, x, height, 1);
        small[1] = factor_at(plan->large, x, height, -1);
        large_error += weight_error(plan->large, x, small[1].size);
        small_error += weight_error(plan->large, x, large[1].size);
        of_large = weighted(tilted, large, 2);
        of_small = weighted(tilted, small, 2);
    }
    set(noise->loss, k, ratio);
    set(noise->large, k, of_large);
    set(noise->small, k, of_small);
    double density_error = UNIT * (4.0 * x * x + 4.0 * height * height + 4.0 * fabs(x * height) + 64.0);
    double sizes = hypot(ratio.real, ratio.imaginary), of_ratio = error + 8 * UNIT * sizes;
    double summing = (noise->size / LANES + 2 * LANES + 330) * UNIT; /* and what falls by NEGLIGIBLE nats */
    double turning = of_ratio * fmin(plan->last, 0.4 / fmax(ratio.imaginary, 1e-300));
    double relative = density_error + power * of_ratio + summing + turning;
    noise->large_error += 1.01 * hypot(of_large.real, of_large.imaginary) * (relative + large_error);
    noise->small_error += 1.01 * hypot(of_small.real, of_small.imaginary) * (relative + small_error);
    for (int m = 0; split && m < 2; m++) {
        double tilt = 1.0 - m;
        Complex exponent = {density.real + tilt * ratio.real, density.imaginary + tilt * ratio.imaginary};
        Complex mass = weighted(exponent, &large[1], 1);
        double mass_error = density_error + large_error + tilt * of_ratio + (noise->size + 64) * UNIT;
        noise->mass[m] += mass.real;
        noise->mass_error[m] += 1.01 * hypot(mass.real, mass.imaginary) * mass_error;
    }
}

/* Find the nodes that count: others weigh e^-60 at most beside the heaviest. */
static void set_ranges(Noise *noise)
{
    double least = exp(-60.0), most_large = 0.0, most_small = 0.0;
    for (int k = 0; k < noise->size; k++) {
        most_large = fmax(most_large, hypot(noise->large.real[k], noise->large.imaginary[k]));
        most_small = fmax(most_small, hypot(noise->small.real[k], noise->small.imaginary[k]));
    }
    noise->active = noise->last_small = noise->size;
    while (noise->last_small > 0 &&
           !(hypot(noise->small.real[noise->last_small - 1], noise->small.imaginary[noise->last_small - 1]) > least * most_small))
        noise->last_small--;
    while (noise->first_large < noise->size &&
           !(hypot(noise->large.real[noise->first_large], noise->large.imaginary[noise->first_large]) > least * most_large))
        noise->first_large++;
    noise->first_large -= noise->first_large % LANES;
    noise->large_error += noise->size * least * most_large;
    noise->small_error += noise->size * least * most_small;
}

/* Return a bound of what a sum of phi r^(1 + l) w (1 - v) over the nodes errs by, except for rounding: of the quadrature, of nodes in the
 * cells from `end` on, CELL/step + 1 in each at most, and of nodes before the first, where r <= 1. */
static double sum_error(const Plan *plan, Cells *cells, double tilt, const Noise *noise, int end)
{
    double height = noise->height, growth = exp(2.0 * height * height + 2.0 * weight_growth()), beyond = 0.0;
    set_few_weights(plan, cells);
    double log_both = log(2.0) + log_integral(plan, cells, tilt, 2.0 * height);
    double quadrature = 1.01 * exp(log_both - 2.0 * PI * height / noise->step);
    double before = growth * exp(upper_log_tail(-FIRST_CELL - noise->step));
    if (plan->large.scale > 0.0)
        before *= exp(log_weight(cells->large_steep[0], plan->large.scale, 2.0 * height));
    for (int k = end; k < CELLS; k++)
        beyond += exp(cells->log_share[k]);
    return quadrature + before + 3.0 * growth * (1.0 + noise->step / CELL) * beyond;
}

/* Lay the noise, with the errors of its sums. */
Status set_noise(const Plan *plan, Cells *cells, double spacing, double most_nodes, Noise *noise)
{
    const Loss *loss = cells->loss;
    double height = 0.5 * highest(plan, loss), nats = QUADRATURE_NATS + 3.0 + 2.0 * height * height + 2.0 * weight_growth();
    double top = -INFINITY;
    int end = CELLS;
    noise->height = height;
    noise->step = exact_step(2.0 * PI * height / nats);
    set_few_weights(plan, cells);
    log_integral(plan, cells, plan->tilt, 2.0 * height);
    for (int k = 0; k < CELLS; k++)
        top = fmax(top, cells->log_share[k]);
    while (end > 1 && cells->log_share[end - 1] < top - 60.0)
        end--;
    if (!(loss->shift * (cell(end) + 1.0) < 300.0 && end < CELLS))
        return BEYOND_BUDGET;
    noise->first = (int)floor(FIRST_CELL / noise->step);
    noise->size = (int)ceil(cell(end) / noise->step) - noise->first + 1;
    if (!(noise->size <= fmin(most_nodes, MOST_NODES)))
        return BEYOND_BUDGET;
    int room = (noise->size + LANES - 1) / LANES * LANES;
    noise->room = calloc((size_t)room * 10, sizeof *noise->room);
    if (!noise->room)
        return NO_MEMORY;
    Complexes *all[] = {&noise->loss, &noise->large, &noise->small, &noise->turned, &noise->rotation};
    for (int k = 0; k < 5; k++)
        *all[k] = (Complexes){noise->room + 2 * k * room, noise->room + (2 * k + 1) * room};
    for (int k = 0; k < noise->size; k++)
        set_node(plan, loss, noise->step * (noise->first + k), k, noise);
    set_ranges(noise);
    for (int k = 0; k < noise->size; k++)
        set(noise->rotation, k, exponential(-spacing * noise->loss.imaginary[k], spacing * noise->loss.real[k]));
    noise->large_error += sum_error(plan, cells, plan->tilt, noise, end);
    Plan whole = *plan, unlimited = *plan;
    whole.large.scale = 0.0;
    unlimited.far.centre = 1e3; /* of masses nothing is left out */
    if (plan->large.scale > 0.0) {
        /* |1 - w| <= e^weight_growth */
        noise->small_error += exp(weight_growth()) * sum_error(&whole, cells, plan->tilt, noise, end);
        for (int m = 0; m < 2; m++)
            noise->mass_error[m] += sum_error(&unlimited, cells, -m, noise, end);
    } else
        noise->small_error = 0.0;
    return isfinite(noise->large_error + noise->small_error) ? DONE : BEYOND_BUDGET;
}

/* Sum weights times rotated phases over a range of nodes, whose beginning is a multiple of LANES; beyond its end are zeros. */
static inline Complex sum_range(Complexes weights, Complexes turned, int first, int last)
{
    double real[LANES] = {0.0}, imaginary[LANES] = {0.0};
    for (int k = first; k < last; k += LANES)
        for (int j = 0; j < LANES; j++) {
            real[j] += weights.real[k + j] * turned.real[k + j] - weights.imaginary[k + j] * turned.imaginary[k + j];
            imaginary[j] += weights.real[k + j] * turned.imaginary[k + j] + weights.imaginary[k + j] * turned.real[k + j];
        }
    Complex sum = {0.0, 0.0};
    for (int j = 0; j < LANES; j++) {
        sum.real += real[j];
        sum.imaginary += imaginary[j];
    }
    return sum;
}

/* Sum and rotate: the work of all. */
WIDER
static void sum_and_rotate(const Noise *noise, Complex *large, Complex *small)
{
    int active = noise->active;
    *large = sum_range(noise->large, noise->turned, noise->first_large, active);
    *small = sum_range(noise->small, noise->turned, 0, noise->last_small < active ? noise->last_small : active);
    double *restrict real = noise->turned.real, *restrict imaginary = noise->turned.imaginary;
    const double *restrict cosine = noise->rotation.real, *restrict sine = noise->rotation.imaginary;
    for (int k = 0; k < active; k++) {
        double moved = real[k] * cosine[k] - imaginary[k] * sine[k];
        imaginary[k] = real[k] * sine[k] + imaginary[k] * cosine[k];
        real[k] = moved;
    }
}

/* Begin rotations anew at a frequency, so that errors of products do not add up; nodes that have fallen by NEGLIGIBLE nats are
 * left out. Turns rise along the noise. */
static void renew(Noise *noise, double frequency)
{
    int before = noise->active;
    while (noise->active > 0 && frequency * noise->loss.imaginary[noise->active - 1] > NEGLIGIBLE)
        noise->active--;
    for (int k = 0; k < noise->active; k++)
        set(noise->turned, k, exponential(-frequency * noise->loss.imaginary[k], frequency * noise->loss.real[k]));
    for (int k = noise->active; k < before; k++)
        set(noise->turned, k, (Complex){0.0, 0.0});
}

/* Sum the transforms of large and of small losses at the frequency k times the spacing, for k = 0, 1, 2, ... */
void sum_noise(Noise *noise, int k, double spacing, Complex *large, Complex *small)
{
    if (k % (2 * LANES) == 0)
        renew(noise, spacing * k);
    sum_and_rotate(noise, large, small);
}

void forget_noise(Noise *noise)
{
    free(noise->room);
    noise->room = NULL;
}
