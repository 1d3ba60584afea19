#pragma once

#include "kernel.h"

double saddle_epsilon(Saddle place);
double log_delta_near(Saddle place, double epsilon);
Status survey_for(Composition *all, double tilt, Survey **survey);
Status locate(Composition *all, Target target, Located *at);
