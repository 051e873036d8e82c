#include "rubato/version.h"

rbt_version_info rbt_version(void) {
    return (rbt_version_info){RBT_VERSION_MAJOR, RBT_VERSION_MINOR, RBT_VERSION_PATCH, RBT_VERSION};
}
