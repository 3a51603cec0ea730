#!/usr/bin/env bash
# tools/release/switch.sh CHECKOUT WORK: does what README.md says under Start, in a switch of opam in the empty folder WORK. opam builds
# and installs the packages of CHECKOUT, a folder without history, and dune runs the program. The switch has the toolchain's compiler and
# libraries, because this doesn't use the network. So opam packages without contents stand for these, under their names and versions.
# This runs inside the toolchain. It exits with 3, and writes the reason to descriptor 3, if the toolchain can't do this.
set -euo pipefail

checkout=$1 work=$2
for program in opam git rsync; do
  type -P "$program" >/dev/null || { echo "the toolchain has no $program" >&3; exit 3; }
done

# Prints the version of a findlib library, for which Debian's package has to answer if the library itself doesn't know.
version_of() {
  local version=''
  case $1 in
  dune) version=$(dune --version) ;;
  *)
    version=$(ocamlfind query -format %v "$1" 2>/dev/null) || return 1
    case $version in
    [0-9v]*) ;;
    *) version=$(dpkg-query -W -f '${Version}' "$(dpkg-query -S "$(ocamlfind query "$1")/META" | sed 's/:.*//')" 2>/dev/null) || return 1 ;;
    esac
    ;;
  esac
  # Debian adds its revision, and some libraries have the v of their tags.
  version=${version%-*}
  case $version in v0.1[0-9]*) ;; *) version=${version#v} ;; esac
  printf '%s\n' "$version"
}
stub() {
  mkdir -p "$work/stubs/packages/$1/$1.$2"
  printf 'opam-version: "2.0"\n%s\n' "${3:-}" >"$work/stubs/packages/$1/$1.$2/opam"
}
mkdir -p "$work/stubs"
echo 'opam-version: "2.0"' >"$work/stubs/repo"
compiler=$(ocamlc -version)
stub ocaml "$compiler" "flags: compiler"
# The packages of the checkout are installed in the switch, and the toolchain's findlib has to find them there.
stub ocamlfind "$(ocamlfind query -format %v findlib)" 'setenv: [OCAMLPATH = "%{lib}%"]'
names=$({ cat "$checkout"/*.opam | sed -n '/^depends: \[$/,/^]/p' | grep -v with-test | grep -oE '^  "[^"]*"' | tr -d ' "'; echo eio_main; } |
  grep -vE '^(ocaml|ocamlfind|odoc|concord.*|ppx_concord)$' | sort -u)
for name in $names; do
  version=$(version_of "$name") || { echo "the version of $name is not known" >&3; exit 3; }
  stub "$name" "$version"
done

export OPAMROOT=$work/opam OPAMYES=1 OPAMROOTISOK=1 OPAMSWITCH=start OPAMCOLOR=never OPAMJOBS=2
unset OCAMLPATH
opam init --bare --no-setup --disable-sandboxing --no-opamrc stubs "$work/stubs" </dev/null
opam switch create start "ocaml.$compiler"
opam install ocamlfind

# opam takes the last commit.
cp -r "$checkout" "$work/concord"
(
  cd "$work/concord"
  git init -q -b main
  git add -A
  git -c user.name=release -c user.email=release@localhost commit -q -m release
)

mkdir "$work/program"
# README.md shows the program, and its two dune files in this order.
cp "$checkout"/examples/readme/readme.{ml,expected} "$work/program"
cd "$work/program"
awk -v n=0 '/^```dune$/ { n++; getline; while ($0 != "```") { print > (n == 1 ? "dune-project" : "dune"); getline } }' "$checkout/README.md"
command=$(grep -xE 'opam install \./path/to/concord .*' "$checkout/README.md") || { echo "README.md has no line 'opam install ./path/to/concord'" >&2; exit 1; }
# shellcheck disable=SC2086  # the words of the command
${command/.\/path\/to/..}
# This folder is in the checkout whose release is made, and dune would take that for the project.
opam exec -- dune exec --root . ./readme.exe >output
diff readme.expected output
