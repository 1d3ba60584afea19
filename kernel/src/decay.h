#pragma once

#include "kernel.h"

Status truncate_line(const Composition *all, Survey *survey, Saddle place, double log_target, double most,
                     double *highest, double *truncation);
