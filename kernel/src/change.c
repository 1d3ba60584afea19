/* phi - 1 = sum w (e^(itd) - 1) on a line, as products of two short tables of rotations (A4, "Compiled"). */
#include "change.h"
#include "weigh.h"

#include <stdlib.h>

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

static void sum_blocks(const Weighing *at, double spacing, Block *block, double *real, double *imaginary)
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

/* Room for so many nodes and a few beyond; freed by the caller, as `real`. */
Status make_change(int nodes, Change *change)
{
    int babies = (int)sqrt(0.5 * nodes) + 1, stride = 2 * babies - 1;
    int giants = (nodes - babies + stride - 1) / stride + 1;
    size_t all = (size_t)stride * (size_t)giants;
    change->babies = babies;
    change->giants = giants;
    change->stride = stride;
    change->real = malloc((2 * all + block_room(babies, giants)) * sizeof *change->real);
    if (!change->real)
        return NO_MEMORY;
    change->imaginary = change->real + all;
    change->room = change->imaginary + all;
    return DONE;
}

void set_change(const Weighing *at, double spacing, Change *change)
{
    Block block = block_in(change->room, change->babies, change->giants);
    sum_blocks(at, spacing, &block, change->real, change->imaginary);
}
