#pragma once

#include "kernel.h"

/* The number of a run that is searched. */
typedef enum {
    OF_SHIFT,
    OF_COUNT,
    OF_RATE
} Unknown;

/* A run of sampled Gaussian steps in one or both orders, all numbers of which are known but one, of which there is a
 * guess; and the epsilon at which the larger log delta is wanted. */
typedef struct {
    Steps orders[2];
    int size;
    Unknown unknown;
    double epsilon, log_delta;
    Watch *watch;
} Search;

Status search_number(const Search *asked, double guess, double *found);
