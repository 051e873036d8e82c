// What a typical step does, in operations on all bodies: with what such an operation costs on a machine, a prediction
// of its time (sim/choice.h). Numbers are rough means over the shipped scenes.
#ifndef RBT_STEP_CORE_STEP_WORK_H
#define RBT_STEP_CORE_STEP_WORK_H

typedef struct rbt_step_work {
    double gradients;   // evaluations of all forces
    double assemblies;  // of the stiffness matrix
    double factors;     // of that matrix, by Cholesky's decomposition
    double solves;      // with the factor
} rbt_step_work;

#endif
