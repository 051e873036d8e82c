// rubato: elastodynamics in which every part of a body may keep its own tempo. This header includes all others.
#ifndef RUBATO_RUBATO_H
#define RUBATO_RUBATO_H

#include "rubato/error.h"
#include "rubato/mesh.h"
#include "rubato/scene.h"
#include "rubato/shapes.h"
#include "rubato/sim.h"

#endif
