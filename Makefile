# What people type. CMake does the work, in build/; see docs/building.md.
#   make SETUP=no …    never installs packages
#   make JOBS=1 …      as many compilers at once (default: one per processor)

SETUP ?= yes
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
export SETUP JOBS
MAKEFLAGS += --no-print-directory

setup = $(if $(filter no,$(SETUP)),true,scripts/setup)

.DEFAULT_GOAL := build
.PHONY: build demo cluster-demo python wheel python-build test soak mutate faults bench bench-plots interop install format fuzz \
	docs gallery viewer-pictures verification clean help

# A page that could not be bundled is tried again once node and npm are there.
build: build/Makefile
	@if grep -qs 'RBT_PAGE_SIZE = 0;' build/page.c && command -v node npm >/dev/null; then rm build/page.c; fi
	@cmake --build build --parallel $(JOBS)

# Configured once; from then on CMake looks after itself, and an option set by hand stays.
build/Makefile:
	@$(setup) build
	@cmake -S . -B build -G "Unix Makefiles" -DRUBATO_TESTS=OFF

demo: build
	@build/rubato run scenes/demo.json -o out/demo
	@build/rubato render out/demo --frames 0,8,15,22,30,38 --columns 3 --color displacement -o out/demo/preview.png
	@echo
	@echo "Results in out/demo:"
	@echo "  preview.png   a sheet of pictures, for any image viewer"
	@echo "  frames.pvd    all frames: open in ParaView, press Apply, then Play"
	@echo "  energy.csv    energies and momenta of every frame; curves: build/rubato plot out/demo"
	@echo "  run.json      everything about the run"
	@echo
	@echo "See it move in the browser:"
	@echo "  build/rubato view out/demo"

# A body of 200,000 tets on two ranks of this machine. OpenMPI refuses root, and more ranks than cores, unless told.
cluster-demo: build/Makefile
	@$(setup) mpi
	@cmake -S . -B build -DRUBATO_MPI=ON >/dev/null
	@cmake --build build --parallel $(JOBS) --target rubato_cli rubato_mpi
	@OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --bind-to none -n 2 \
	    build/rubato-mpi run scenes/cluster/beam.json -o out/cluster-demo
	@if /usr/bin/python3 -c 'import vtk' 2>/dev/null; then \
	    scripts/merge-pieces out/cluster-demo/frames/frame_000010.pvtu out/cluster-demo/last.vtu && \
	    build/rubato render out/cluster-demo/last.vtu -o out/cluster-demo/last.png && \
	    echo "  last.png      the last frame, merged of its pieces"; \
	else echo "  (no picture: python3-vtk9, which merges pieces, is not there)"; fi
	@echo "  frames.pvd    all frames, in pieces: open in ParaView, press Apply, then Play"
	@echo "  run.json      everything about the run, with times, bytes and messages of each rank"

# The Python package, in a virtual environment that sees the system's numpy. The interpreter is the one that has it, which
# need not be the first in the path.
PYTHON ?= /usr/bin/python3
python: python-build
	@test -x build/python/bin/python || $(PYTHON) -m venv --system-site-packages build/python
	@RUBATO_BUILD=build build/python/bin/python -m pip install --quiet --disable-pip-version-check \
	    --no-build-isolation --no-index --no-deps --force-reinstall .
	@build/python/bin/python -c "import rubato; print('rubato', rubato.__version__, 'is in build/python')"
	@echo "  build/python/bin/python -m rubato scenes/demo.json     runs a scene"
	@echo "  . build/python/bin/activate                            makes python this one"

# One file for Python 3.11 and later, in dist/.
wheel: python-build
	@RUBATO_BUILD=build $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-index \
	    --no-deps --wheel-dir dist .
	@ls dist/rubato-*.whl

# What pip would build too, but without a word.
python-build: build/Makefile
	@$(setup) python
	@cmake -S . -B build -DRUBATO_PYTHON=ON -DRUBATO_PYTHON_INTERPRETER=$(PYTHON) >/dev/null
	@cmake --build build --parallel $(JOBS) --target rubato_python
	@rm -rf build/setuptools

test:
	@scripts/test

# Not part of `make test`, which runs a sample of the first and fewer checks of the sanitizers: an hour or so.
soak:
	@$(setup) test
	@cmake -S . -B build -G "Unix Makefiles" -DRUBATO_TESTS=ON
	@cmake --build build --parallel $(JOBS)
	@scripts/soak $(ARGS)
	@cmake -S . -B build-sanitize-whole -G "Unix Makefiles" -DRUBATO_SANITIZE=ON -DRUBATO_SANITIZE_WHOLE=ON \
	    -DRUBATO_PYTHON=OFF >/dev/null
	@cmake --build build-sanitize-whole --parallel $(JOBS) --target quick_tests
	@ctest --test-dir build-sanitize-whole --output-on-failure --no-tests=error -j $(JOBS) -L quick

mutate:
	@$(setup) test
	@scripts/mutate $(ARGS)

# Memory that fails at thousands of places, and 200 kills.
faults:
	@$(setup) test
	@cmake -S . -B build -G "Unix Makefiles" -DRUBATO_TESTS=ON
	@cmake --build build --parallel $(JOBS) --target rubato_cli failing_memory
	@scripts/faults $(ARGS)
	@scripts/kills $(ARGS)

bench: build
	@$(setup) test
	@cmake --build build --parallel $(JOBS) --target benchmarks bench_tools
	@scripts/bench build/rubato

# All figures measured here so far, as curves over time.
bench-plots: build
	@cmake --build build --parallel $(JOBS) --target bench_tools
	@scripts/history.py build/rubato

# One method's own benchmark, with its targets, and the page that repeats its paper's findings: bench/NAME/bench.py and
# bench/NAME/reproduce.py. ARGS=--quick is for trying them out.
bench-%: build
	@$(setup) test
	@cmake -S . -B build -G "Unix Makefiles"
	@cmake --build build --parallel $(JOBS) --target bench_tools
	@code=0; bench/$*/bench.py build/rubato $(ARGS) || code=$$?; scripts/history.py build/rubato && exit $$code

reproduce-%: build
	@$(setup) test
	@cmake -S . -B build -G "Unix Makefiles"
	@cmake --build build --parallel $(JOBS) --target bench_tools
	@bench/$*/reproduce.py build/rubato $(ARGS)

# Debian's Python has the packages that scripts/setup installs; another one in the path may not.
interop: build
	@$(setup) interop
	@cmake --build build --parallel $(JOBS) --target mesh_text
	@/usr/bin/python3 scripts/interop build/rubato $(ARGS)

install: build
	@cmake --install build --prefix "$(PREFIX)"
	@if [ "$$(id -u)" = 0 ] && [ -z "$(DESTDIR)" ] && command -v ldconfig >/dev/null; then ldconfig; fi

format:
	@$(setup) test
	@scripts/check-format --fix

# Ten minutes each; SECONDS_EACH=… for another time.
SECONDS_EACH ?= 600
fuzz:
	@$(setup) test
	@scripts/fuzz $(SECONDS_EACH)

docs: build
	@build/rubato schema -o docs/scene.schema.json
	@build/rubato schema --reference -o docs/scene.md

# Runs every scene, the long ones for their first frames: about ten minutes. ARGS="scenes/drop.json …" for some.
gallery: build
	@scripts/gallery build/rubato $(ARGS)

# The pictures of docs/viewer.md, made by the tests in a browser.
viewer-pictures: build
	@$(setup) test
	@test/cli/view_browser.sh build/rubato .
	@cp build/view-pictures/*.png docs/viewer/

# A minute or two; ends with an error if a figure is out of its bound.
verification:
	@$(setup) test
	@cmake -S . -B build -G "Unix Makefiles" -DRUBATO_TESTS=ON
	@cmake --build build --parallel $(JOBS) --target verification
	@build/test/verification docs/verification.md

clean:
	rm -rf build build-sanitize build-sanitize-whole build-fuzz build-mutate out dist

help:
	@echo "make           build build/rubato, and build/librubato and build/librubato_view, .a and .so"
	@echo "make demo      install what is missing, build, run scenes/demo.json, draw it: results in out/demo"
	@echo "make python    install the Python package into build/python; make wheel: one file of it, in dist"
	@echo "make test      install what is missing, build, run every test and check (see docs/building.md)"
	@echo "make test PARTS=core   the same without the tests of Python, of the viewer in a browser and of ranks"
	@echo "make soak      the unit tests with 30 seeds and every instruction set, the thread test with each set, all sanitizers"
	@echo "make mutate    break the library in the ways of test/mutate/table.txt: do tests notice?"
	@echo "make faults    memory that fails at thousands of places, and 200 runs that are killed: are the results right, or refused?"
	@echo "make bench     run the benchmarks; the figures are added to bench-history.csv, which stays, and drawn in out/bench"
	@echo "make bench-plots     draw the figures measured so far once more"
	@echo "make bench-dot       the solvers of the dot paper on its meshes, if they are there; ARGS=--quick tries it out"
	@echo "make reproduce-dot   what the dot paper found, measured anew: docs/reproduction/dot.md; ARGS=--quick tries it out"
	@echo "make reproduce-siere likewise for siere and ere: docs/reproduction/siere.md; ARGS=\"--only table stiffness\" times only"
	@echo "make reproduce-energy   what energy-euler promises: docs/energy.md; ARGS=--quick tries it out"
	@echo "make bench-auto      steps by error: errors asked for and found, work-precision plots in out/auto; ARGS=--quick tries it out"
	@echo "make reproduce-auto  what rubato chooses against all candidates on the shipped scenes: docs/auto.md; goes on where it stopped"
	@echo "make bench-contact   contact of implicit steps: four scenes beside IPC 2020, if their meshes are there, and growth"
	@echo "make bench-multirate, reproduce-multirate   the same for multirate-euler, on generated bodies"
	@echo "make reproduce-contact     contact of implicit steps against Hertz, waves, conservation and async-contact"
	@echo "make bench-python    what Python adds to a step, sim.x, and rollouts in Python's threads beside C's"
	@echo "make bench-view      what the viewer costs a run, how long a large run takes to open, the size of a page"
	@echo "make interop   exchange files with gmsh, meshio, VTK and Blender, in both directions; installs them"
	@echo "make install   PREFIX=/usr/local (DESTDIR is honoured)"
	@echo "make format    clang-format over all sources"
	@echo "make fuzz      every fuzz target for SECONDS_EACH=600 seconds, two at a time"
	@echo "make docs      write docs/scene.md and docs/scene.schema.json anew"
	@echo "make viewer-pictures   the screenshots of docs/viewer.md, made by the tests in a browser"
	@echo "make gallery   run and draw every scene: docs/gallery.md and its pictures; ARGS=scenes/drop.json for one"
	@echo "make verification  measure against analysis in full and write docs/verification.md anew"
	@echo "make clean     remove build folders and out/; bench-history.csv stays"
	@echo
	@echo "SETUP=no never installs packages; JOBS=N sets the number of compilers at once."
