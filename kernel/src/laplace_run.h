#ifndef EPSILOND_LAPLACE_RUN_H
#define EPSILOND_LAPLACE_RUN_H

#include "kernel.h"

Status set_atoms(Composition *all);
double run_decay(const Laplace *run, double tilt, double frequency, double whole);
bool run_power(const Laplace *run, double tilt, double frequency, double centre, Polar *power);
Beside beside(const Composition *all, double epsilon);

#endif
