#!/bin/sh
# build.sh SOURCE TARGET: makes a program of the rows of Node.js. If Node.js is not installed, the target is an empty file.
set -eu
if node=$(command -v node); then
  { echo "#!$node"; cat "$1"; } >"$2"
  chmod +x "$2"
else
  : >"$2"
fi
