#pragma once

#include "kernel.h"

Status solve(Composition *all, double log_delta, double slack, Answer *best);
Status root_at_size(Composition *all, double log_size, Line *alone, Root *root);
Status far_root_at_size(const Composition *all, const Line *line, double log_size, Root *root);
Status threshold(Composition *all, double log_size, Threshold *found);
