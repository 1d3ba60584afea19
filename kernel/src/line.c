/* phi^T on a line with every error term (A4): transforms/sampled_gaussian_grid.py, "A line"; transform.py, `polar` and
 * `power`; nodes.py, `_terms` and `_fixed_error`. */
#include "line.h"
#include "loss.h"
#include "rule.h"
#include "survey.h"

#include <stdlib.h>

#define BLOCK 16

/* Where the loader can choose, also compiled for wider registers: the same operations in the same order. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__)
#define WIDER __attribute__((target_clones("avx2", "default")))
#else
#define WIDER
#endif

/* The nodes of the noise under the tilted law; of those that weigh enough, weight and deviation from the mean. */
typedef struct {
    int size, kept;
    double *weight, *deviation, *ratio, *mirrored, *exponent, *error;
    double cumulant, cumulant_error, mean, dropped, slope, at_ends;
} Weighing;

/* Of `change`, below. */
static double summing_error(int terms)
{
    return 4.0 * summation_error(BLOCK + terms / BLOCK + 3) + 128 * UNIT;
}

static double density_error(double x, double log_step)
{
    return UNIT * (4.0 * x * x + 2.0 * fabs(log_step) + 24.0);
}

/* K of one step from M - 1 = sum w phi (e^exponent - 1) where M is of order one, and its rounding error. */
static void set_cumulant(const Loss *loss, const Rule *rule, Weighing *at)
{
    double log_step = log(rule->step), summing = summation_error(at->size), top = -INFINITY;
    double sum = 0.0, moved = 0.0;
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), log_full = (log_step - LOG_SQRT_2PI) - 0.5 * x * x + at->exponent[k];
        at->weight[k] = log_full;
        top = fmax(top, log_full);
    }
    if (top > 1.0) {
        for (int k = 0; k < at->size; k++) {
            double shifted = exp(at->weight[k] - top), x = node(rule, k);
            sum += shifted;
            moved += shifted * (at->error[k] + density_error(x, log_step) + 4 * UNIT * fabs(at->weight[k]));
        }
        at->cumulant = top + log(sum);
        at->cumulant_error = 1.01 * (summing + moved / sum) + 4 * UNIT * (fabs(top) + fabs(at->cumulant) + 1.0);
        return;
    }
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), full = exp(at->weight[k]);
        double density = exp((log_step - LOG_SQRT_2PI) - 0.5 * x * x);
        double term = at->exponent[k] < 1.0 ? density * expm1(at->exponent[k]) : full - density;
        sum += term;
        moved += fabs(term) * (density_error(x, log_step) + summing) + full * at->error[k];
    }
    if (isfinite(loss->end)) /* phi itself has lost a mass that does not matter */
        moved += exp(upper_log_tail(loss->end));
    at->cumulant = log1p(sum);
    at->cumulant_error = 1.01 * moved * exp(-at->cumulant) + 4 * UNIT * fabs(at->cumulant);
}

static void weigh(const Composition *all, const Rule *rule, double tilt, Weighing *at)
{
    const Loss *loss = &all->loss;
    double first = loss->density + loss->right * tilt, second = loss->left * tilt, log_step = log(rule->step);
    for (int k = 0; k < at->size; k++) {
        double x = node(rule, k), ratio = log_ratio(loss, x), of_ratio = ratio_error(loss, x, ratio);
        double exponent = first * ratio, error = fabs(first) * of_ratio + 4 * UNIT * fabs(exponent);
        double of_loss = of_ratio, value = loss->right * ratio;
        if (loss->left < 0.0) {
            double mirrored = log_ratio(loss, -x), of_mirrored = ratio_error(loss, -x, mirrored);
            double turned = second * mirrored;
            exponent += turned;
            error += tilt * of_mirrored + 4 * UNIT * fabs(turned);
            value += loss->left * mirrored;
            of_loss += of_mirrored;
        }
        at->exponent[k] = exponent;
        at->error[k] = error;
        at->ratio[k] = value;                                 /* the loss from here on */
        at->mirrored[k] = of_loss + 4 * UNIT * fabs(value);   /* and its error */
    }
    set_cumulant(loss, rule, at);
    double mean = 0.0, slope = 0.0, dropped = 0.0, summing = summing_error(at->size);
    for (int k = 0; k < at->size; k++) {
        double log_full = at->weight[k], x = node(rule, k);
        at->error[k] += density_error(x, log_step) + at->cumulant_error;
        at->error[k] += UNIT * (2.0 * fabs(log_full) + fabs(at->cumulant) + 4.0);
        at->weight[k] = exp(log_full - at->cumulant);
        mean += at->weight[k] * at->ratio[k];
    }
    at->at_ends = at->weight[0] + (isfinite(loss->end) ? 0.0 : at->weight[at->size - 1]);
    double least = exp(-34.0) / (all->count * at->size);
    at->kept = 0;
    for (int k = 0; k < at->size; k++) {
        double weight = at->weight[k], deviation = at->ratio[k] - mean;
        slope += weight * fabs(deviation) * (at->error[k] + summing) + weight * at->mirrored[k];
        if (weight > least) {
            at->weight[at->kept] = weight;
            at->deviation[at->kept++] = deviation;
        } else
            dropped += weight;
    }
    at->mean = mean;
    at->slope = slope;
    at->dropped = dropped;
}

/* e^(itd) - 1 = 2 (i tau - tau^2)/(1 + tau^2), tau = tan(td/2), for `count` multiples t of a stride. */
static void rotate(double stride, double deviation, int count, double *real, double *imaginary)
{
    for (int k = 0; k < count; k++) {
        double tangent = tan(0.5 * (stride * k) * deviation), square = tangent * tangent;
        double shrunk = 2.0 / (1.0 + square);
        real[k] = -square * shrunk;
        imaginary[k] = tangent * shrunk;
    }
}

/* The sum over the line, phi(t_k) - 1 = sum w (e^(i t_k d) - 1) for all k, with a giant step b and a baby step a to
 * either side of it, e^(i(b +- a)) - 1 = (e^(ib) - 1) e^(+-ia) + (e^(+-ia) - 1), where e^(-ia) is the conjugate of e^(ia).
 *
 * What it errs by, in units of t|d| = (b +- a)|d|, of which |e^(ia) - 1| <= a|d| is at most one and |e^(ib) - 1| at most
 * two. The four real sums of products with w (e^(ib) - 1) = x + iy, of |x cos a|, |y sin a|, |x sin a| and |y cos a|,
 * have together moduli of at most sqrt(2) |x + iy|; with those of e^(ia) - 1 the sums are charged four times gamma_n, n
 * the most additions that a term goes through: BLOCK within its block, then one for each block. A rotation errs by 20
 * units (of tan within eight), which enter five times: as b, and as a with a factor 1 + |e^(ib) - 1| <= 3. */
typedef struct {
    double *cosine, *sine, *across, *along, *sums, *parts;
    int size, babies, giants, stride;
} Block;

static size_t block_room(int babies, int giants)
{
    return (size_t)(2 * BLOCK * (babies + giants) + 6 * babies);
}

static Block block_in(double *room, int babies, int giants)
{
    Block block = {.cosine = room, .babies = babies, .giants = giants, .stride = 2 * babies - 1};
    block.sine = block.cosine + BLOCK * babies;
    block.across = block.sine + BLOCK * babies;
    block.along = block.across + BLOCK * giants;
    block.sums = block.along + BLOCK * giants;
    block.parts = block.sums + 2 * babies;
    return block;
}

/* e^(ia) and w (e^(ib) - 1), a row for each node, and the sums of w (e^(ia) - 1). */
static void set_rows(Block *block, const Weighing *at, int first, double spacing)
{
    int babies = block->babies, giants = block->giants;
    block->size = first + BLOCK < at->kept ? BLOCK : at->kept - first;
    for (int k = 0; k < 2 * babies; k++)
        block->sums[k] = 0.0;
    for (int i = 0; i < block->size; i++) {
        double weight = at->weight[first + i], deviation = at->deviation[first + i];
        double *cosine = block->cosine + i * babies, *sine = block->sine + i * babies;
        double *across = block->across + i * giants, *along = block->along + i * giants;
        rotate(spacing, deviation, babies, cosine, sine);
        rotate(spacing * block->stride, deviation, giants, across, along);
        for (int b = 0; b < babies; b++) {
            block->sums[b] += weight * cosine[b];
            block->sums[babies + b] += weight * sine[b];
            cosine[b] += 1.0;
        }
        for (int g = 0; g < giants; g++) {
            across[g] *= weight;
            along[g] *= weight;
        }
    }
}

/* The four sums of products over the block, at one giant step and every baby step. */
WIDER
static void multiply(const Block *block, int giant)
{
    int babies = block->babies;
    double *restrict first = block->parts, *restrict second = first + babies;
    double *restrict third = second + babies, *restrict fourth = third + babies;
    for (int b = 0; b < 4 * babies; b++)
        first[b] = 0.0;
    for (int i = 0; i < block->size; i++) {
        const double *restrict cosine = block->cosine + i * babies, *restrict sine = block->sine + i * babies;
        double across = block->across[i * block->giants + giant], along = block->along[i * block->giants + giant];
        for (int b = 0; b < babies; b++) {
            first[b] += across * cosine[b];
            second[b] += along * sine[b];
            third[b] += across * sine[b];
            fourth[b] += along * cosine[b];
        }
    }
}

static void change(const Weighing *at, double spacing, Block *block, double *real, double *imaginary)
{
    int babies = block->babies, all = block->stride * block->giants;
    const double *sums = block->sums, *turns = sums + babies, *first = block->parts, *second = first + babies;
    const double *third = second + babies, *fourth = third + babies;
    for (int k = 0; k < all; k++)
        real[k] = imaginary[k] = 0.0;
    for (int start = 0; start < at->kept; start += BLOCK) {
        set_rows(block, at, start, spacing);
        for (int b = 0; b < babies; b++) {
            real[b] += sums[b];
            imaginary[b] += turns[b];
        }
        for (int g = 1; g < block->giants; g++) {
            double *after = real + g * block->stride, *turned_after = imaginary + g * block->stride;
            multiply(block, g);
            for (int b = 0; b < babies; b++) {
                after[b] += sums[b] + (first[b] - second[b]);
                turned_after[b] += turns[b] + (third[b] + fourth[b]);
            }
            for (int b = 1; b < babies; b++) {
                after[-b] += sums[b] + (first[b] + second[b]);
                turned_after[-b] += (fourth[b] - third[b]) - turns[b];
            }
        }
    }
}

/* The terms of the sum over the line, and what they err by: phi - 1 in polar form, the power, the poles. */
static Status finish(const Composition *all, Line *line, const Weighing *at, double quadrature)
{
    double tilt = line->place.tilt, scale = line->spacing / PI, grown = 0.0, moved = 0.0, weighted = 0.0;
    double count = all->count, summing = summation_error(line->nodes);
    for (int k = 0; k < line->nodes; k++) {
        double frequency = line->spacing * k, a = line->real[k], b = line->imaginary[k];
        double error = k ? 1.01 * at->slope * frequency + 2.02 * (at->dropped + quadrature) : 0.0;
        if (!(error <= 0.5))
            return NOT_POSITIVE;
        double computed = hypot(1.0 + a, b), modulus = fmax(computed, fmax(error, 1e-300));
        /* Where |phi| < eta the value of modulus eta that stands for it is off by up to (4 eta)^T - eta^T. */
        double ratio = computed < modulus ? 3.0 : error / modulus, less_one = 2.0 * a + a * a + b * b;
        double log_one = less_one < -0.5 ? log(modulus) : 0.5 * log1p(less_one), phase_one = atan2(b, 1.0 + a);
        double rounding = UNIT * (6.0 * (2.0 * fabs(a) + a * a + b * b) + 6.0 * fabs(log_one) +
                                  6.0 * fabs(phase_one) + 4.0 * frequency * fabs(at->mean));
        double log_modulus = count * log_one, phase = count * phase_one;
        double growth = count * log1p(ratio) * (1.0 + 2 * UNIT);
        rounding = count * rounding * (1.0 + 2 * UNIT) + UNIT * (4.0 * fabs(log_modulus) + 4.0 * fabs(phase) + 32.0);
        /* z (1 + z) */
        double across = tilt * (1.0 + tilt) - frequency * frequency, along = frequency * (1.0 + 2.0 * tilt);
        double size = scale * exp(log_modulus) / (across * across + along * along) * (k ? 1.0 : 0.5);
        double cosine = cos(phase), sine = sin(phase);
        line->real[k] = size * (cosine * across + sine * along);
        line->imaginary[k] = size * (sine * across - cosine * along);
        double term = hypot(line->real[k], line->imaginary[k]);
        if (growth < 1.0)
            grown += term * expm1(growth);
        else
            grown += exp(fmin(log_modulus + growth, 700.0)) * scale / (frequency * frequency + tilt * tilt);
        moved += term * (expm1(fmin(rounding, 700.0)) + summing);
        weighted += term * frequency;
    }
    line->fixed_error = 1.01 * (line->truncation + grown + moved);
    line->weighted_frequency = weighted;
    line->centre = count * at->mean;
    line->cumulant = count * at->cumulant;
    double of_one = at->cumulant_error + 2.02 * quadrature + 2 * UNIT * fabs(at->cumulant);
    line->cumulant_error = count * of_one * (1.0 + 2 * UNIT);
    return isfinite(line->fixed_error) && isfinite(line->cumulant_error) ? FOUND : NOT_POSITIVE;
}

Status on_line(const Composition *all, Line *line)
{
    Rule rule;
    double tilt = line->place.tilt;
    Tilts tilts = {tilt, tilt};
    Status status = rule_for(&all->loss, all->count, tilts, line->nodes * line->spacing, MOST_NOISE_NODES, &rule);
    if (status != FOUND)
        return status;
    if ((double)line->nodes * rule.size > line->most_products)
        return BEYOND_BUDGET;
    int babies = (int)sqrt(0.5 * line->nodes) + 1, stride = 2 * babies - 1, giants = (line->nodes - babies + stride - 1) / stride + 1;
    size_t all_nodes = (size_t)stride * (size_t)giants, noise = (size_t)rule.size;
    double *room = malloc((6 * noise + block_room(babies, giants)) * sizeof *room);
    line->real = malloc(2 * all_nodes * sizeof *line->real);
    if (!room || !line->real) {
        free(room);
        return NO_MEMORY;
    }
    line->imaginary = line->real + all_nodes;
    Weighing at = {.size = rule.size, .weight = room, .deviation = room + noise, .ratio = room + 2 * noise};
    at.mirrored = room + 3 * noise;
    at.exponent = room + 4 * noise;
    at.error = room + 5 * noise;
    weigh(all, &rule, tilt, &at);
    /* Beyond the window every tilted law falls like a Gaussian from c standard deviations on. */
    if (!(at.at_ends <= 8.0 * exp(-0.5 * rule.c * rule.c)))
        status = INCONSISTENT;
    else {
        Block block = block_in(room + 6 * noise, babies, giants);
        change(&at, line->spacing, &block, line->real, line->imaginary);
        status = finish(all, line, &at, rule.error + end_error(&rule, tilt, at.cumulant));
    }
    free(room);
    return status;
}
