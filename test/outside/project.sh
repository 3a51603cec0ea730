# Each run.t sources this. It installs, builds and runs as a user does who starts a new
# project. The shell is sh.

# Dune has built the packages that the test depends on, and OCAMLPATH says where. All tests
# share one TMPDIR.
built=${OCAMLPATH%%:*} mine=$(mktemp -d)
installed=$mine/installed

# Variables of the dune that runs the tests must not reach the dune that builds the project. An
# OCAMLPATH of the toolchain stays.
case $OCAMLPATH in *:*) OCAMLPATH=$installed/lib:${OCAMLPATH#*:} ;; *) OCAMLPATH=$installed/lib ;; esac
export OCAMLPATH
unset INSIDE_DUNE OCAMLFIND_IGNORE_DUPS_IN OCAMLTOP_INCLUDE_PATH CAML_LD_LIBRARY_PATH
unset DUNE_WORKSPACE DUNE_BUILD_DIR DUNE_PROFILE CONCORD_DEBUG
# If CI is set, dune also prints the command of every test that prints something.
unset CI

# A command that doesn't end in time has failed, and a message says so. But macOS has no
# timeout.
bounded() {
  limit=$1 result=0
  shift
  if command -v timeout >/dev/null; then timeout "$limit" "$@" 2>&1 || result=$?; else "$@" 2>&1 || result=$?; fi
  [ $result != 124 ] || echo "no end after $limit s: $*"
  return $result
}

# Installs these packages, and no others of the project, as dune install does, into a folder in
# OCAMLPATH. Packages that dune did not build (-p) are in its own OCAMLPATH. The root has the
# packages but no sources.
install() {
  root=$mine/root known=
  mkdir -p "$root/_build/default" "$root/_build/install"
  cp ../../../dune-project "$root"
  ln -sfn "${built%/lib}" "$root/_build/install/default"
  for package; do
    [ -e "$built/$package/META" ] || continue
    sed 's|"[^"]*/install/[^/"]*/|"_build/install/default/|' "../../../$package.install" \
      >"$root/_build/default/$package.install"
    known="$known $package"
  done
  [ -z "$known" ] || bounded 60 dune install --root "$root" --prefix "$installed" --display=quiet $known
}

build() { bounded 120 dune build --root . --display=quiet "$@"; }

run() {
  program=$1
  shift
  bounded 20 "./_build/default/$program.exe" "$@"
}
