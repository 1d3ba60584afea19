#pragma once

#include "kernel.h"

Status look_up(Watch *watch);
