#pragma once

#include "kernel.h"

Status make_change(int nodes, Change *change);
void set_change(const Weighing *at, double spacing, Change *change);
