#!/usr/bin/env bash
# docs/gallery.md shows every shipped scene with its own "about" text, its picture and a command that exists; and
# scripts/gallery --check finds what is missing.
set -eu
source "$(dirname "$0")/lib.sh"
page="$source_folder/docs/gallery.md"
says 0 ' scenes' "$source_folder/scripts/gallery" --check

# Every scene has its row, whatever the script thinks of it.
count=0
while IFS= read -r scene; do
    grep -qF "\`build/rubato run ${scene#"$source_folder/"}\`" "$page" ||
        fail "docs/gallery.md has no command for $scene"
    count=$((count + 1))
done < <(find "$source_folder/scenes" -name '*.json')
[ "$(grep -c '^| <img src=' "$page")" = "$count" ] || fail "docs/gallery.md should have $count pictures"

# A copy of what the check reads, to break.
mkdir -p copy/docs copy/scripts
cp -r "$source_folder/scenes" copy/
cp -r "$source_folder/docs/gallery" "$page" "$source_folder/docs/reproduction" copy/docs/
cp "$source_folder/scripts/gallery" copy/scripts/
says 0 "$count scenes" copy/scripts/gallery --check
rm copy/docs/gallery/drop.png
says 1 'docs/gallery/drop.png is missing' copy/scripts/gallery --check
cp copy/docs/gallery/demo.png copy/docs/gallery/drop.png
cp copy/scenes/drop.json copy/scenes/new.json
says 1 'docs/gallery/new.png is missing' copy/scripts/gallery --check
says 1 'docs/gallery.md does not belong to the scenes' copy/scripts/gallery --check
mv copy/scenes/new.json copy/scenes/drop.json
sed -i 's/"about": "A cloth/"about": "The cloth/' copy/scenes/cloth-drape.json
says 1 'docs/gallery.md does not belong to the scenes' copy/scripts/gallery --check
copy/scripts/gallery --page
says 0 "$count scenes" copy/scripts/gallery --check
rm copy/scenes/drop.json
says 1 'docs/gallery/drop.png belongs to no scene' copy/scripts/gallery --check
says 1 'docs/gallery.md has the command of scenes/drop.json, which does not exist' copy/scripts/gallery --check
