#pragma once

#include "kernel.h"

Status make(Composition *all, int kinds, int laplace_kinds);
Status complete(Composition *all);
void forget_line(Line *line);
void forget(Composition *all);
