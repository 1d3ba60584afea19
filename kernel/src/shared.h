#pragma once

#include "kernel.h"

Status shared_line(Composition *all, Saddle place, const Line **line);
