#pragma once

#include "kernel.h"

double exact_step(double step);
Status rule_for(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule);
double node(const Rule *rule, int k);
double end_error(const Rule *rule, double tilt, double log_moment);
double end_decay_error(const Rule *rule, double tilt, double log_moment, double height);
void set_swings(const Loss *loss, const Rule *rule, double tilt, Swings *swings);
double decay_error(const Loss *loss, const Rule *rule, const Swings *swings, double tilt, double height);
