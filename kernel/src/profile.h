#pragma once

#include "kernel.h"

Status build(Composition *all, Located at, double tilt, double epsilon, double reach, Line *line);
Status enclose(const Composition *all, const Line *line, double epsilon, Interval *found);
Status estimate(const Composition *all, const Line *line, Aim aim, double epsilon, Estimate *found);
