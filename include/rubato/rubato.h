// rubato: elastodynamics in which every part of a body may keep its own tempo. This header includes all others
// but rubato/view.h, which is of a library of its own.
#ifndef RUBATO_RUBATO_H
#define RUBATO_RUBATO_H

#include "rubato/error.h"
#include "rubato/input.h"
#include "rubato/mesh.h"
#include "rubato/methods.h"
#include "rubato/query.h"
#include "rubato/scene.h"
#include "rubato/sim.h"
#include "rubato/state.h"
#include "rubato/version.h"

#endif
