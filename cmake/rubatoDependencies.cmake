# The libraries rubato is made with: RUBATO_LIBRARIES (targets) and RUBATO_MISSING (sentences, empty if all is there).
# Used by the build and, once installed beside rubatoConfig.cmake, by programs that link the static library. A new
# library is one rubato_need line here, one -l in RUBATO_PRIVATE_FLAGS and one package in scripts/setup.

set(RUBATO_LIBRARIES)
set(RUBATO_MISSING)
# what rubato.pc tells
set(RUBATO_PRIVATE_FLAGS "-lumfpack -lcholmod -lmetis -larpack -lopenblas -ljansson -lzstd -lpng -lz -fopenmp -lm")

macro(rubato_need target what)
    if(TARGET ${target})
        list(APPEND RUBATO_LIBRARIES ${target})
    else()
        list(APPEND RUBATO_MISSING "${what}")
    endif()
endmacro()

# Libraries without package files: the header may sit in a folder `suffix` of its own.
macro(rubato_find_plain name header suffix)
    find_library(RUBATO_${name}_LIBRARY ${name})
    find_path(RUBATO_${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${suffix})
    mark_as_advanced(RUBATO_${name}_LIBRARY RUBATO_${name}_INCLUDE_DIR)
    if(RUBATO_${name}_LIBRARY AND RUBATO_${name}_INCLUDE_DIR AND NOT TARGET rubato::${name})
        add_library(rubato::${name} INTERFACE IMPORTED)
        target_link_libraries(rubato::${name} INTERFACE ${RUBATO_${name}_LIBRARY})
        target_include_directories(rubato::${name} INTERFACE ${RUBATO_${name}_INCLUDE_DIR})
    endif()
endmacro()

find_package(OpenMP QUIET COMPONENTS C)
find_package(ZLIB QUIET)
find_package(PNG QUIET)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(RUBATO_JANSSON QUIET IMPORTED_TARGET jansson)
    pkg_check_modules(RUBATO_ZSTD QUIET IMPORTED_TARGET libzstd)
    pkg_check_modules(RUBATO_OPENBLAS QUIET IMPORTED_TARGET openblas)
endif()
rubato_find_plain(cholmod cholmod.h suitesparse)
rubato_find_plain(umfpack umfpack.h suitesparse)
rubato_find_plain(metis metis.h "")
rubato_find_plain(arpack arpack/arpack.h "")

rubato_need(OpenMP::OpenMP_C "OpenMP for the C compiler (part of gcc; for clang: libomp-dev)")
rubato_need(PkgConfig::RUBATO_JANSSON "jansson (libjansson-dev, found with pkg-config)")
rubato_need(PkgConfig::RUBATO_ZSTD "zstd (libzstd-dev, found with pkg-config)")
rubato_need(ZLIB::ZLIB "zlib (zlib1g-dev)")
rubato_need(PNG::PNG "libpng (libpng-dev)")
rubato_need(rubato::cholmod "CHOLMOD (libsuitesparse-dev)")
rubato_need(rubato::umfpack "UMFPACK (libsuitesparse-dev)")
rubato_need(rubato::metis "METIS (libmetis-dev)")
rubato_need(rubato::arpack "ARPACK (libarpack2-dev)")
rubato_need(PkgConfig::RUBATO_OPENBLAS "OpenBLAS (libopenblas-dev, found with pkg-config)")
list(APPEND RUBATO_LIBRARIES m)
