#ifndef EPSILOND_LINE_H
#define EPSILOND_LINE_H

#include "kernel.h"

Status set_line(const Composition *all, Line *line);

#endif
