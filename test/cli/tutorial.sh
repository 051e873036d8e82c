#!/usr/bin/env bash
# The programs of docs/tutorial.md compile without a warning against the library, run, and print what the page says:
# every ```c block is a program, and the ```text block behind it is what it prints.
set -eu
source "$(dirname "$0")/lib.sh"
page="$source_folder/docs/tutorial.md"
library=$(dirname "$rubato")

awk '/^```c$/ { inside = "c"; number++; next }
     /^```text$/ { inside = "text"; next }
     /^```/ { inside = ""; next }
     inside == "c" { print > "program" number ".c" }
     inside == "text" { print > "program" number ".txt" }' "$page"

count=0
for program in program*.c; do
    name=${program%.c}
    grep -q '^int main(' "$program" || fail "$program of the tutorial is not a complete program: $(head -3 "$program")"
    [ -f "$name.txt" ] || fail "the tutorial does not say what $program prints"
    cc -std=c17 -Wall -Wextra -Werror -I "$source_folder/include" "$program" \
        -L "$library" -Wl,-rpath,"$library" -lrubato -lm -o "$name" ||
        fail "$program of the tutorial does not compile"
    "./$name" >said.txt || fail "$program of the tutorial ended with $?; it said: $(cat said.txt)"
    diff "$name.txt" said.txt || fail "$program of the tutorial prints something else than the page says"
    count=$((count + 1))
done
[ "$count" -ge 9 ] || fail "only $count programs were found"
echo "$count programs"
