#!/usr/bin/env bash
# tools/release.sh FOLDER VERSION TESTS: packs the sources in FOLDER/concord-VERSION, without history, as
# FOLDER/concord-VERSION.tbz, and checks the archive. Each package is linted, built as opam builds it (with the other packages
# installed), tested (unless TESTS is empty) and installed. Then a user's program is built with the installed packages. This
# runs inside the toolchain. Nothing is published.
set -euo pipefail

# In braces, so that bash reads the whole script first. It runs for minutes, and this file may change meanwhile.
{
folder=$1 version=$2 tests=$3
name=concord-$version
say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

cd "$folder/$name"

# --- The sources -----------------------------------------------------------------------------------------------------

say "checking the sources"
for file in README.md CHANGES.md LICENSE dune-project; do [ -s "$file" ] || die "$file is missing or empty"; done
[ ! -e .git ] || die "the archive would contain .git"
# The packages, in an order in which they can be installed.
packages="concord-suspend concord-core concord concord-buffered concord-generator concord-schedulers concord-testkit ppx_concord concord-eio concord-domainslib concord-trace concord-aio concord-lwt concord-async concord-picos concord-miou"
[ "$(printf '%s.opam\n' $packages | sort)" = "$(ls -- *.opam)" ] || die "the opam files and the list of packages in tools/release.sh differ"
# The packages of a checkout must not depend on Async, Picos or Miou, which are only depopts there. So installing all packages
# of a checkout doesn't install them.
for package in $packages; do
  if sed -n '/^depends:/,/^]/p' "$package.opam" | grep -E '"(async|core|picos|miou)'; then die "$package depends on Async, Picos or Miou"; fi
done

# A release differs from a checkout. It has a version, it depends on Async, Picos and Miou (dune-project says why), and its
# opam files have fields that dune 3.17 can't generate.
sed -i -E "s/^\(version dev\)$/(version $version)/; /^ *; checkout:$/,/^ \(synopsis/{/^ \(synopsis/!d}; s/^( *); release: /\1/" dune-project
grep -q "^(version $version)$" dune-project || die "dune-project has no line (version dev)"
if grep -E 'allow_empty|; (checkout|release):' dune-project; then die "dune-project still has a line that is only for a checkout"; fi
# Removes (optional), because with it dune silently leaves out a library if a dependency is missing.
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
dune build --root . $(printf '%s.opam ' $packages) || die "dune cannot generate the opam files"
rm -r _build
# Without a source, the opam files have no homepage (warning 35) and no bug tracker (warning 36).
nowhere=''
grep -q '^(source' dune-project || { nowhere=-35-36; say "dune-project has no source. Add it before you publish this"; }
for package in $packages; do
  opam lint ${nowhere:+--warnings=$nowhere} "$package.opam" >lint.log 2>&1 || { cat lint.log >&2; die "opam lint found errors in $package.opam"; }
  if grep -q 'warning' lint.log; then cat lint.log >&2; die "opam lint found warnings in $package.opam"; fi
done
rm lint.log

say "$name.tbz"
cd ..
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$name" | bzip2 -9 >"$name.tbz"
rm -r "$name"
tar -xjf "$name.tbz"
cd "$name"

# --- The packages ----------------------------------------------------------------------------------------------------

# Whether the library that the package adapts is installed. Only rarely installed libraries are checked.
has_peer() {
  case $1 in
  concord-async) ocamlfind query async ;;
  concord-picos) ocamlfind query picos_std.structured ;;
  concord-miou) ocamlfind query miou.unix ;;
  esac >/dev/null 2>&1
}

# Like opam, this gives a package only its sources and the packages that were installed before.
peers=${OCAMLPATH:-}
prefix=$folder/installed
export OCAMLPATH=$prefix/lib${peers:+:$peers}
for package in $packages; do
  has_peer "$package" || { say "$package: NOT CHECKED, because the library that it adapts is not installed"; continue; }
  say "$package: build${tests:+ and test}"
  # shellcheck disable=SC2086  # tests is a list of words
  dune build -p "$package" @install ${tests:+@runtest} || die "$package: failed. The sources are in $folder/$name"
  dune install -p "$package" --prefix "$prefix" >/dev/null 2>&1 || die "$package: cannot be installed"
  rm -rf _build
  meta=$prefix/lib/$package/META indent=''
  case $package in
  # This package has a command and no library, so dune writes an empty META.
  concord-trace) [ -x "$prefix/bin/concord-trace" ] || die "$package: the command is missing"; continue ;;
  # This package has only sublibraries.
  concord-schedulers) indent='  ' ;;
  esac
  grep -q "^${indent}version = \"$version\"$" "$meta" || die "$package: its META has no version"
  grep -q "^${indent}description =" "$meta" || die "$package: its META has no description"
done

# --- The lowest versions ---------------------------------------------------------------------------------------------

# Prints "NAME VERSION" for each lower bound of a dependency. An optional dependency has its lower bound as a conflict.
lower_bounds() {
  sed -n 's/^  "\([^"]*\)" {>= "\([^"]*\)".*/\1 \2/p; s/^  "\([^"]*\)" {< "\([^"]*\)"}.*/\1 \2/p' -- *.opam | grep -v '^dune ' | sort -u
}
lowest=${CONCORD_LOWEST:-}
if [ -z "$lowest" ]; then
  say "NOT built with the lowest versions, because CONCORD_LOWEST does not name a folder with them"
else
  say "building with the libraries in $lowest (and the toolchain's, if a library is not there)"
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

# --- A user's program ------------------------------------------------------------------------------------------------

say "building a program with the installed packages"
mkdir "$folder/program"
cp examples/readme/readme.ml examples/readme/readme.expected "$folder/program"
cd "$folder/program"
echo '(lang dune 3.17)' >dune-project
cat >dune <<'TXT'
(test
 (name readme)
 (libraries concord concord.fifo concord-eio concord-lwt eio_main))
TXT
dune build --root . @runtest || die "the program of README.md does not work with the installed packages"

say "ready: $folder/$name.tbz"
sha256sum "$folder/$name.tbz"
exit
}
