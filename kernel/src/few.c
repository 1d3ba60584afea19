/* Short runs of rare steps, to remove: a line for the sums in which some loss is large, on noise moved off the axis (A9). */
#include "few.h"
#include "composition.h"
#include "few_plan.h"
#include "loss.h"
#include "rule.h"
#include "watch.h"

#include <stdlib.h>

/* (A + C)^T - A^T = C (M^(T-1) + M^(T-2) A + ... + A^(T-1)). */
static Complex power_difference(Complex small, Complex large, int count)
{
    Complex whole = {small.real + large.real, small.imaginary + large.imaginary}, sum = {1.0, 0.0}, power = {1.0, 0.0};
    for (int k = 1; k < count; k++) {
        power = times(power, small);
        sum = times(sum, whole);
        sum.real += power.real;
        sum.imaginary += power.imaginary;
    }
    return times(large, sum);
}

/* Set the terms of a line whose spacing and nodes are set. */
static Status set_few_terms(const Composition *all, const Plan *plan, Noise *noise, Line *line)
{
    double tilt = plan->tilt, spacing = line->spacing, scale = spacing / PI, count = all->steps[0].count;
    double moved = 0.0, weighted = 0.0, poles = 0.0, most = 0.0, most_large = 0.0, square = 0.0;
    line->real = malloc((size_t)line->nodes * 2 * sizeof *line->real);
    if (!line->real)
        return NO_MEMORY;
    line->imaginary = line->real + line->nodes;
    for (int k = 0; k < line->nodes; k++) {
        Complex large, small;
        Status status = k % (RUNGS * LANES) ? DONE : look_up(all->watch);
        if (status != DONE)
            return status;
        sum_noise(noise, k, spacing, &large, &small);
        double t = spacing * k, across = tilt * (1.0 + tilt) - t * t, along = t * (1.0 + 2.0 * tilt);
        square = across * across + along * along; /* rises with t */
        double pole = scale / square * (k ? 1.0 : 0.5);
        Complex value = power_difference(small, large, (int)count);
        line->real[k] = pole * (value.real * across + value.imaginary * along);
        line->imaginary[k] = pole * (value.imaginary * across - value.real * along);
        double term = hypot(line->real[k], line->imaginary[k]);
        poles += scale / (t * t + tilt * tilt);
        moved += term;
        weighted += term * t;
        if (k == 0) {
            most_large = large.real + noise->large_error;
            most = large.real + small.real + noise->large_error + noise->small_error;
        }
    }
    double step = noise->large_error + (count - 1.0) * most_large / most * noise->small_error;
    step += (8.0 * count + 16.0) * UNIT * most_large;
    double error = count * exp((count - 1.0) * log(fmax(most, 1.0))) * step * poles;
    line->truncation = exp(plan->log_truncation);
    line->fixed_error = 1.01 * (line->truncation + error + moved * (summation_error(line->nodes) + 64 * UNIT));
    line->weighted_frequency = weighted;
    return isfinite(line->fixed_error) && isfinite(square) && most > 0.0 ? DONE : NOT_POSITIVE;
}

/* Whether a composition is a run of one kind of steps, to remove, so short that a power takes no more products than a sum over
 * the noise. */
bool is_short(const Composition *all)
{
    const Steps *steps = all->steps;
    return all->kinds == 1 && !all->laplace_kinds && all->square == 0.0 && !all->cut && !steps->loss.drawn && !steps->loss.mixture &&
           steps->loss.density > 0.0 && steps->loss.left == 0.0 && steps->loss.rate <= 0.5 && steps->loss.shift <= 8.0 &&
           steps->count <= MOST_NODES / 16 && steps->count == floor(steps->count);
}

/* Whether there are so few steps that other ways rarely serve where giant losses have a share. */
bool is_few(const Composition *all)
{
    return is_short(all) && all->steps->count <= MOST_NODES / 256;
}

/* Estimate log of T times the profile of one step at epsilon > 0, and d/d epsilon of it. */
static Estimate log_once(const Steps *steps, double epsilon)
{
    const Loss *loss = &steps->loss;
    double y = log1p(expm1(epsilon) / loss->rate), x = y / loss->shift + 0.5 * loss->shift;
    double root = sqrt(0.5), present = 0.5 * erfc((x - loss->shift) * root), absent = 0.5 * erfc(x * root);
    double value = loss->rate * (present - exp(y) * absent);
    return (Estimate){log(steps->count * value), -exp(epsilon) * absent / value};
}

/* Return the epsilon at which T times the profile of one step is as given, about; 0 where it is nowhere. */
double few_epsilon(const Composition *all, double log_delta)
{
    double low = 0.0, high = 1.0;
    while (high < 1e3 && log_once(all->steps, high).value > log_delta)
        high *= 2.0;
    for (int k = 0; k < 60; k++) {
        double middle = low > 0.0 ? sqrt(low * high) : 0.01 * high;
        if (log_once(all->steps, middle).value > log_delta)
            low = middle;
        else
            high = middle;
        if (high < 1e-12)
            return 0.0;
    }
    return high;
}

/* Take over what encloses the sums beside the line. */
static void set_few(const Steps *steps, const Plan *plan, const Noise *noise, Few *few)
{
    *few = plan->few;
    few->on = true;
    few->split = plan->large.scale > 0.0;
    few->least = steps->count * log1p(-steps->loss.rate) * (1.0 + 8 * UNIT);
    for (int m = 0; m < 2; m++) {
        double mass = fmin(fmax(noise->mass[m], 0.0), 1.0), any = -expm1(steps->count * log1p(-mass));
        few->mass[m] = few->split ? any : 1.0;
        few->mass_error[m] = (1 + m) * exp(few->log_leak);
        if (few->split)
            few->mass_error[m] += 1.01 * steps->count * noise->mass_error[m] + 16 * UNIT * any;
    }
}

/* Lay a line with errors of so many nats below delta. */
static Status build_with(Composition *all, double epsilon, Estimate once, double nats, double most, Cells *cells, Line *line)
{
    const Steps *steps = all->steps;
    Plan plan = {0};
    Noise noise = {0};
    Status status = make_plan(cells, epsilon, once.value, nats, &plan);
    if (status != DONE)
        return status;
    line->place = (Saddle){.tilt = plan.tilt};
    line->epsilon = epsilon;
    line->reach = fmin(0.5 * epsilon, 3.0 / fabs(once.slope));
    line->spacing = exact_step(2.0 * PI / plan.period);
    line->nodes = (int)ceil(plan.last / line->spacing) + 1;
    plan.last = line->spacing * (line->nodes - 1);
    status = set_noise(&plan, cells, line->spacing, most / line->nodes, &noise);
    if (status == DONE) {
        set_few(steps, &plan, &noise, &line->few);
        status = set_few_terms(all, &plan, &noise, line);
    }
    forget_noise(&noise);
    return status;
}

/* Lay a line for one epsilon > 0 and its neighbours (A9). */
static Status build_few(Composition *all, double epsilon, Line *line)
{
    Estimate once = log_once(all->steps, epsilon);
    if (!(epsilon > 0.0 && isfinite(once.value)))
        return NO_TILT;
    Cells *cells = calloc(1, sizeof *cells);
    if (!cells)
        return NO_MEMORY;
    set_few_cells(all->steps, cells);
    Status status = build_with(all, epsilon, once, -log(0.1 * GOOD_WIDTH), MOST_PRODUCTS / 4, cells, line);
    if (status == BEYOND_BUDGET || status == NO_DECAY)
        status = build_with(all, epsilon, once, -log(0.04 * WIDEST), MOST_PRODUCTS / 2, cells, line);
    free(cells);
    return status;
}

/* Find the line of an epsilon: that of the next epsilon of a grid, 64 to a factor of two, which neighbours share. */
Status few_line(Composition *all, double epsilon, const Line **line)
{
    double shared = exp2(nearbyint(64.0 * log2(epsilon)) / 64.0);
    for (int k = 0; k < KEPT / 4; k++)
        if (all->few[k].tilt == shared) {
            *line = &all->few[k].line;
            return all->few[k].status;
        }
    Shared *fresh = &all->few[all->next_few];
    all->next_few = (all->next_few + 1) % (KEPT / 4);
    forget_line(&fresh->line);
    *fresh = (Shared){0};
    Status status = build_few(all, shared, &fresh->line);
    if (!ends_all(status))
        *fresh = (Shared){shared, status, fresh->line};
    *line = &fresh->line;
    return status;
}

/* Return what is added to the sum, in its units: less the periods before, which are known, and more the small losses. */
Beside few_beside(const Line *line, double epsilon)
{
    const Few *few = &line->few;
    double tilt = line->place.tilt, length = 2.0 * PI / line->spacing, unit = exp(tilt * epsilon);
    double first = expm1(tilt * length), second = expm1((1.0 + tilt) * length);
    double constant = few->mass[0] / first, rising = exp(epsilon) * few->mass[1] / second;
    double error = few->mass_error[0] / first + few->mass_error[1] * exp(epsilon) / second;
    error += 32 * UNIT * (1.0 + (1.0 + tilt) * length + tilt * epsilon) * (constant + rising);
    double small = exp(few->log_leak);
    if (few->split)
        small += exp(few->log_tail) + exp(fmin(few->log_small - few->small_tilt * epsilon, 0.0));
    Beside found = {.lower = unit * (rising - constant - error), .slope = unit * rising, .curvature = unit * rising};
    found.upper = unit * (rising - constant + error + small * (1.0 + 1e-9));
    if (!(epsilon <= length + few->least - 4 * UNIT * (length - few->least)))
        found.lower = found.upper = NAN;
    return found;
}

/* Return log of a bound of the periods beyond, not in the sum's units. */
double few_log_excess(const Line *line, double epsilon)
{
    const Few *few = &line->few;
    double tilt = line->place.tilt, length = 2.0 * PI / line->spacing * (1.0 - 4 * UNIT), gap = (few->above - tilt) * length;
    return few->log_above - few->above * epsilon - gap - log(-expm1(-gap)) + 1e-9;
}
