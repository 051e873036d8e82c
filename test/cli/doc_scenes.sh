#!/usr/bin/env bash
# The scenes that README.md and docs/guide.md show are right, and the commands that they show for them work.
set -eu
source "$(dirname "$0")/lib.sh"
count=0
for page in README.md docs/guide.md; do
    awk '/^```json$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$source_folder/$page" >jelly.json
    grep -q '"rubato": 1' jelly.json || fail "$page has no scene"
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
