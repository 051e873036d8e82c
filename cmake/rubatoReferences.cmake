# What tests compare rubato's solvers with and benchmarks measure them by, and the library and the command never link:
# CHOLMOD and UMFPACK (GPL), ARPACK, OpenBLAS. RUBATO_REFERENCES (targets) and RUBATO_REFERENCES_MISSING (sentences,
# empty if all is there).
set(RUBATO_REFERENCES)
set(RUBATO_REFERENCES_MISSING)
if(PkgConfig_FOUND)
    pkg_check_modules(RUBATO_OPENBLAS QUIET IMPORTED_TARGET openblas)
endif()
rubato_find_plain(umfpack umfpack.h suitesparse)
rubato_find_plain(cholmod cholmod.h suitesparse)
rubato_find_plain(arpack arpack/arpack.h "")

rubato_need(RUBATO_REFERENCES rubato::umfpack "UMFPACK (libsuitesparse-dev)")
rubato_need(RUBATO_REFERENCES rubato::cholmod "CHOLMOD (libsuitesparse-dev)")
rubato_need(RUBATO_REFERENCES rubato::arpack "ARPACK (libarpack2-dev)")
rubato_need(RUBATO_REFERENCES PkgConfig::RUBATO_OPENBLAS "OpenBLAS (libopenblas-dev, found with pkg-config)")
