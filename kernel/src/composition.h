#ifndef EPSILOND_COMPOSITION_H
#define EPSILOND_COMPOSITION_H

#include "kernel.h"

bool is_cut(const Composition *all);
void forget_survey(Survey *survey);
void forget_line(Line *line);
void forget(Composition *all);

#endif
