#ifndef EPSILOND_COMPOSITION_H
#define EPSILOND_COMPOSITION_H

#include "kernel.h"

Status make(Composition *all, int kinds, int laplace_kinds);
Status complete(Composition *all);
void forget_line(Line *line);
void forget(Composition *all);

#endif
