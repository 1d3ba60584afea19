#pragma once

#include "kernel.h"

Status drawn_rule(const Loss *loss, double count, Tilts tilts, double frequency, int most_nodes, Rule *rule);
Loss drawn_component(const Loss *loss, int k);
int drawn_components(const Loss *loss);
const Rule *drawn_part(const Rule *rule, int k);
double drawn_log_ratio(const Loss *loss, double u);
double drawn_edge(const Loss *loss, double height);
void set_drawn_quadrature(const Loss *loss, Quadrature *at);
double upper_drawn_cumulant(const Steps *steps, const Quadrature *at, double tilt, double *work);
void weigh_drawn(const Steps *steps, const Rule *rule, double tilt, Weighing *at);
