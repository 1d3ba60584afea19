#pragma once

#include "kernel.h"

Status set_atoms(Composition *all);
double run_decay(const Laplace *run, double tilt, double frequency, double whole);
bool run_power(const Laplace *run, double tilt, double frequency, double centre, Polar *power);
Beside beside(const Composition *all, double epsilon);
