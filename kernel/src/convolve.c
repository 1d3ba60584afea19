/* Masses of a sum of independent steps on a circle of 2^bits lattice points, by discrete Fourier transforms.
 *
 * A transform of 2^bits real numbers is one of half as many complex ones. Its errors are stated in docs/low-noise.md
 * ("Rounding"). */
#include "convolve.h"
#include "fourier.h"

#include <stdlib.h>

/* Room of a convolution: two waves for a transform of half the points, the transform of one kind of steps, and the product
 * of all. Arrays are not a power of two apart, which caches are slow at. */
typedef struct {
    int bits, half;
    Wave first, second, one, product;
    Roots roots, halved;
} Circle;

static Circle circle_in(int bits, double *room)
{
    Circle circle = {.bits = bits, .half = 1 << (bits - 1)};
    size_t all = (size_t)circle.half + 4 * BLOCK;
    circle.first = (Wave){room, room + all};
    circle.second = (Wave){room + 2 * all, room + 3 * all};
    circle.one = (Wave){room + 4 * all, room + 5 * all};
    circle.product = (Wave){room + 6 * all, room + 7 * all};
    circle.roots = circle.halved = set_roots(bits, room + 8 * all);
    circle.halved.step = 2;
    return circle;
}

static size_t circle_room(int bits)
{
    return 8 * (((size_t)1 << (bits - 1)) + 4 * BLOCK) + roots_room(bits);
}

/* The transform of the masses of one step; that of the first point is added last, as the others may be small. */
WIDER
static void transform_masses(const Circle *circle, const LatticeSteps *steps)
{
    int half = circle->half, filled = (int)(steps->size / 2);
    Wave pairs = circle->first, one = circle->one;
    const double *restrict cosine = circle->roots.cosine, *restrict sine = circle->roots.sine;
    for (int k = 0; k < half; k++) {
        pairs.real[k] = k < filled ? steps->masses[2 * k] : 0.0;
        pairs.imaginary[k] = k < filled ? steps->masses[2 * k + 1] : 0.0;
    }
    if (steps->size % 2)
        pairs.real[filled] = steps->masses[steps->size - 1];
    pairs.real[0] = 0.0;
    pairs = transform(circle->bits - 1, pairs, circle->second, &circle->halved);
    double atom = steps->masses[0];
    one.real[0] = atom + (pairs.real[0] + pairs.imaginary[0]);
    one.real[half] = atom + (pairs.real[0] - pairs.imaginary[0]);
    one.imaginary[0] = one.imaginary[half] = 0.0;
    const double *restrict real = pairs.real, *restrict imaginary = pairs.imaginary;
    double *restrict to = one.real, *restrict to_turned = one.imaginary;
    INDEPENDENT
    for (int k = 1; k < half; k++) {
        double even = 0.5 * (real[k] + real[half - k]), even_turned = 0.5 * (imaginary[k] - imaginary[half - k]);
        double odd = 0.5 * (imaginary[k] + imaginary[half - k]), odd_turned = 0.5 * (real[half - k] - real[k]);
        to[k] = atom + (even + (cosine[k] * odd - sine[k] * odd_turned));
        to_turned[k] = even_turned + (sine[k] * odd + cosine[k] * odd_turned);
    }
}

/* Multiply complex numbers by others. */
static void multiply_by(double *restrict real, double *restrict imaginary, const double *other, const double *other_turned,
                        int size)
{
    INDEPENDENT
    for (int k = 0; k < size; k++) {
        double product = real[k] * other[k] - imaginary[k] * other_turned[k];
        imaginary[k] = real[k] * other_turned[k] + imaginary[k] * other[k];
        real[k] = product;
    }
}

/* Multiply the product by powers of a few numbers, by repeated squaring. */
WIDER
static void multiply_powers(const double *bases, const double *bases_turned, int size, unsigned long long count,
                            double *real, double *imaginary)
{
    double base[4 * BLOCK], turned[4 * BLOCK], same[4 * BLOCK], same_turned[4 * BLOCK];
    for (int k = 0; k < size; k++) {
        base[k] = bases[k];
        turned[k] = bases_turned[k];
    }
    for (; count; count >>= 1) {
        if (count & 1)
            multiply_by(real, imaginary, base, turned, size);
        for (int k = 0; count > 1 && k < size; k++) {
            same[k] = base[k];
            same_turned[k] = turned[k];
        }
        if (count > 1)
            multiply_by(base, turned, same, same_turned, size);
    }
}

/* The inverse transform of the product, which is that of real masses. */
WIDER
static void invert_product(const Circle *circle, double *restrict masses)
{
    int half = circle->half;
    Wave pairs = circle->first;
    const double *restrict cosine = circle->roots.cosine, *restrict sine = circle->roots.sine;
    const double *restrict real = circle->product.real, *restrict imaginary = circle->product.imaginary;
    double *restrict to = pairs.real, *restrict to_turned = pairs.imaginary;
    INDEPENDENT
    for (int k = 0; k < half; k++) {
        double even = real[k] + real[half - k], even_turned = imaginary[k] - imaginary[half - k];
        double less = real[k] - real[half - k], less_turned = imaginary[k] + imaginary[half - k];
        double odd = cosine[k] * less + sine[k] * less_turned, odd_turned = cosine[k] * less_turned - sine[k] * less;
        to[k] = even - odd_turned;
        to_turned[k] = -(even_turned + odd);
    }
    pairs = transform(circle->bits - 1, pairs, circle->second, &circle->halved);
    double scale = 0.5 / half;
    INDEPENDENT
    for (int k = 0; k < half; k++) {
        masses[2 * k] = scale * pairs.real[k];
        masses[2 * k + 1] = -scale * pairs.imaginary[k];
    }
}

/* The masses of the sum of all steps; losses beyond the circle are counted on it. */
Status convolve(int bits, int kinds, const LatticeSteps *steps, double *masses)
{
    double *room = malloc(circle_room(bits) * sizeof *room);
    if (!room)
        return NO_MEMORY;
    Circle circle = circle_in(bits, room);
    Wave one = circle.one, product = circle.product;
    for (int k = 0; k <= circle.half; k++) {
        product.real[k] = 1.0;
        product.imaginary[k] = 0.0;
    }
    for (int kind = 0; kind < kinds; kind++) {
        transform_masses(&circle, &steps[kind]);
        for (int k = 0; k <= circle.half; k += 4 * BLOCK) {
            int size = circle.half + 1 - k < 4 * BLOCK ? circle.half + 1 - k : 4 * BLOCK;
            multiply_powers(one.real + k, one.imaginary + k, size, steps[kind].count, product.real + k,
                            product.imaginary + k);
        }
    }
    invert_product(&circle, masses);
    free(room);
    return DONE;
}
