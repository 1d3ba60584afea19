/* The discrete Fourier transform of 2^bits numbers, in order on both sides (Stockham's form, four at a time).
 *
 * A pass of four multiplies by a root of unity, which errs by 32 units, and adds twice: an output errs by at most 40
 * units of the sum of moduli for two bits, which `fourier_error` covers. */
#include "fourier.h"

/* Numbers of room for roots of unity of an order 2^bits. */
size_t roots_room(int bits)
{
    size_t size = (size_t)1 << bits, columns = (size_t)1 << (bits / 2);
    return 2 * (size + columns);
}

/* Products of two short tables: the angles err by at most 12 units, the functions by four, and a product by 32 in all. */
Roots set_roots(int bits, double *room)
{
    int size = 1 << bits, columns = 1 << (bits / 2), rows = 3 * size / 4 / columns + 1;
    Roots roots = {room, room + size, 1};
    double *cosine = roots.sine + size, *sine = cosine + columns, unit = 2.0 * PI / size;
    for (int k = 0; k < columns; k++) {
        cosine[k] = cos(unit * k);
        sine[k] = sin(unit * k);
    }
    for (int row = 0; row < rows; row++) {
        double c = cos(unit * (row * columns)), s = sin(unit * (row * columns));
        for (int k = 0; k < columns && row * columns + k < size; k++) {
            roots.cosine[row * columns + k] = c * cosine[k] - s * sine[k];
            roots.sine[row * columns + k] = s * cosine[k] + c * sine[k];
        }
    }
    return roots;
}

/* Turn four sums of a pass by their roots, and keep them. */
static inline void keep_four(const double *a, const double *turned, int apart, const double *roots, double *to,
                             double *to_turned, int between)
{
    double sum = a[0] + a[2 * apart], sum_turned = turned[0] + turned[2 * apart];
    double less = a[0] - a[2 * apart], less_turned = turned[0] - turned[2 * apart];
    double other = a[apart] + a[3 * apart], other_turned = turned[apart] + turned[3 * apart];
    double gap = a[apart] - a[3 * apart], gap_turned = turned[apart] - turned[3 * apart];
    double second = less - gap_turned, second_turned = less_turned + gap;
    double third = sum - other, third_turned = sum_turned - other_turned;
    double fourth = less + gap_turned, fourth_turned = less_turned - gap;
    to[0] = sum + other;
    to_turned[0] = sum_turned + other_turned;
    to[between] = roots[0] * second - roots[1] * second_turned;
    to_turned[between] = roots[1] * second + roots[0] * second_turned;
    to[2 * between] = roots[2] * third - roots[3] * third_turned;
    to_turned[2 * between] = roots[3] * third + roots[2] * third_turned;
    to[3 * between] = roots[4] * fourth - roots[5] * fourth_turned;
    to_turned[3 * between] = roots[5] * fourth + roots[4] * fourth_turned;
}

/* One pass over four parts of the input: `stride` transforms that are `left` long each are a quarter as long after it. */
static inline void pass_of_four(int left, int stride, const Roots *roots, const Wave *input, Wave *output)
{
    int quarter = left / 4, apart = stride * quarter;
    for (int p = 0; p < quarter; p++) {
        int place = p * stride, turn = place * roots->step;
        const double root[6] = {roots->cosine[turn],     roots->sine[turn],     roots->cosine[2 * turn],
                                roots->sine[2 * turn],   roots->cosine[3 * turn], roots->sine[3 * turn]};
        const double *restrict a = input->real + place, *restrict turned = input->imaginary + place;
        double *restrict to = output->real + 4 * place, *restrict to_turned = output->imaginary + 4 * place;
        INDEPENDENT
        for (int q = 0; q < stride; q++)
            keep_four(a + q, turned + q, apart, root, to + q, to_turned + q, stride);
    }
}

/* The first pass, whose numbers have a root each. */
WIDER
static void first_pass(int size, const Roots *roots, const Wave *input, Wave *output)
{
    int quarter = size / 4, step = roots->step;
    const double *restrict a = input->real, *restrict turned = input->imaginary;
    const double *restrict cosine = roots->cosine, *restrict sine = roots->sine;
    double *restrict to = output->real, *restrict to_turned = output->imaginary;
    INDEPENDENT
    for (int p = 0; p < quarter; p++) {
        const double root[6] = {cosine[p * step],     sine[p * step],     cosine[2 * p * step],
                                sine[2 * p * step],   cosine[3 * p * step], sine[3 * p * step]};
        keep_four(a + p, turned + p, quarter, root, to + 4 * p, to_turned + 4 * p, 1);
    }
}

/* The second pass: the length of its inner loop is known to the compiler. */
WIDER
static void second_pass(int left, const Roots *roots, const Wave *input, Wave *output)
{
    pass_of_four(left, 4, roots, input, output);
}

WIDER
static void later_pass(int left, int stride, const Roots *roots, const Wave *input, Wave *output)
{
    pass_of_four(left, stride, roots, input, output);
}

/* The last pass of an odd number of bits. */
WIDER
static void pass_of_two(int half, const Wave *input, Wave *output)
{
    const double *restrict a = input->real, *restrict a_turned = input->imaginary;
    double *restrict to = output->real, *restrict to_turned = output->imaginary;
    INDEPENDENT
    for (int q = 0; q < half; q++) {
        to[q] = a[q] + a[q + half];
        to_turned[q] = a_turned[q] + a_turned[q + half];
        to[q + half] = a[q] - a[q + half];
        to_turned[q + half] = a_turned[q] - a_turned[q + half];
    }
}

/* sum_l a_l e^(2 pi i k l/size) for all k, in the input's arrays or in those of the room. */
Wave transform(int bits, Wave input, Wave room, const Roots *roots)
{
    int size = 1 << bits, stride = 1;
    Wave output = room;
    for (int left = size; left > 1; left /= 4, stride *= 4) {
        if (left == 2)
            pass_of_two(stride, &input, &output);
        else if (stride == 1)
            first_pass(left, roots, &input, &output);
        else if (stride == 4)
            second_pass(left, roots, &input, &output);
        else
            later_pass(left, stride, roots, &input, &output);
        Wave last = input;
        input = output;
        output = last;
    }
    return input;
}
