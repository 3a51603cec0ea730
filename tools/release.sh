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
sed -i "s/^(version dev)$/(version $version)/" dune-project
grep -q "^(version $version)$" dune-project || die "dune-project has no line (version dev)"
# As dune would write them.
sed -i "s/^version: \"dev\"$/version: \"$version\"/" -- *.opam
# In the order in which they can be installed.
packages="concord-suspend concord concord-generator concord-schedulers concord-testkit ppx_concord concord-eio concord-domainslib concord-trace concord-aio concord-lwt concord-async concord-picos concord-miou"
[ "$(printf '%s.opam\n' $packages | sort)" = "$(ls -- *.opam)" ] || die "the packages are not those that tools/release.sh knows"
for package in $packages; do
  # 35 and 36: no homepage and no tracker, as long as there is no public address.
  opam lint --warnings=-35-36 "$package.opam" >lint.log 2>&1 || { cat lint.log >&2; die "opam lint: $package.opam"; }
  if grep -q 'warning' lint.log; then cat lint.log >&2; die "opam lint: $package.opam"; fi
done
rm lint.log
# Whoever installs all packages of a checkout gets nothing of Async's, Picos's or Miou's: they are among the depopts only.
for package in $packages; do
  if sed -n '/^depends:/,/^]/p' "$package.opam" | grep -E '"(async|core|picos|miou)'; then die "$package depends on Async, Picos or Miou"; fi
done

say "$name.tbz"
cd ..
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$name" | bzip2 -9 >"$name.tbz"
rm -r "$name"
tar -xjf "$name.tbz"
cd "$name"

# --- The packages ----------------------------------------------------------------------------------------------------

prefix=$folder/installed
export OCAMLPATH=$prefix/lib${OCAMLPATH:+:$OCAMLPATH}
# opam gives a package no more than its sources, and what was installed before it.
for package in $packages; do
  say "$package: build${tests:+ and test}"
  # shellcheck disable=SC2086  # tests is a list of words
  dune build -p "$package" @install ${tests:+@runtest} || die "$package: failed; the sources are in $folder/$name"
  dune install -p "$package" --prefix "$prefix" >/dev/null 2>&1 || die "$package: cannot be installed"
  meta=$prefix/lib/$package/META needs=threads.posix indent=''
  # Without the library that it adapts there is nothing of such a package.
  case $package in
  # A command, and no library: dune writes an empty META.
  concord-trace) [ -x "$prefix/bin/concord-trace" ] || die "$package: the command is missing"; rm -rf _build; continue ;;
  # All that there is of it are libraries within the package.
  concord-schedulers) indent='  ' ;;
  concord-async) needs=async ;;
  concord-picos) needs=picos_std.structured ;;
  concord-miou) needs=miou.unix ;;
  esac
  if ocamlfind query "$needs" >/dev/null 2>&1; then
    grep -q "^${indent}version = \"$version\"$" "$meta" || die "$package: its META has no version"
    grep -q "^${indent}description =" "$meta" || die "$package: its META has no description"
  else
    say "$package: empty, as there is no $needs"
  fi
  rm -rf _build
done

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
