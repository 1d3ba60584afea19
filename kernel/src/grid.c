/* phi - 1 on a line by one discrete Fourier transform: the weights are spread over a grid of losses by Gaussians, which
 * the result is divided by (certificate, A4, "On a grid").
 *
 * It errs by some 10^-13 of the weights, whatever t|d| is, and takes as long as a few hundred frequencies one by one. */
#include "grid.h"
#include "fourier.h"
#include "loss.h"
#include "powers.h"
#include "weigh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The grid: 2^bits points on the circle of angles spacing d; Gaussians e^(-narrow l^2) of its points, cut beyond `reach`,
 * with the sum `total`; the frequencies from -centre to +centre are evaluated. */
typedef struct {
    int bits, size, reach, centre;
    double narrow, total, falling, growth, tail[4 * BLOCK];
    Wave sums, block;
} Grid;

/* At least 5/2 points for a frequency, as the error grows by e^(alpha/4 ratio^2), and more than a Gaussian has. */
static Grid grid_for(int nodes)
{
    Grid grid = {.bits = 7, .centre = nodes / 2};
    while (ldexp(1.0, grid.bits) < 2.5 * nodes)
        grid.bits++;
    grid.size = 1 << grid.bits;
    double ratio = (double)grid.size / nodes, alpha = (QUADRATURE_NATS + 1.0) / (1.0 - 1.0 / ratio);
    grid.narrow = PI * PI / alpha;
    grid.total = sqrt(PI / grid.narrow);
    grid.falling = alpha / ((double)grid.size * grid.size);
    grid.growth = exp(0.25 * alpha / (ratio * ratio));
    grid.reach = (int)ceil(sqrt((QUADRATURE_NATS + 1.0 + log(grid.growth)) / grid.narrow));
    for (int k = 0; k <= grid.reach && k < 4 * BLOCK; k++)
        grid.tail[k] = exp(-grid.narrow * k * k);
    return grid;
}

/* What phi errs by. Roundings: the transform's; 2 BLOCK + kept/BLOCK additions; 6 reach + 256 in a
 * Gaussian's value, its product and its division. Angles at the centre and places on the grid err by 8 units of the angle at
 * most. Infinite where places are beyond exact integers. */
double grid_error(const Weighing *at, double spacing, int nodes)
{
    Grid grid = grid_for(nodes);
    double total = 0.0, size = 0.0, farthest = 0.0;
    for (int i = 0; i < at->kept; i++) {
        total += at->weight[i];
        size += at->weight[i] * fabs(at->deviation[i]);
        farthest = fmax(farthest, fabs(at->deviation[i]));
    }
    if (grid.reach >= 4 * BLOCK || !(farthest * spacing * grid.size < 1e15))
        return INFINITY;
    double rounding = fourier_error(grid.bits) + summation_error(2 * BLOCK + at->kept / BLOCK);
    rounding += (6 * grid.reach + 256) * UNIT;
    double angles = 8 * UNIT * spacing * (grid.centre + 1.0) * size;
    return 1.01 * ((grid.growth * rounding + 6.0 * exp(-QUADRATURE_NATS)) * total + angles);
}

/* Whether a grid is quicker, and its error for so many steps at most a fifth of a good width. */
bool suits_grid(const Weighing *at, int nodes, double count, double error)
{
    return (double)at->kept * nodes >= MOST_PRODUCTS / 32 && count * error <= 0.2 * GOOD_WIDTH;
}

/* The values of a Gaussian at 2 reach points, the first of which is reach - 1 + share before its centre. */
static void set_values(const Grid *grid, double share, double *values)
{
    double here = exp(-grid->narrow * share * share), rising = exp(2.0 * grid->narrow * share), falling = 1.0 / rising;
    double up = here, down = here;
    values[grid->reach - 1] = here;
    for (int k = 1; k <= grid->reach; k++) {
        up *= rising;
        values[grid->reach - 1 + k] = up * grid->tail[k];
    }
    for (int k = 1; k < grid->reach; k++) {
        down *= falling;
        values[grid->reach - 1 - k] = down * grid->tail[k];
    }
}

/* Add a node's Gaussian to the block from a point of the line on, of which the circle takes the remainder. */
static void add_values(const Grid *grid, long long start, const double *values, double real, double imaginary)
{
    int place = (int)(start & (grid->size - 1)), many = 2 * grid->reach;
    int before = many < grid->size - place ? many : grid->size - place;
    double *restrict to = grid->block.real + place, *restrict to_turned = grid->block.imaginary + place;
    for (int k = 0; k < before; k++) {
        to[k] += real * values[k];
        to_turned[k] += imaginary * values[k];
    }
    for (int k = before; k < many; k++) {
        grid->block.real[k - before] += real * values[k];
        grid->block.imaginary[k - before] += imaginary * values[k];
    }
}

/* Move what the block holds between two points of the line to the sums. */
static void flush(const Grid *grid, long long first, long long last)
{
    long long end = last - first < grid->size ? last : first + grid->size;
    for (long long place = first; place < end; place++) {
        int k = (int)(place & (grid->size - 1));
        grid->sums.real[k] += grid->block.real[k];
        grid->sums.imaginary[k] += grid->block.imaginary[k];
        grid->block.real[k] = grid->block.imaginary[k] = 0.0;
    }
}

/* The weights on the grid, turned by the angle of the centre's frequency. */
static void spread(const Grid *grid, const Weighing *at, double spacing)
{
    double scale = spacing * grid->size / (2.0 * PI), turn = spacing * grid->centre, values[8 * BLOCK];
    for (int start = 0; start < at->kept; start += BLOCK) {
        long long least = LLONG_MAX, most = LLONG_MIN;
        for (int i = start; i < start + BLOCK && i < at->kept; i++) {
            double place = at->deviation[i] * scale, below = floor(place), angle = turn * at->deviation[i];
            long long first = (long long)below - (grid->reach - 1);
            set_values(grid, place - below, values);
            add_values(grid, first, values, at->weight[i] * cos(angle), at->weight[i] * sin(angle));
            least = first < least ? first : least;
            most = first > most ? first : most;
        }
        flush(grid, least, most + 2 * grid->reach);
    }
}

/* phi - 1 at all nodes from the transform of the grid; it is 0 at the first. */
static void set_quotients(const Grid *grid, const Wave *sums, double total, int nodes, Change *change)
{
    for (int k = 0; k < nodes; k++) {
        double offset = k - grid->centre, factor = exp(grid->falling * offset * offset) / grid->total;
        int place = (k - grid->centre) & (grid->size - 1);
        change->real[k] = factor * sums->real[place] - total;
        change->imaginary[k] = factor * sums->imaginary[place];
    }
    change->real[0] = change->imaginary[0] = 0.0;
}

/* phi(t_k) - 1 for all nodes of a line whose error is finite. */
Status grid_change(const Weighing *at, double spacing, int nodes, Change *change)
{
    Grid grid = grid_for(nodes);
    size_t all = (size_t)4 * grid.size;
    double *room = malloc((all + 2 * (size_t)grid.size + roots_room(grid.bits)) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    memset(room, 0, all * sizeof *room);
    grid.sums = (Wave){room, room + grid.size};
    grid.block = (Wave){room + 2 * grid.size, room + 3 * grid.size};
    Sum total = {0};
    for (int i = 0; i < at->kept; i++)
        add_to(&total, at->weight[i]);
    spread(&grid, at, spacing);
    Roots roots = set_roots(grid.bits, room + all + 2 * grid.size);
    Wave sums = transform(grid.bits, grid.sums, (Wave){room + all, room + all + grid.size}, &roots);
    set_quotients(&grid, &sums, value_of(total), nodes, change);
    free(room);
    return DONE;
}
