#!/usr/bin/env bash
# tools/release/main.sh FOLDER VERSION TESTS [NAMES]: packs the sources in FOLDER/concord-VERSION, without history, as
# FOLDER/concord-VERSION.tbz, writes the files for the opam repository to FOLDER/opam-repository, and checks them. Each package is
# linted, built as opam builds it (with the other packages installed), tested (unless TESTS is empty) and installed. Then a user's
# program is built with the installed packages, and opam does what README.md says. What could not be checked has a name. The archive is
# called ready only if NAMES, which commas separate, has all of these names, and if the file owner is complete. This runs inside the
# toolchain. Nothing is published.
set -euo pipefail

# In braces, so that bash reads the whole script first. It runs for minutes, and this file may change meanwhile.
{
folder=$1 version=$2 tests=$3 allowed=,${4:-},
name=concord-$version
tools=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# not_checked NAME REASON: what could not be checked.
unchecked=''
not_checked() {
  case $allowed in
  *,"$1",*) say "NOT CHECKED, as you said: $1, because $2" ;;
  *) say "NOT CHECKED: $1, because $2"; unchecked+=" $1" ;;
  esac
}

# --- The sources -----------------------------------------------------------------------------------------------------

say "checking the sources"
cp -r "$folder/$name" "$folder/checkout"
cd "$folder/$name"
for file in README.md CHANGES.md LICENSE dune-project; do [ -s "$file" ] || die "$file is missing or empty"; done
[ ! -e .git ] || die "the archive would contain .git"
# The packages, in an order in which they can be installed.
packages="concord-suspend concord-core concord concord-buffered concord-generator concord-schedulers concord-testkit ppx_concord concord-eio concord-domainslib concord-trace concord-aio concord-lwt concord-async concord-picos concord-miou"
[ "$(printf '%s.opam\n' $packages | sort)" = "$(ls -- *.opam)" ] || die "the opam files and the list of packages in tools/release/main.sh differ"
# The packages of a checkout must not depend on Async, Picos or Miou, which are only depopts there. So installing all packages
# of a checkout doesn't install them.
for package in $packages; do
  if sed -n '/^depends:/,/^]/p' "$package.opam" | grep -E '"(async|core|picos|miou)'; then die "$package depends on Async, Picos or Miou"; fi
done
bash "$tools/prepare.sh" "$folder/$name" "$version" || die "the sources of a release cannot be made"
# Without a source, the opam files have no homepage (warning 35) and no bug tracker (warning 36).
nowhere=''
grep -q '^(source' dune-project || nowhere=-35-36
for package in $packages; do
  opam lint ${nowhere:+--warnings=$nowhere} "$package.opam" >"$folder/lint.log" 2>&1 || { cat "$folder/lint.log" >&2; die "opam lint found errors in $package.opam"; }
  if grep -q 'warning' "$folder/lint.log"; then cat "$folder/lint.log" >&2; die "opam lint found warnings in $package.opam"; fi
done

say "compiling the C files with warnings"
missing=$(bash "$tools/c.sh" "$folder/$name") || die "the C files of the packages have warnings"
for compiler in $missing; do not_checked "$compiler" "the toolchain has no $compiler, so it has not compiled the C files"; done

say "$name.tbz"
cd ..
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$name" | bzip2 -9 >"$name.tbz"
rm -r "$name"
tar -xjf "$name.tbz"
cd "$name"

# --- The files for the opam repository -------------------------------------------------------------------------------

ours=$folder/opam-repository
archive=$(sed -n 's/^archive *= *//p' "$tools/owner")
for package in $packages; do
  mkdir -p "$ours/packages/$package/$package.$version"
  {
    # The opam repository reads the version from the folder's name.
    grep -v '^version:' "$package.opam"
    if [ -n "$archive" ]; then
      printf 'url {\n  src: "%s"\n  checksum: [\n    "sha256=%s"\n    "sha512=%s"\n  ]\n}\n' "${archive//VERSION/$version}" \
        "$(sha256sum <"$folder/$name.tbz" | cut -d' ' -f1)" "$(sha512sum <"$folder/$name.tbz" | cut -d' ' -f1)"
    fi
  } >"$ours/packages/$package/$package.$version/opam"
done
echo 'opam-version: "2.0"' >"$ours/repo"
say "asking opam's solver"
mkdir "$folder/solver"
bash "$tools/solve.sh" "$ours" "$folder/checkout" "$folder/solver" "${CONCORD_OPAM_REPOSITORY:-}" || die "opam cannot install all packages"
[ -n "${CONCORD_OPAM_REPOSITORY:-}" ] ||
  not_checked solver "CONCORD_OPAM_REPOSITORY does not name a copy of the opam repository, so the packages that ours need were made up"

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
[ -n "$tests" ] || not_checked tests "of --quick"
for package in $packages; do
  has_peer "$package" || { not_checked "$package" "the library that it adapts is not in OCAMLPATH"; continue; }
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
  not_checked lowest "CONCORD_LOWEST does not name a folder with the lowest versions that the opam files allow"
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
# test_program [FIELD]: builds and runs it, with this field in its dune file.
test_program() {
  printf '(test (name readme) %s (libraries concord concord.fifo concord-eio concord-lwt eio_main))\n' "${1:-}" >dune
  dune build --root . @runtest
}
test_program || die "the program of README.md does not work with the installed packages"
echo 'int main(void) { return 0; }' >static.c
if cc -static -o static static.c 2>static.log; then
  test_program '(link_flags (-ccopt -static))' 2>static.log ||
    { cat static.log >&2; die "the program of README.md does not work if it is linked statically"; }
else not_checked static "the C compiler cannot link a program statically"
fi

if [ -n "$tests" ]; then
  say "doing what README.md says under Start, with opam"
  mkdir "$folder/switch"
  result=0
  reason=$(bash "$tools/switch.sh" "$folder/checkout" "$folder/switch" 2>>"$folder/switch.log" 3>&1 >>"$folder/switch.log") || result=$?
  case $result in
  0) ;;
  3) not_checked start "$reason" ;;
  *) tail -n 40 "$folder/switch.log" >&2; die "what README.md says under Start does not work (log: $folder/switch.log)" ;;
  esac
fi

# --- The result ------------------------------------------------------------------------------------------------------

empty=$(sed -n 's/^\([a-z-]*\) *= *$/\1/p' "$tools/owner" | paste -sd' ' -)
[ -z "$empty" ] || say "tools/release/owner doesn't say: ${empty// /, }"
[ -z "$unchecked" ] ||
  say "not checked: ${unchecked# }. Check them (HACKING.md, Releasing), or name them: --unchecked $(tr ' ' , <<<"${unchecked# }")"
sha256sum "$folder/$name.tbz"
if [ -n "$empty$unchecked" ]; then say "NOT READY: $folder/$name.tbz"; exit 3; fi
say "ready: $folder/$name.tbz, and $ours for the opam repository"
exit
}
