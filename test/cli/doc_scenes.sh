#!/usr/bin/env bash
# The scenes that README.md and docs/guide.md show are right, and the commands that they show for them work.
set -eu
source "$(dirname "$0")/lib.sh"
count=0
for page in README.md docs/guide.md; do
    rm -f block*.json
    awk '/^```json$/ { inside = 1; n++; next } /^```/ { inside = 0 } inside { print > ("block" n ".json") }' "$source_folder/$page"
    mv block1.json jelly.json
    grep -q '"rubato": 1' jelly.json || fail "$page has no scene"
    for block in block*.json; do # others run as they are
        grep -qs '"rubato": 1' "$block" || continue
        says 0 finished "$rubato" run "$block" -o "block" -n 2
        count=$((count + 1))
    done
    says 0 'jelly.json: fine: 1 body' "$rubato" check jelly.json
    # The commands as they stand there, for a fifth of the time.
    sed -i 's/"end": 2/"end": 0.4/' jelly.json
    while IFS= read -r command; do
        case "$command" in
        "build/rubato render"*) command=${command/0,10,20,last/0,last} ;;
        esac
        eval "${command/#build\/rubato/\"$rubato\"}" >said.txt 2>&1 ||
            fail "$page: $command ended with $?: $(cat said.txt)"
        count=$((count + 1))
    done < <(grep -E '^    build/rubato (check|run|render|plot|verify) (jelly\.json|out/jelly)' "$source_folder/$page" |
        sed 's/ *#.*//; s/^ *//' | grep -v -e --resume -e --from-frame)
    rm -rf out
done
[ "$count" -ge 10 ] || fail "only $count commands were found"
echo "$count commands"
