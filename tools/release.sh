#!/usr/bin/env bash
# tools/release.sh FOLDER VERSION TESTS: packs the sources in FOLDER/concord-VERSION, which have no history, as
# FOLDER/concord-VERSION.tbz, and checks what was packed: each package is linted, built as opam builds it from what is
# installed of the others, tested (unless TESTS is empty) and installed; then a program of somebody else is built with
# them. This runs inside the toolchain. Nothing is published.
set -euo pipefail

# Read as a whole before it runs: it takes minutes, in which this file may change.
{
folder=$1 version=$2 tests=$3
name=concord-$version
say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

cd "$folder/$name"

# --- The sources -----------------------------------------------------------------------------------------------------

say "the sources"
for file in README.md CHANGES.md LICENSE dune-project; do [ -s "$file" ] || die "there is no $file"; done
[ ! -e .git ] || die "the archive would contain .git"
# In the order in which they can be installed.
packages="concord-suspend concord concord-generator concord-schedulers concord-testkit ppx_concord concord-eio concord-domainslib concord-trace concord-aio concord-lwt concord-async concord-picos concord-miou"
[ "$(printf '%s.opam\n' $packages | sort)" = "$(ls -- *.opam)" ] || die "the packages are not those that tools/release.sh knows"
# If you install all packages of a checkout, you get nothing of Async's, Picos's or Miou's: they are among the depopts only.
for package in $packages; do
  if sed -n '/^depends:/,/^]/p' "$package.opam" | grep -E '"(async|core|picos|miou)'; then die "$package depends on Async, Picos or Miou"; fi
done

# What is published differs from a checkout: it has a version, depends on Async, Picos and Miou (dune-project says why), and
# the opam files have fields that dune 3.17 cannot write by itself.
sed -i -E "s/^\(version dev\)$/(version $version)/; /^ *; checkout:$/,/^ \(synopsis/{/^ \(synopsis/!d}; s/^( *); release: /\1/" dune-project
grep -q "^(version $version)$" dune-project || die "dune-project has no line (version dev)"
if grep -E 'allow_empty|; (checkout|release):' dune-project; then die "dune-project still has a part of a checkout"; fi
# Otherwise dune leaves a library out in silence if it has no such dependency.
sed -i '/^ (optional)$/d' adapters/*/dune
for package in $packages; do
  # 32-bit systems are left out because nobody has tried one.
  available='arch != "x86_32" & arch != "arm32"'
  [ "$package" != concord-aio ] || available="os != \"win32\" & $available"
  # The pages of each package refer to all others (doc/site/odoc-config.sexp).
  others=$(printf '%s\n' $packages | grep -vx "$package" | sed 's/.*/"&" {= version}/' | paste -sd' ' -)
  printf 'available: %s\nx-maintenance-intent: ["(latest)"]\nx-extra-doc-deps: [%s]\n' "$available" "$others" \
    >"$package.opam.template"
done
# shellcheck disable=SC2086  # a list of words
dune build --root . $(printf '%s.opam ' $packages) || die "the opam files cannot be made"
rm -r _build
# Without an address there is no homepage (35) and no tracker (36).
nowhere=''
grep -q '^(source' dune-project || { nowhere=-35-36; say "dune-project has no source: fill it in before this is published"; }
for package in $packages; do
  opam lint ${nowhere:+--warnings=$nowhere} "$package.opam" >lint.log 2>&1 || { cat lint.log >&2; die "opam lint: $package.opam"; }
  if grep -q 'warning' lint.log; then cat lint.log >&2; die "opam lint: $package.opam"; fi
done
rm lint.log

say "$name.tbz"
cd ..
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$name" | bzip2 -9 >"$name.tbz"
rm -r "$name"
tar -xjf "$name.tbz"
cd "$name"

# --- The packages ----------------------------------------------------------------------------------------------------

# Whether the library is there without which nothing of the package can be built, where that is rarely installed.
has_peer() {
  case $1 in
  concord-async) ocamlfind query async ;;
  concord-picos) ocamlfind query picos_std.structured ;;
  concord-miou) ocamlfind query miou.unix ;;
  esac >/dev/null 2>&1
}

# opam gives a package no more than its sources, and what was installed before it.
peers=${OCAMLPATH:-}
prefix=$folder/installed
export OCAMLPATH=$prefix/lib${peers:+:$peers}
for package in $packages; do
  has_peer "$package" || { say "$package: NOT CHECKED, because the library that it adapts is not here"; continue; }
  say "$package: build${tests:+ and test}"
  # shellcheck disable=SC2086  # tests is a list of words
  dune build -p "$package" @install ${tests:+@runtest} || die "$package: failed; the sources are in $folder/$name"
  dune install -p "$package" --prefix "$prefix" >/dev/null 2>&1 || die "$package: cannot be installed"
  rm -rf _build
  meta=$prefix/lib/$package/META indent=''
  case $package in
  # A command, and no library: dune writes an empty META.
  concord-trace) [ -x "$prefix/bin/concord-trace" ] || die "$package: the command is missing"; continue ;;
  # All that there is of it are libraries within the package.
  concord-schedulers) indent='  ' ;;
  esac
  grep -q "^${indent}version = \"$version\"$" "$meta" || die "$package: its META has no version"
  grep -q "^${indent}description =" "$meta" || die "$package: its META has no description"
done

# --- The lowest versions ---------------------------------------------------------------------------------------------

# Prints "NAME VERSION" for each lower bound of a dependency, or of an optional one, which has it as a conflict.
lower_bounds() {
  sed -n 's/^  "\([^"]*\)" {>= "\([^"]*\)".*/\1 \2/p; s/^  "\([^"]*\)" {< "\([^"]*\)"}.*/\1 \2/p' -- *.opam | grep -v '^dune ' | sort -u
}
lowest=${CONCORD_LOWEST:-}
if [ -z "$lowest" ]; then
  say "NOT built with the lowest versions: CONCORD_LOWEST names no folder of them"
else
  say "the lowest versions of $lowest (and, of what is not there, the toolchain's)"
  export OCAMLPATH=$folder/lowest/lib:$lowest${peers:+:$peers}
  printf '%-20s %-8s %s\n' library bound 'built with' >&2
  lower_bounds | while read -r library bound; do
    if [ "$library" = ocaml ]; then found=$(ocamlc -version)
    else found=$(ocamlfind query -format %v "$library" 2>/dev/null) || found='not there'; fi
    printf '%-20s %-8s %s\n' "$library" "$bound" "$found" >&2
  done
  for package in $packages; do
    has_peer "$package" || continue
    dune build -p "$package" @install || die "$package: cannot be built with the lowest versions"
    dune install -p "$package" --prefix "$folder/lowest" >/dev/null 2>&1
    rm -rf _build
  done
fi
export OCAMLPATH=$prefix/lib${peers:+:$peers}

# --- A program of somebody else --------------------------------------------------------------------------------------

say "a program with what is installed"
mkdir "$folder/program"
cp examples/readme/readme.ml examples/readme/readme.expected "$folder/program"
cd "$folder/program"
echo '(lang dune 3.17)' >dune-project
cat >dune <<'TXT'
(test
 (name readme)
 (libraries concord concord.fifo concord-domainslib concord-eio concord-lwt eio_main))
TXT
dune build --root . @runtest || die "the program of README.md does not work with what is installed"

say "ready: $folder/$name.tbz"
sha256sum "$folder/$name.tbz"
exit
}
