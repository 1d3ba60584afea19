#pragma once

#include "kernel.h"

Status set_line(const Composition *all, Line *line);
