#pragma once

#include "kernel.h"

/* Width of log delta with which few steps are not tried another way. */
#define FEW_WIDTH (0.2 * WIDEST)

bool is_short(const Composition *all);
bool is_few(const Composition *all);
double few_epsilon(const Composition *all, double log_delta);
Status few_line(Composition *all, double epsilon, const Line **line);
Beside few_beside(const Line *line, double epsilon);
double few_log_excess(const Line *line, double epsilon);
