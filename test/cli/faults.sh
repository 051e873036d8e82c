#!/usr/bin/env bash
# What the world around a run can do to it: folders that are taken, links, devices, pipes, full disks, files that vanish, small stacks.
set -eu
source "$(dirname "$0")/lib.sh"
write_scene scene.json
run=("$rubato" run scene.json -q)
"${run[@]}" -o whole

# Two runs into one folder: the second is refused and changes nothing.
cp -r whole taken
before=$(cd taken && find . -type f -exec md5sum {} + | sort)
for more in "" --resume "--from-frame 3"; do
    # shellcheck disable=SC2086
    says 1 'taken: another run writes into this folder' flock taken "${run[@]}" -o taken $more
done
says 1 'another run writes into this folder' flock taken "$rubato" compare scene.json --methods semi-implicit -o taken -n 1
[ "$before" = "$(cd taken && find . -type f -exec md5sum {} + | sort)" ] || fail "a refused run changed files"
"${run[@]}" -o taken # free again
same_results whole taken

# A link is never followed out of the folder, neither to write nor to delete.
mkdir outside
echo mine >outside/frame_000000.vtu
echo mine >outside/000000.rbt
echo mine >outside/mine.txt
for folder in frames obj checkpoints; do
    rm -rf linked
    mkdir linked
    ln -s ../outside linked/$folder
    for vtu in true false; do
        says 1 "linked/$folder" "${run[@]}" -o linked --set output.vtu=$vtu
    done
done
rm -rf linked
mkdir -p linked/frames
for file in energy.csv run.json scene.json frames.pvd surface.pc2 frames/frame_000001.vtu frames/frame_000002.vtu.new energy.csv.new; do
    ln -s "$work/outside/mine.txt" linked/$file
done
"${run[@]}" -o linked
same_results whole linked
[ "$(cat outside/*)" = "$(printf 'mine\nmine\nmine')" ] || fail "something outside the folder was written"
[ "$(find outside -type f | wc -l)" = 3 ] || fail "something outside the folder was made or removed"
cp -r whole resumed
mv resumed/energy.csv outside/energy.csv
ln -s ../outside/energy.csv resumed/energy.csv
says 1 'energy.csv' "${run[@]}" -o resumed --from-frame 3
cmp whole/energy.csv outside/energy.csv
ln -s elsewhere by-name # but a folder may be named by a link
mkdir elsewhere
"${run[@]}" -o by-name
same_results whole elsewhere

# Devices and pipes stay what they are.
mkfifo pipe
cat pipe >from-pipe.svg &
"$rubato" plot whole -o pipe
wait
"$rubato" plot whole -o file.svg
cmp from-pipe.svg file.svg
[ -p pipe ] || fail "the pipe was replaced"
"$rubato" plot whole -o /dev/null
[ -c /dev/null ] || fail "/dev/null was replaced"
says 1 'cannot write the file: No space left on device' "$rubato" plot whole -o /dev/full
says 1 'there is a folder of this name' "$rubato" plot whole -o whole
says 1 'cannot make the folder: there is a device of this name' "${run[@]}" -o /dev/null
says 1 'cannot make the folder: there is a pipe of this name' "${run[@]}" -o pipe

# Meshes are files. A scene may come through a pipe.
mkfifo pipe.msh
ln -s /dev/zero zero.obj
says 1 'pipe.msh: is a pipe, not a file' timeout 20 "$rubato" info pipe.msh
says 1 'zero.obj: is a device, not a file' timeout 20 "$rubato" info zero.obj
says 1 'whole: is a folder, not a file' "$rubato" check whole
for mesh in pipe.msh zero.obj; do
    python3 - scene.json $mesh >bad.json <<'PYTHON'
import json, sys
scene = json.load(open(sys.argv[1]))
scene["bodies"][0]["mesh"] = {"file": sys.argv[2]}
print(json.dumps(scene))
PYTHON
    says 1 "$mesh: is a" timeout 20 "$rubato" run bad.json -o bad
    says 1 "$mesh: is a" timeout 20 "$rubato" check bad.json
done
"$rubato" check <(cat scene.json) | grep -q fine || fail "a scene through a pipe"
says 1 'is a device, not a file' timeout 20 "$rubato" check /dev/zero

# Files that vanish while a run continues, or before it continues.
python3 - scene.json >long.json <<'PYTHON'
import json, sys
scene = json.load(open(sys.argv[1]))
scene["time"]["end"] = 400
print(json.dumps(scene))
PYTHON
vanish() { # vanish NAME SENTENCE [FRAMES]: deleted after some frames
    rm -rf gone
    code=0
    "$rubato" run long.json -o gone -q -n "${3:-10000}" 2>gone.txt &
    until [ -e gone/frames/frame_000004.vtu ]; do sleep 0.01; done
    rm "gone/$1"
    wait $! || code=$?
    [ $code = 1 ] || fail "$1 vanished, exit code $code"
    grep -q "gone/$1: $2" gone.txt || fail "$1 vanished: $(cat gone.txt)"
    grep -q '"status": "failed"' gone/run.json || fail "$1 vanished, but run.json does not say failed"
}
vanish energy.csv 'was deleted or replaced'
vanish frames.pvd 'was deleted or replaced'
vanish frames/frame_000002.vtu 'is missing: it was deleted while the run continued' 60
for file in frames/frame_000002.vtu frames/frame_000012.vtu obj/frame_000007.obj surface.pc2; do
    rm -rf gap
    cp -r whole gap
    rm gap/$file
    says 1 "gap/$file" "${run[@]}" -o gap --resume
done

# What is printed must arrive.
for command in methods schema "schema --reference" help "run --help" --version "info whole/frames/frame_000001.vtu" "check scene.json" \
    "verify whole --json" "verify whole" "run scene.json -o printed -n 1" "run scene.json -o printed -n 1 --log json" \
    "compare scene.json --methods semi-implicit -n 1 -o compared" "sweep scene.json --set time.step=0.01,0.02 -n 1 -o swept" "mesh bar -o bar.msh" "plot whole -o curves.svg" "render whole -o picture.png"; do
    # shellcheck disable=SC2086
    says 1 'cannot write to standard output: No space left on device' bash -c '"$@" >/dev/full' - "$rubato" $command
done

# Threads and their stacks
says 2 '--threads must be at least 1 and at most 1024, found 100000' "${run[@]}" -t 100000 -o threads
"${run[@]}" -t 64 -o threads
same_results whole threads
for size in 64 200; do
    (ulimit -Ss $size && "${run[@]}" -t 3 -o stacks)
    same_results whole stacks
    (ulimit -s $size && says 1 "the stack is limited to $size KB, but 1024 KB are needed" "${run[@]}" -o stacks)
done
says 1 'OMP_STACKSIZE gives threads a stack of 64 KB' env OMP_STACKSIZE=64K "${run[@]}" -o stacks
env OMP_STACKSIZE=1M "${run[@]}" -t 3 -o stacks
same_results whole stacks

# Folders that are missing or cannot be written to
says 1 'nowhere/a.svg: cannot write the file: there is no folder nowhere' "$rubato" plot whole -o nowhere/a.svg
says 1 'nowhere/a.msh: cannot write the file: there is no folder nowhere' "$rubato" mesh bar -o nowhere/a.msh
says 1 'a-file: cannot make the folder: there is a file of this name' bash -c 'touch a-file && "$@"' - "${run[@]}" -o a-file/below
says 1 'no-folder: is no folder' "${run[@]}" -o no-folder --resume
if [ "$(id -u)" != 0 ]; then
    mkdir locked
    chmod 555 locked
    says 1 'locked/run: cannot make the folder: Permission denied' "${run[@]}" -o locked/run
    says 1 'the folder locked cannot be written to (Permission denied)' "$rubato" plot whole -o locked/a.svg
fi
if [ ! -w /sys ] || ! mkdir /sys/rubato 2>/dev/null; then
    says 1 '/sys/rubato: cannot make the folder: ' "${run[@]}" -o /sys/rubato/run
fi
echo "folders, links, devices, pipes, vanishing files, full disks, stacks: all as it should be"
