# shellcheck shell=bash
# Runs variants of the tests: with an older or a newer OCaml, in bytecode, with flambda, with ThreadSanitizer, with
# CONCORD_DEBUG=strict, with the packages as a user installs them, with libraries that the toolchain doesn't have, or with older
# ones. ./dev sources this.
# Needs from ./dev: top, cache, root, log, partial, maker, say, die, fail, free_mb, abandon, progress, host_apt, name_root,
# setup, enter, dune, wait_for_dune, list_tests. Sets CONCORD_TOOLCHAIN. Sets suite, packages and size, the contents of the private root, and
# over and alone, which determine how it is entered.
# shellcheck disable=SC2154,SC2034  # those are ./dev's

# --- Another OCaml ---------------------------------------------------------------------------------------------------

# Tests only the packages that adapt no library, because the libraries of the others are missing or too old there.
test_on() {
  CONCORD_TOOLCHAIN=private
  case ${1:-} in
  # The previous Debian release has this version, and these libraries.
  5.3)
    suite=trixie size="0.9 GB"
    packages="ocaml ocaml-dune ocaml-findlib libdomain-local-await-ocaml-dev libmtime-ocaml-dev libalcotest-ocaml-dev
 libqcheck-core-ocaml-dev libqcheck-stm-ocaml-dev libdscheck-ocaml-dev libmdx-ocaml-dev"
    name_root
    setup
    ;;
  # Debian experimental has this version, without libraries.
  5.5)
    setup
    name_beside 5.5 newer.sh
    [ -e "$beside/.ready" ] || make_beside "OCaml 5.5 and its libraries" 1000 get_newer "$top/tools/newer.sh" "$beside" 5.5
    over=$beside
    ;;
  *) die "test: --compiler: the version must be 5.3 or 5.5 (got '${1:-}')" ;;
  esac
  say "OCaml $1: testing only the packages that adapt no library"
  dune build --build-dir "$top/_build-$1" \
    --only-packages concord,concord-buffered,concord-core,concord-suspend,concord-generator,concord-schedulers,concord-testkit \
    @lib/all @generator/all @schedulers/all @testkit/all @runtest
}

# --- What lies beside the private root -------------------------------------------------------------------------------

# name_beside NAME SCRIPT: sets beside, the folder for the results of this script of tools/, which runs in the private root.
name_beside() { beside=$root-$1-$(cd "$top/tools" && cat "$2" libs.sh | sha256sum | cut -c1-6); }

# make_beside WHAT MB GET SCRIPT [ARG...]: makes $beside. GET is a function that downloads the sources that the script builds.
# If this is killed, it leaves a folder without .ready, which the next call removes.
make_beside() {
  local what=$1 mb=$2 get=$3
  shift 3
  exec 9>>"$cache/lock"
  flock -n 9 || { say "another set-up is running, so this one waits for it"; flock 9; }
  if [ -e "$beside/.ready" ]; then exec 9>&-; return; fi
  partial=$beside
  trap abandon EXIT
  trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
  rm -rf --one-file-system "$beside"
  [ "$(free_mb)" -ge "$mb" ] || die "$what: this needs $mb MB in $cache, but only $(free_mb) MB are free"
  : >"$log"
  say "making $what in $beside, which takes some minutes, but only once"
  "$get" 9>&- &
  maker=$!
  progress || fail "download what $what needs"
  # In its own process namespace, so that its processes end with it. It ends with this script.
  (
    if [ -d "$beside/usr" ]; then over=$beside; fi
    alone=(setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
    enter bash "$@"
  ) </dev/null >>"$log" 2>&1 9>&- &
  maker=$!
  progress || fail "build $what"
  touch "$beside/.ready"
  trap - EXIT INT TERM HUP
  exec 9>&-
}

# make_apt [SUITE]: makes a private state of apt in $beside/apt, and sets apt_options. This apt knows the source packages of
# the private root's archive. With a suite, it also knows the packages of both.
make_apt() {
  local apt=$beside/apt entry
  entry=$(grep '^deb ' "$root/etc/apt/sources.list")
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$beside/sources"
  { echo "${entry/#deb /deb-src }"; [ $# = 0 ] || printf '%s\n' "$entry" "${entry/ $suite / $1 }"; } >"$apt/sources.list"
  touch "$apt/status"
  apt_options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$apt/lists"
    -o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  host_apt "${apt_options[@]}" update
}

# Downloads the original sources of these packages.
get_sources() {
  make_apt
  cd "$beside/sources"
  host_apt "${apt_options[@]}" source --download-only --tar-only ocaml ocaml-alcotest
  rm -r "$beside/apt"
}

# make_ocaml NAME WHAT: makes $beside, with the OCaml that tools/ocaml.sh builds under this name.
make_ocaml() {
  name_beside "$1" ocaml.sh
  [ -e "$beside/.ready" ] || make_beside "$2" 1500 get_sources "$top/tools/ocaml.sh" "$beside" "$1"
}

# Unpacks the packages of a newer OCaml. Its libraries for bytecode will be in $beside/lib.
get_newer() {
  local package
  make_apt experimental
  cd "$beside/sources"
  host_apt "${apt_options[@]}" source --download-only --tar-only findlib ocaml-alcotest
  host_apt "${apt_options[@]}" download cppo \
    {ocaml,ocaml-interp,ocaml-base,libcompiler-libs-ocaml-dev,libstdlib-ocaml,libstdlib-ocaml-dev}/experimental
  for package in *.deb; do dpkg-deb -x "$package" "$beside"; done
  echo "$beside/lib/stublibs" | tee -a "$beside"/usr/lib/*/ocaml/*/ld.conf >/dev/null
  rm -r "$beside/apt" ./*.deb
}

# --- Bytecode --------------------------------------------------------------------------------------------------------

# Tests only the packages that adapt no library. tools/bytecode.sh says why.
test_bytecode() {
  setup
  enter bash "$top/tools/bytecode.sh" "$top" < <(list_tests)
}

# --- With CONCORD_DEBUG=strict ---------------------------------------------------------------------------------------

# test_strict [NAME...]
test_strict() {
  setup
  wait_for_dune
  enter bash "$top/tools/strict.sh" "$top" "$@" < <(list_tests)
}

# --- With installed packages -----------------------------------------------------------------------------------------

# test_installed [NAME...]. Only dune's profile dev compiles each module without knowledge of the others.
test_installed() {
  setup
  wait_for_dune --build-dir "$top/_build-installed"
  enter bash "$top/tools/installed.sh" "$top" "$@" < <(list_tests)
}

# --- Flambda ---------------------------------------------------------------------------------------------------------

# Tests only the packages that adapt no library. Flambda does its work across modules, so this isn't dune's profile dev.
# tools/flambda.txt has what is left out, and why.
test_flambda() {
  CONCORD_TOOLCHAIN=private
  setup
  make_ocaml flambda "an OCaml with flambda"
  wait_for_dune --build-dir "$top/_build-flambda"
  enter env OCAMLFIND_CONF="$beside/findlib.conf" PATH="$beside/bin:/usr/bin:/bin" OCAMLPARAM=_,O3=1 \
    CONCORD_LEAVE_OUT="$top/tools/flambda.txt" \
    dune build --root "$top" --no-print-directory --profile optimized --build-dir "$top/_build-flambda" \
    --only-packages concord,concord-buffered,concord-core,concord-suspend,concord-generator,concord-schedulers,concord-testkit \
    @test/unit/runtest @test/lin/runtest @test/generator/runtest @test/schedulers/runtest @test/testkit/operation/runtest
}

# --- ThreadSanitizer -------------------------------------------------------------------------------------------------

# test_tsan [NAME...]. This OCaml instruments every access to memory.
test_tsan() {
  CONCORD_TOOLCHAIN=private
  setup
  make_ocaml tsan "an OCaml with ThreadSanitizer"
  enter bash "$top/tools/tsan/run.sh" "$top" "$beside" "$@" < <(list_tests)
}

# --- Peers -----------------------------------------------------------------------------------------------------------

# Prints the libraries that the tests of a peer need.
peer_libraries() {
  case $1 in
  async) echo async async_kernel core ;;
  picos) echo picos picos_io.select picos_mux.{fifo,multififo,random,thread} picos_std.{event,structured,sync} ;;
  moonpool) echo moonpool picos_std.structured ;;
  miou) echo miou miou.unix ;;
  *) die "test: --peers: there is no peer '$1'. The peers are async, picos, moonpool and miou" ;;
  esac
}

# test_peers [NAMES]: runs the tests that are left out if a peer is not installed, in a separate build folder.
test_peers() {
  local wanted=${1:-} folders="the folders of OCAMLPATH (${OCAMLPATH:-not set})" installed found='' missing='' name library lacks
  [ $# -le 1 ] || die "test: --peers: separate the names by commas (--peers $(IFS=,; echo "$*"))"
  wanted=${wanted//,/ }
  for name in $wanted; do (peer_libraries "$name") >/dev/null || exit; done
  setup
  installed=$(dune installed-libraries) || die "test: --peers: dune cannot read $folders"
  for name in async picos moonpool miou; do
    lacks=
    for library in $(peer_libraries "$name"); do grep -q "^$library " <<<"$installed" || lacks+=" $library"; done
    if [ -z "$lacks" ]; then
      found+=", $name ($(sed -n "s/^$name .*(version: \\(.*\\))/\\1/p" <<<"$installed"))"
    else
      missing+=" $name"
      case " $wanted " in *" $name "*) die "test: --peers: $name needs$lacks, which is not in $folders" ;; esac
    fi
  done
  [ -n "$found" ] || die "test: --peers: there is no peer in $folders"
  say "peers: ${found#, }${missing:+. Missing peers:$missing}"
  run_tests --build-dir "$top/_build-peers" @adapters/all @adapters/runtest @test/async/runtest @test/picos/runtest @test/miou/runtest \
    @test/matrix/runtest @test/pairs/runtest @test/testkit/runtest @test/outside/runtest @test/doc/runtest @doc/runtest
  exit
}

# --- The oldest libraries --------------------------------------------------------------------------------------------

# test_oldest [NAME...]: runs the tests of the adapters, or these, with the libraries in the folder CONCORD_LOWEST. Libraries that
# aren't there are the toolchain's, so by default no test runs that links Cohttp or caqti, which were built with a newer Lwt.
test_oldest() {
  local targets="@adapters/runtest @test/lwt/runtest @test/matrix/runtest @test/testkit/runtest @test/ppx/runtest @test/aio/runtest
 @test/stress/runtest @test/unit/runtest" found
  [ -d "${CONCORD_LOWEST:-}" ] || die "test: --oldest: CONCORD_LOWEST must name a folder of libraries that the toolchain's compiler has built (got '${CONCORD_LOWEST:-}')"
  [ $# = 0 ] || targets=$(targets_of "$@")
  setup
  found=$(cd "$CONCORD_LOWEST" && for meta in */META; do
    [ ! -e "$meta" ] || printf ', %s %s' "${meta%/META}" "$(sed -n '1,/^version/s/^version = "\(.*\)"/\1/p' "$meta")"
  done)
  [ -n "$found" ] || die "test: --oldest: there is no library in $CONCORD_LOWEST"
  say "oldest libraries: ${found#, }"
  # shellcheck disable=SC2086  # a list of words
  run_tests --build-dir "$top/_build-oldest" $targets
  exit
}
