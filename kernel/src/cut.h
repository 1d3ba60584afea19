#pragma once

#include "kernel.h"

bool jumps(const Composition *all, Saddle place);
Status cut_for(Composition *all, double log_delta, Composition **cut);
double with_leak(const Composition *all, double upper);
double line_tilt(const Composition *all, Survey *survey, Saddle saddle);
