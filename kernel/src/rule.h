#pragma once

#include "kernel.h"

/* Heights of a strip that are tried, each 0.65 of the one before: within a fifth of the best, and to a hundredth. */
#define HEIGHTS 12

double exact_step(double step);
Status rule_for(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule);
void forget_rule(Rule *rule);
double node(const Rule *rule, int k);
double end_error(const Rule *rule, double tilt, double log_moment);
double end_decay_error(const Rule *rule, double tilt, double log_moment, double height);
void set_swings(const Loss *loss, const Rule *rule, double tilt, Swings *swings);
double decay_error(const Loss *loss, const Rule *rule, const Swings *swings, double tilt, double height);
double log_strip_error(double height, double growth, double step);
double widest_step(const double *height, const double *growth, double nats);
