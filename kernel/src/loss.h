#pragma once

#include "kernel.h"

Loss loss_of(double rate, double shift, int density, int right, int left);
double log_argument(const Loss *loss, double x);
double response(const Loss *loss, double x);
double log_ratio(const Loss *loss, double x);
double ratio_error(const Loss *loss, double x, double ratio);
bool falls(const Loss *loss);
double upper_turn(const Loss *loss, double response);
double upper_spread(const Loss *loss, double response);
double widest_angle(const Loss *loss);
double largest_loss(const Loss *loss);
Complex turned(const Loss *loss, double x, double height);
double upper_log_tail(double x);
double summation_error(int terms);
double log_sum(const double *logs, int size);
