#pragma once

#include "kernel.h"

void forget_survey(Survey *survey);
Status survey_of(Composition *all, double reach, Survey **survey);
double exponents(const Quadrature *at, double tilt, double *work);
double step_cumulant(Survey *survey, int kind, double tilt);
Saddle place_at(const Composition *all, Survey *survey, double tilt);
double saddle_width(Saddle place);
double upper_cumulant(const Composition *all, Survey *survey, double tilt);
