#ifndef EPSILOND_SADDLE_H
#define EPSILOND_SADDLE_H

#include "kernel.h"

double saddle_epsilon(Saddle place);
double log_delta_near(Saddle place, double epsilon);
double log_chernoff_factor(double tilt);
Status survey_for(Composition *all, double tilt, Survey **found);
Status first_reach(Composition *all, double *reach);
Status find(Composition *all, Target target, Found *found);
Status best_rung(Composition *all, double epsilon, Found *found);

#endif
