#!/usr/bin/env bash
# tools/release/prepare.sh FOLDER VERSION: makes the sources of a release from a checkout without history in FOLDER. A release has a
# version, what the file owner beside this one says, and the opam files that will be published. This runs inside the toolchain.
set -euo pipefail

owner_file=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/owner
cd "$1"
version=$2
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
# Prints what the file owner says about $1.
owner() { sed -n "s/^$1 *= *//p" "$owner_file"; }
# Prints $1 as a string of OCaml and dune, for the right side of sed's s|||.
quoted() { printf '%s' "$1" | sed 's/[\\"]/\\&/g; s/.*/"&"/; s/[\\|&]/\\&/g'; }

# A release depends on Async, Picos and Miou (dune-project says why).
sed -i -E "s/^\(version dev\)$/(version $version)/; /^ *; checkout:$/,/^ \(synopsis/{/^ \(synopsis/!d}; s/^( *); release: /\1/" dune-project
grep -q "^(version $version)$" dune-project || die "dune-project has no line (version dev)"
if grep -E 'allow_empty|; (checkout|release):' dune-project >&2; then die "dune-project still has a line that is only for a checkout"; fi

# Replaces the line $2 of the file $1 by the text $3.
replace() {
  grep -qxF "$2" "$1" || die "$1 has no line '$2'"
  sed -i "s|^$2\$|$3|" "$1"
}
if [ -n "$(owner maintainer)" ]; then
  replace dune-project '(maintainers "The Concord authors")' "(maintainers $(quoted "$(owner maintainer)"))"
fi
# Each of these becomes a line above the packages.
for field in 'source (source (uri ADDRESS))' 'homepage (homepage ADDRESS)' 'bug-reports (bug_reports ADDRESS)'; do
  address=$(owner "${field%% *}")
  [ -z "$address" ] || sed -i "0,/^(license /s|^(license .*|&\n${field#* }|; s|ADDRESS|$(quoted "$address")|" dune-project
done
if [ -n "$(owner copyright)" ]; then
  holder=$(owner copyright)
  replace LICENSE 'Copyright (c) 2026 The Concord authors' "Copyright (c) 2026 $(printf '%s' "$holder" | sed 's/[\\|&]/\\&/g')"
fi

# Without (optional), a missing dependency is an error. With it, dune would silently leave out the library.
sed -i '/^ (optional)$/d' adapters/*/dune
for file in *.opam; do
  package=${file%.opam}
  # 32-bit systems are left out because nobody has tried one.
  available='arch != "x86_32" & arch != "arm32"'
  [ "$package" != concord-aio ] || available="os != \"win32\" & $available"
  # The pages of each package refer to all others (doc/site/odoc-config.sexp).
  others=$(printf '%s\n' *.opam | sed 's/\.opam$//' | grep -vx "$package" | sed 's/.*/"&" {= version}/' | paste -sd' ' -)
  # dune 3.17 can't generate these fields.
  printf 'available: %s\nx-maintenance-intent: ["(latest)"]\nx-extra-doc-deps: [%s]\n' "$available" "$others" >"$package.opam.template"
done
dune build --root . -- *.opam || die "dune cannot generate the opam files"
rm -r _build
