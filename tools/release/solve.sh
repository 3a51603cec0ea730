#!/usr/bin/env bash
# tools/release/solve.sh PACKAGES CHECKOUT WORK [SNAPSHOT]: asks opam's solver whether each package of the repository PACKAGES can
# be installed, with and without its tests, on each minor version of OCaml from 5.3, and whether the command in HACKING.md can install
# what the opam files in the folder CHECKOUT need. SNAPSHOT is a copy of the opam repository. Without it, the other packages are
# made up from our bounds, so the solver can only find a contradiction between our own files. This runs inside the toolchain, and
# in the empty folder WORK. It prints what can't be installed, and the solver's reason.
set -euo pipefail

ours=$1 checkout=$2 work=$3 snapshot=${4:-}
minors="5.3 5.4 5.5"
say() { printf 'release: %s\n' "$*" >&2; }

# Prints the field $1 of the opam files of standard input.
field() { sed -n "/^$1:.*]\$/p; /^$1: \\[\$/,/^]/p"; }
# Prints the names of packages in a field.
names() { grep -oE '"[A-Za-z][A-Za-z0-9_+-]*"' | tr -d '"' | sort -u; }

others=$work/others
mkdir -p "$others/packages"
echo 'opam-version: "2.0"' >"$others/repo"
ls "$ours/packages" >"$work/our-names"
# The workflow installs these beside the packages of a checkout.
printf '%s\n' ocaml-base-compiler async picos picos_std picos_io picos_mux moonpool miou >"$work/known"
cat "$ours"/packages/*/*/opam "$checkout"/*.opam | field depends | names >>"$work/known"
sort -u "$work/known" | grep -vxFf "$work/our-names" >"$work/new"
cp "$work/new" "$work/direct"
result=0

if [ -n "$snapshot" ]; then
  [ -d "$snapshot/packages/ocaml-base-compiler" ] || { say "$snapshot is not a copy of the opam repository"; exit 1; }
  while read -r name; do
    [ -d "$snapshot/packages/$name" ] || { say "the snapshot has no package named $name"; result=1; }
  done <"$work/new"
  while read -r name; do
    [ ! -e "$snapshot/packages/$name" ] || say "the snapshot has a package $name already"
  done <"$work/our-names"
  # Copies only what our packages may need, because opam reads the whole repository for each question.
  cp "$work/new" "$work/known"
  while [ -s "$work/new" ]; do
    while read -r name; do
      [ -d "$snapshot/packages/$name" ] || continue
      cp -r "$snapshot/packages/$name" "$others/packages/"
      cat "$snapshot/packages/$name"/*/opam
    done <"$work/new" | field depends | names | { grep -vxFf "$work/known" || true; } >"$work/next"
    cat "$work/next" >>"$work/known"
    mv "$work/next" "$work/new"
  done
else
  # Each other package has the versions that our bounds name, and one that is newer than all of these.
  made() { mkdir -p "$others/packages/$1/$1.$2"; printf 'opam-version: "2.0"\n%s\n' "${3:-}" >"$others/packages/$1/$1.$2/opam"; }
  bounds=$(cat "$ours"/packages/*/*/opam "$checkout"/*.opam | field depends)
  while read -r name; do
    case $name in ocaml | ocaml-base-compiler) continue ;; esac
    for version in $(grep -E "^ *\"$name\"" <<<"$bounds" | grep -oE '>= "[^"]*"' | grep -oE '[^" >=]+' | sort -u); do made "$name" "$version"; done
    grep -E "^ *\"$name\"" <<<"$bounds" | grep -qE '< "' || made "$name" 9999
  done <"$work/new"
  for minor in $minors; do
    made ocaml-base-compiler "$minor.0"
    made ocaml "$minor.0" "depends: [\"ocaml-base-compiler\" {= \"$minor.0\"}]"
  done
fi

export OPAMROOT=$work/opam OPAMYES=1 OPAMROOTISOK=1
# The packages of the checkout have the version dev.
mkdir -p "$work/checkout"
echo 'opam-version: "2.0"' >"$work/checkout/repo"
for file in "$checkout"/*.opam; do
  name=$(basename "$file" .opam)
  mkdir -p "$work/checkout/packages/$name/$name.dev"
  sed '/^version:/d; /^pin-depends:/,/^]/d' "$file" >"$work/checkout/packages/$name/$name.dev/opam"
done
{
  opam init --bare --no-setup --disable-sandboxing --no-opamrc others "$others" </dev/null
  opam repository add --dont-select ours "$ours"
  opam repository add --dont-select checkout "$work/checkout"
} >"$work/log" 2>&1 || { cat "$work/log" >&2; say "opam cannot read the repositories"; exit 1; }

# solve WHAT REPOSITORY OPTIONS ATOMS: whether these can be installed together.
solve() {
  local what=$1 repository=$2 options=$3 atoms=$4
  # shellcheck disable=SC2086  # options is a list of words
  if opam list --no-switch --repos="$repository,others" $options --resolve="$atoms" --short --columns=package >"$work/solution" 2>"$work/log" </dev/null &&
    [ -s "$work/solution" ]; then return; fi
  say "opam cannot install $what:"
  cat "$work/log" >&2
  result=1
}

count=0
for minor in $minors; do
  # Betas and options have more than digits and dots in their names.
  # shellcheck disable=SC2012
  compiler=$(ls "$others/packages/ocaml-base-compiler" | grep -xE "ocaml-base-compiler\.$minor\.[0-9]+" | sort -V | tail -n 1)
  [ -n "$compiler" ] || { say "NOT CHECKED: OCaml $minor, which the snapshot doesn't have"; result=1; continue; }
  while read -r name; do
    version=$(ls "$ours/packages/$name")
    solve "$name on $compiler" ours '' "$version,$compiler"
    solve "$name with its tests on $compiler" ours --with-test "$version,$compiler"
    count=$((count + 2))
  done <"$work/our-names"
  all=$(sed 's/$/.dev/' "$work/our-names" | paste -sd,)
  solve "all packages of a checkout with their tests on $compiler" checkout --with-test "$all,$compiler"
  solve "all packages of a checkout with their tests, Async, Picos, Moonpool and Miou on $compiler" checkout --with-test \
    "$all,$compiler,async,picos,picos_std,picos_io,picos_mux,moonpool,miou"
  count=$((count + 2))
done
[ $result = 0 ] || exit 1
say "opam's solver finds $count solutions for OCaml ${minors// /, }"
# Whoever releases sees here which version nobody has tried.
[ -z "$snapshot" ] ||
  say "with everything on $compiler, it takes $(grep -E "^($(paste -sd'|' "$work/direct"))\." "$work/solution" | paste -sd' ')"
