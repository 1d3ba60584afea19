#ifndef EPSILOND_SURVEY_H
#define EPSILOND_SURVEY_H

#include "kernel.h"

Status survey_of(Composition *all, double reach, Survey **found);
Saddle place_at(const Composition *all, Survey *survey, double tilt);
double saddle_width(Saddle place);
double upper_cumulant(const Composition *all, Survey *survey, double tilt);
Status decay(const Composition *all, Survey *survey, Saddle place, double target, double most, double *highest,
             double *truncation);
double summation_error(int terms);

#endif
