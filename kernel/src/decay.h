#ifndef EPSILOND_DECAY_H
#define EPSILOND_DECAY_H

#include "kernel.h"

Status truncate_line(const Composition *all, Survey *survey, Saddle place, double log_target, double most,
                     double *highest, double *truncation);

#endif
