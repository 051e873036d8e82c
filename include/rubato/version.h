// Which rubato this is.
//
// The macros are those of the headers a program was compiled with, rbt_version() those of the library it runs with. A
// program fits a library of the same major and minor number. Structs that a caller fills (rbt_scene, rbt_body_def, the
// options of methods) also carry a cookie that their rbt_…_default() function sets: rbt_sim_create refuses a struct of
// another version, or one that was never made by its function, with a sentence.
#ifndef RUBATO_VERSION_H
#define RUBATO_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define RBT_VERSION_MAJOR 0
#define RBT_VERSION_MINOR 1
#define RBT_VERSION_PATCH 0
#define RBT_VERSION       "0.1.0"

typedef struct rbt_version_info {
    int major, minor, patch;
    const char *text;  // "0.1.0"; lives as long as the program
} rbt_version_info;

// Needs nothing, changes nothing, cannot fail.
rbt_version_info rbt_version(void);

#ifdef __cplusplus
}
#endif
#endif
