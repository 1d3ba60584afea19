#pragma once

#include "kernel.h"

double width_of(Interval ends);
Answer no_answer(void);
Status end_of(Answer best, Status last, Status whole);
double enough_of(const Line *line);
void keep_better(Answer *best, Interval ends, double width, const Line *line);
Status evaluate(Composition *all, double epsilon, Answer *best);
Status bound(Composition *all, double epsilon, double *found);
Status bound_at(Composition *all, Located at, double epsilon, double *found);
Status locate_cut(Composition *all, Saddle place, double epsilon, Composition **cut, Located *at);
