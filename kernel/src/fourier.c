/* The discrete Fourier transform of 2^bits numbers, in order on both sides (Stockham's form, four at a time).
 *
 * A pass of four multiplies by a root of unity, which errs by 32 units, and adds twice: an output errs by at most 40
 * units of the sum of moduli for two bits, which `fourier_error` covers. */
#include "fourier.h"

/* Roots of unity e^(2 pi i k/size) for k below three quarters of the size. */
typedef struct {
    double *cosine, *sine;
} Roots;

static size_t roots_room(int bits)
{
    size_t size = (size_t)1 << bits, rows = (size_t)1 << (bits / 2);
    return 2 * (size + 2 * rows);
}

/* Numbers of room: for the other half of each pass, and the roots. */
size_t fourier_room(int bits)
{
    return ((size_t)2 << bits) + roots_room(bits);
}

/* Products of two short tables: the angles err by at most 12 units, the functions by four, and a product by 32 in all. */
static Roots set_roots(int bits, double *room)
{
    int size = 1 << bits, columns = 1 << (bits / 2), rows = 3 * size / 4 / columns + 1;
    Roots roots = {room, room + size};
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

/* One pass over four parts of the input: `stride` transforms that are `left` long each are a quarter as long after it. */
WIDER
static void pass_of_four(int left, int stride, const Roots *roots, const Wave *input, Wave *output)
{
    int quarter = left / 4;
    for (int p = 0; p < quarter; p++) {
        int place = p * stride;
        double c1 = roots->cosine[place], s1 = roots->sine[place];
        double c2 = roots->cosine[2 * place], s2 = roots->sine[2 * place];
        double c3 = roots->cosine[3 * place], s3 = roots->sine[3 * place];
        const double *restrict a = input->real + place, *restrict a_turned = input->imaginary + place;
        double *restrict to = output->real + 4 * place, *restrict to_turned = output->imaginary + 4 * place;
        int second = stride * quarter, third = 2 * second, fourth = 3 * second;
        for (int q = 0; q < stride; q++) {
            double sum = a[q] + a[q + third], sum_turned = a_turned[q] + a_turned[q + third];
            double less = a[q] - a[q + third], less_turned = a_turned[q] - a_turned[q + third];
            double other = a[q + second] + a[q + fourth], other_turned = a_turned[q + second] + a_turned[q + fourth];
            double gap = a[q + second] - a[q + fourth], gap_turned = a_turned[q + second] - a_turned[q + fourth];
            double first_real = less - gap_turned, first_imaginary = less_turned + gap;
            double second_real = sum - other, second_imaginary = sum_turned - other_turned;
            double third_real = less + gap_turned, third_imaginary = less_turned - gap;
            to[q] = sum + other;
            to_turned[q] = sum_turned + other_turned;
            to[q + stride] = c1 * first_real - s1 * first_imaginary;
            to_turned[q + stride] = s1 * first_real + c1 * first_imaginary;
            to[q + 2 * stride] = c2 * second_real - s2 * second_imaginary;
            to_turned[q + 2 * stride] = s2 * second_real + c2 * second_imaginary;
            to[q + 3 * stride] = c3 * third_real - s3 * third_imaginary;
            to_turned[q + 3 * stride] = s3 * third_real + c3 * third_imaginary;
        }
    }
}

/* The last pass of an odd number of bits. */
WIDER
static void pass_of_two(int half, const Wave *input, Wave *output)
{
    const double *restrict a = input->real, *restrict a_turned = input->imaginary;
    double *restrict to = output->real, *restrict to_turned = output->imaginary;
    for (int q = 0; q < half; q++) {
        to[q] = a[q] + a[q + half];
        to_turned[q] = a_turned[q] + a_turned[q + half];
        to[q + half] = a[q] - a[q + half];
        to_turned[q + half] = a_turned[q] - a_turned[q + half];
    }
}

/* sum_l a_l e^(2 pi i k l/size) for all k, in the input's arrays or in the room. */
Wave transform(int bits, Wave input, double *room)
{
    int size = 1 << bits, stride = 1;
    Wave output = {room, room + size};
    Roots roots = set_roots(bits, room + 2 * size);
    for (int left = size; left > 1; left /= 4, stride *= 4) {
        if (left == 2)
            pass_of_two(stride, &input, &output);
        else
            pass_of_four(left, stride, &roots, &input, &output);
        Wave last = input;
        input = output;
        output = last;
    }
    return input;
}
