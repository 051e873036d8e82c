#include "step/subdomain/linear_kind.h"

#include "step/subdomain/schwarz.h"

const char *rbt_linear_name(int kind) {
    static const char *const NAMES[] = {"cholesky", "cg", "schwarz", "petsc-gamg", "petsc-mumps"};
    return kind >= 0 && kind < RBT_LINEAR_KINDS ? NAMES[kind] : NULL;
}

bool rbt_linear_on_ranks(int kind) { return kind >= RBT_LINEAR_SCHWARZ; }

size_t rbt_linear_subdomains(const rbt_model *m, int kind, int asked) {
    return kind == RBT_LINEAR_SCHWARZ ? rbt_schwarz_subdomains(m->node_count, asked) : 0;
}

bool rbt_linear_init_kind(rbt_linear *l, const rbt_model *m, const rbt_block_matrix *A, int kind, int subdomains,
                          rbt_error *error) {
    if (kind < RBT_LINEAR_SCHWARZ) return rbt_linear_init(l, m, A, kind == RBT_LINEAR_CG, error);
    *l = (rbt_linear){.model = m, .A = A};
    if (kind == RBT_LINEAR_SCHWARZ)
        return rbt_schwarz_new(m, A, rbt_schwarz_subdomains(m->node_count, subdomains), &l->other, error);
    if (!m->ranks)
        return rbt_fail_path(
            error, NULL, "integrator",
            "%s is a solver of rubato-mpi, which has PETSc: mpirun -n 2 rubato-mpi run SCENE; here take "
            "cholesky or schwarz",
            rbt_linear_name(kind));
    return m->ranks->solver(m->ranks->self, rbt_linear_name(kind), m, A, &l->other, error);
}
