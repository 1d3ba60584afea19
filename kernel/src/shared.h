#ifndef EPSILOND_SHARED_H
#define EPSILOND_SHARED_H

#include "kernel.h"

/* Half-width of the range of epsilon that a line serves, in units of the integrand's width. */
#define REACH 1.2

Status shared_line(Composition *all, Saddle place, const Line **line);

#endif
