# The libraries rubato is made with. RUBATO_LIBRARIES (targets) and RUBATO_LIBRARIES_MISSING (sentences, empty if all
# is there) are those of librubato, RUBATO_VIEW_LIBRARIES and RUBATO_VIEW_LIBRARIES_MISSING what librubato_view takes
# beside them. Used by the build and, once installed beside rubatoConfig.cmake, by programs that link the static
# libraries. A new library is one rubato_need line here, one -l in the flags below, one package in scripts/setup and
# one line with its licence in scripts/check-libraries.

set(RUBATO_LIBRARIES)
set(RUBATO_LIBRARIES_MISSING)
set(RUBATO_VIEW_LIBRARIES)
set(RUBATO_VIEW_LIBRARIES_MISSING)
# what rubato.pc and rubato_view.pc tell
set(RUBATO_PRIVATE_FLAGS "-lklu -lamd -lmetis -ljansson -lzstd -lz -lgmp -fopenmp -lm")
set(RUBATO_VIEW_PRIVATE_FLAGS "-lpng -lz")

# Adds a target to a list, or a sentence to the list of what it misses.
macro(rubato_need list target what)
    if(TARGET ${target})
        list(APPEND ${list} ${target})
    else()
        list(APPEND ${list}_MISSING "${what}")
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
endif()
rubato_find_plain(klu klu.h suitesparse)
rubato_find_plain(amd amd.h suitesparse)
rubato_find_plain(metis metis.h "")
rubato_find_plain(gmp gmp.h "")
rubato_find_plain(civetweb civetweb.h "")

rubato_need(RUBATO_LIBRARIES OpenMP::OpenMP_C "OpenMP for the C compiler (part of gcc, for clang libomp-dev)")
rubato_need(RUBATO_LIBRARIES PkgConfig::RUBATO_JANSSON "jansson (libjansson-dev, found with pkg-config)")
rubato_need(RUBATO_LIBRARIES PkgConfig::RUBATO_ZSTD "zstd (libzstd-dev, found with pkg-config)")
rubato_need(RUBATO_LIBRARIES ZLIB::ZLIB "zlib (zlib1g-dev)")
rubato_need(RUBATO_LIBRARIES rubato::klu "KLU (libsuitesparse-dev)")
rubato_need(RUBATO_LIBRARIES rubato::amd "AMD (libsuitesparse-dev)")
rubato_need(RUBATO_LIBRARIES rubato::metis "METIS (libmetis-dev)")
rubato_need(RUBATO_LIBRARIES rubato::gmp "GMP (libgmp-dev)")
list(APPEND RUBATO_LIBRARIES m)
rubato_need(RUBATO_VIEW_LIBRARIES PNG::PNG "libpng (libpng-dev)")
rubato_need(RUBATO_VIEW_LIBRARIES ZLIB::ZLIB "zlib (zlib1g-dev)")
rubato_need(RUBATO_SERVE_LIBRARIES rubato::civetweb "civetweb (libcivetweb-dev)")
rubato_need(RUBATO_SERVE_LIBRARIES ZLIB::ZLIB "zlib (zlib1g-dev)")
