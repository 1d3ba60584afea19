#pragma once

#include "kernel.h"

TiltedLaplace tilted_laplace(double shift, double tilt);
double laplace_cumulant_error(double shift, double x);
void add_laplace_moments(const Composition *all, double tilt, Saddle *sum);
double upper_laplace_cumulant(const Composition *all, double tilt);
double laplace_decay(const Composition *all, double tilt, double frequency);
bool laplace_polar(const TiltedLaplace *at, double shift, double frequency, Polar *one);
bool laplace_power(const Composition *all, double tilt, double frequency, double centre, Polar *power);
void laplace_sums(const Composition *all, double tilt, double *centre, double *cumulant, double *error);
