#pragma once

#include "kernel.h"

double log_chernoff_factor(double tilt);
Status set_chernoff(const Composition *all, Survey *survey, double tilt, double width, Chernoff *at);
double period_for(const Chernoff *at, double tilt, double epsilon, double log_target);
void set_series(Chernoff *at, double tilt, double spacing);
double log_excess(const Chernoff *at, double epsilon);
double chernoff_log_delta(const Chernoff *at, double tilt, double epsilon);
extern const double OTHER[OTHERS];
