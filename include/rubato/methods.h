// The options of the time-stepping methods, for rbt_integrator_def.options.
//
//   rbt_siere_options options = rbt_siere_options_default();
//   options.modes = 10;
//   scene.integrator.method = rbt_method_find("siere");
//   scene.integrator.options = &options;
//
// Every struct starts from its _default() function, which sets its cookie and knows every default; a struct of
// another method, or without its cookie, is refused by rbt_sim_create. Limits and units of all members are in
// docs/scene.md. The struct must live until rbt_sim_create returns. symplectic-euler and schroeder have no
// options: NULL.
#ifndef RUBATO_METHODS_H
#define RUBATO_METHODS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Index of a material or method by name, for rbt_material_def.model and rbt_integrator_def.method; -1 if there is none.
int rbt_material_find(const char *name);
int rbt_method_find(const char *name);

// Index of one of a method's solvers by name, for rbt_integrator_def.solver; -1 if the method has none of that name.
int rbt_solver_find(int method, const char *name);

// Names in the order of the tables: NULL for an index past their end. They live as long as the program.
const char *rbt_material_name(int material);
const char *rbt_method_name(int method);
const char *rbt_solver_name(int method, int solver);

// ---- backward-euler, implicit-midpoint, bdf2

typedef enum rbt_stop_test { RBT_STOP_FORCE, RBT_STOP_CHARACTERISTIC, RBT_STOP_STALL, RBT_STOP_STEP } rbt_stop_test;
typedef enum rbt_step_start { RBT_START_BEST, RBT_START_PREDICTOR } rbt_step_start;
typedef enum rbt_at_cap { RBT_CAP_FAILS, RBT_CAP_CONTINUES } rbt_at_cap;
typedef enum rbt_variant_of_dot { RBT_DOT_FAST, RBT_DOT_PAPER } rbt_variant_of_dot;
typedef enum rbt_linear_of_newton {
    RBT_NEWTON_CHOLESKY,
    RBT_NEWTON_CG,
    RBT_NEWTON_SCHWARZ,
    RBT_NEWTON_GAMG,
    RBT_NEWTON_MUMPS
} rbt_linear_of_newton;

typedef struct rbt_implicit_options {
    uint64_t cookie;
    double tolerance;    // of the stop test, relative; NaN: the test's own
    int stop;            // rbt_stop_test
    int start;           // rbt_step_start
    int max_iterations;  // -1: the solver's own
    int at_cap;          // rbt_at_cap
    int subdomains;      // of the solver dot; -1: chosen
    int variant;         // rbt_variant_of_dot
    int linear;          // rbt_linear_of_newton
} rbt_implicit_options;
rbt_implicit_options rbt_implicit_options_default(void);

// ---- energy-euler

typedef enum rbt_energy_goal { RBT_ENERGY_KEPT, RBT_ENERGY_FREE } rbt_energy_goal;

typedef struct rbt_energy_euler_options {
    rbt_implicit_options solver;  // how a step is solved; its cookie is that of the whole
    int energy;                   // rbt_energy_goal
    double decay;                 // [1/s] rate at which vibrations lose energy
    double implicitness;          // 1/2 to 1; NaN: chosen
} rbt_energy_euler_options;
rbt_energy_euler_options rbt_energy_euler_options_default(void);

// ---- semi-implicit

typedef struct rbt_semi_implicit_options {
    uint64_t cookie;
    int subdomains;  // of the solver schwarz; -1: chosen
} rbt_semi_implicit_options;
rbt_semi_implicit_options rbt_semi_implicit_options_default(void);

// ---- siere

typedef enum rbt_at_indefinite { RBT_INDEFINITE_PROJECTS, RBT_INDEFINITE_FACTORS } rbt_at_indefinite;

typedef struct rbt_siere_options {
    uint64_t cookie;
    int modes;            // integrated exactly; -1: as many as the next three ask for
    double modes_below;   // [Hz]; NaN: ten steps in a period
    double modes_energy;  // share of the kinetic energy; 0: do not look at it
    int max_modes;
    double tolerance;
    int indefinite;  // rbt_at_indefinite
    int subdomains;  // of solver schwarz; -1: chosen
} rbt_siere_options;
rbt_siere_options rbt_siere_options_default(void);

// ---- ere

typedef struct rbt_ere_options {
    uint64_t cookie;
    double tolerance;   // error of the exponential beside the change that a step makes
    int max_dimension;  // of the Krylov space
    int max_products;   // with the stiffness, in a step
} rbt_ere_options;
rbt_ere_options rbt_ere_options_default(void);

// ---- imex

typedef struct rbt_imex_options {
    uint64_t cookie;
    double safety;        // of the local test
    int rings;            // of nodes around ill-shaped elements
    bool certify;         // the explicit nodes, beyond the local test
    bool release;         // nodes of ill-shaped elements that can be explicit after all
    double tolerance;     // of the implicit nodes' equation, relative
    double rotation_lag;  // of a stiffness that is kept
} rbt_imex_options;
rbt_imex_options rbt_imex_options_default(void);

// ---- multirate-euler

typedef struct rbt_multirate_options {
    uint64_t cookie;
    int regions;        // 0: the bodies' tempi, 1: chosen where sound is fast
    int interpolation;  // how a part with long steps moves: 0 by the interpolated velocity, 1 by that at their end
    int modes;          // integrated exactly beside the rest; 0: none
} rbt_multirate_options;
rbt_multirate_options rbt_multirate_options_default(void);

// ---- async-contact

typedef struct rbt_async_contact_options {
    uint64_t cookie;
    double stiffness;       // of the outermost layer [N/m]
    double thickness;       // distance at which it begins to push [m]; NaN: chosen
    double restitution;     // 0 to 1
    double friction;        // Coulomb's coefficient
    double safety;          // of the layers' clocks; NaN: chosen by the restitution
    double elastic_safety;  // of the elements' clocks
    double floor;           // [s] no clock may be faster
    double max_moments;     // in a step
    bool contact;           // bodies feel each other and themselves
    bool slack;             // certificates allow for small changes of velocity; changes no bit of the result
} rbt_async_contact_options;
rbt_async_contact_options rbt_async_contact_options_default(void);

#ifdef __cplusplus
}
#endif
#endif
