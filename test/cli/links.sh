#!/usr/bin/env bash
# Every relative link of README.md and docs/ leads to a file and a heading that exist, and scripts/check-links finds
# those that do not.
set -eu
source "$(dirname "$0")/lib.sh"
check="$source_folder/scripts/check-links"

says 0 ' pages' "$check" "$source_folder"

mkdir -p docs/deep
cat >docs/deep/other.md <<'EOF_PAGE'
# A heading: with `code`, and more

## Twice

## Twice

```
# no heading
[no link](nowhere.md)
```

    [no link either](nowhere.md)
EOF_PAGE
# expect LINK [SENTENCE]: a page with one link on its third line, and what must be said about it; nothing if it is good.
expect() {
    printf '# Top\n\nA line with %s in it.\n' "$1" >README.md
    if [ $# = 1 ]; then says 0 '2 pages' "$check" "$work"; else says 1 "README.md:3: $2" "$check" "$work"; fi
}
expect 'nothing'
expect '[a page](docs/deep/other.md)'
expect '[a folder](docs/deep)'
expect '[a heading](docs/deep/other.md#a-heading-with-code-and-more)'
expect '[the second](docs/deep/other.md#twice-1)'
expect '[this page](#top)'
expect '[another site](https://example.org/nowhere.md)'
expect '`[code](nowhere.md)`'
expect '[gone](docs/gone.md)' 'docs/gone.md does not exist'
expect '![gone](docs/gone.png)' 'docs/gone.png does not exist'
expect '<img src="docs/gone.png" width="10">' 'docs/gone.png does not exist'
expect '[![gone](docs/gone.png)](docs/deep/other.md)' 'docs/gone.png does not exist'
expect '[no heading](docs/deep/other.md#nothing)' 'docs/deep/other.md has no heading #nothing'
expect '[in a fence](docs/deep/other.md#no-heading)' 'docs/deep/other.md has no heading #no-heading'
expect '[a third](docs/deep/other.md#twice-2)' 'docs/deep/other.md has no heading #twice-2'
expect '[not here](#bottom)' 'README.md has no heading #bottom'
