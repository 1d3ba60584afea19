#pragma once

#include "kernel.h"

void add_to(Sum *sum, double value);
double value_of(Sum sum);
Polar polar(double real, double imaginary, double error, double turned);
void add_power(Powers *powers, int k, Polar power);
void add_part(Powers *powers, double centre, double cumulant, double cumulant_error);
Status make_powers(int nodes, Powers *powers);
Status set_terms(Powers *powers, Line *line);
