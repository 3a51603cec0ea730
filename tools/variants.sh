# shellcheck shell=bash
# Other variants of the tests, for ./dev to source: an older or a newer OCaml, bytecode, an OCaml with ThreadSanitizer, or
# beside libraries that the toolchain does not have.
# Uses of ./dev's: top, cache, root, log, partial, maker, say, die, fail, free_mb, abandon, progress, host_apt, name_root,
# setup, enter, dune, list_tests. Sets suite, packages and size, which say what the private root holds, CONCORD_TOOLCHAIN,
# and over and alone, which say how it is entered.
# shellcheck disable=SC2154,SC2034  # those are ./dev's

# --- Another OCaml ---------------------------------------------------------------------------------------------------

# Only the packages that adapt no library: the libraries of the others are not there, or too old.
test_on() {
  CONCORD_TOOLCHAIN=private
  case ${1:-} in
  # The Debian release before has it, and these libraries.
  5.3)
    suite=trixie size="0.9 GB"
    packages="ocaml ocaml-dune ocaml-findlib libdomain-local-await-ocaml-dev libmtime-ocaml-dev libalcotest-ocaml-dev
 libqcheck-core-ocaml-dev libqcheck-stm-ocaml-dev libdscheck-ocaml-dev libmdx-ocaml-dev"
    name_root
    setup
    ;;
  # Debian experimental has it, without libraries.
  5.5)
    setup
    name_beside 5.5 newer.sh
    [ -e "$beside/.ready" ] || make_beside "OCaml 5.5 and its libraries" 1000 get_newer "$top/tools/newer.sh" "$beside" 5.5
    over=$beside
    ;;
  *) die "test: --compiler: there are 5.3 and 5.5 (got '${1:-}')" ;;
  esac
  say "OCaml $1: only the packages that adapt no library are tested"
  dune build --build-dir "$top/_build-$1" \
    --only-packages concord,concord-suspend,concord-generator,concord-schedulers,concord-testkit \
    @lib/all @generator/all @schedulers/all @testkit/all @runtest
}

# --- What lies beside the private root -------------------------------------------------------------------------------

# name_beside NAME SCRIPT...: sets beside, the folder of that which these scripts of tools/ build inside the private root.
name_beside() {
  local name=$1
  shift
  beside=$root-$name-$(cd "$top/tools" && cat "$@" libs.sh | sha256sum | cut -c1-6)
}

# make_beside WHAT MB GET SCRIPT [ARG...]: makes $beside. GET is a function that downloads what the script is to build.
# Where this is itself killed, it leaves a folder without .ready, which the next time removes.
make_beside() {
  local what=$1 mb=$2 get=$3
  shift 3
  exec 9>>"$cache/lock"
  flock -n 9 || { say "another set-up is running; waiting for it"; flock 9; }
  if [ -e "$beside/.ready" ]; then exec 9>&-; return; fi
  partial=$beside
  trap abandon EXIT
  trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
  rm -rf --one-file-system "$beside"
  [ "$(free_mb)" -ge "$mb" ] || die "$what: this needs $mb MB in $cache, where only $(free_mb) MB are free"
  : >"$log"
  say "making $what, once: some minutes, in $beside"
  "$get" 9>&- &
  maker=$!
  progress || fail "download what $what needs"
  # With its own processes, which end with it; it ends with this script.
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

# make_apt [SUITE]: makes a state of apt's in $beside/apt, not the host's, and sets apt_options. It knows the sources of what
# the private root came from; with a suite also the packages of both.
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

# Downloads what the authors of these released.
get_sources() {
  make_apt
  cd "$beside/sources"
  host_apt "${apt_options[@]}" source --download-only --tar-only ocaml ocaml-alcotest
  rm -r "$beside/apt"
}

# Lays out the packages of a newer OCaml. Its libraries for bytecode will be in $beside/lib.
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

# Only the packages that adapt no library: why not more, tools/bytecode.sh says.
test_bytecode() {
  setup
  enter bash "$top/tools/bytecode.sh" "$top" < <(list_tests)
}

# --- ThreadSanitizer -------------------------------------------------------------------------------------------------

# test_tsan [NAME...]. The OCaml instruments every access to memory.
test_tsan() {
  CONCORD_TOOLCHAIN=private
  setup
  name_beside tsan tsan/ocaml.sh
  [ -e "$beside/.ready" ] ||
    make_beside "an OCaml with ThreadSanitizer" 1500 get_sources "$top/tools/tsan/ocaml.sh" "$beside"
  enter bash "$top/tools/tsan/run.sh" "$top" "$beside" "$@" < <(list_tests)
}

# --- Peers -----------------------------------------------------------------------------------------------------------

# Each with the libraries that its tests need.
peer_libraries() {
  case $1 in
  async) echo async async_kernel core ;;
  picos) echo picos picos_io.select picos_mux.{fifo,multififo,random,thread} picos_std.{event,structured,sync} ;;
  moonpool) echo moonpool picos_std.structured ;;
  miou) echo miou miou.unix ;;
  *) die "test: --peers: there is no peer '$1' (there are async, picos, moonpool and miou)" ;;
  esac
}

# test_peers [NAMES]: everything that is left out where a peer is not installed, in a build folder of its own.
test_peers() {
  local wanted=${1:-} folders="the folders of OCAMLPATH (${OCAMLPATH:-not set})" installed found='' missing='' name library lacks
  [ $# -le 1 ] || die "test: --peers: write the names with commas (--peers $(IFS=,; echo "$*"))"
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
      case " $wanted " in *" $name "*) die "test: --peers: for $name there is no$lacks in $folders" ;; esac
    fi
  done
  [ -n "$found" ] || die "test: --peers: no peer is in $folders"
  say "peers: ${found#, }${missing:+; not there:$missing}"
  run_tests --build-dir "$top/_build-peers" @adapters/all @adapters/runtest @test/async/runtest @test/picos/runtest @test/miou/runtest \
    @test/matrix/runtest @test/pairs/runtest @test/testkit/runtest @test/outside/runtest @test/doc/runtest @doc/runtest
  exit
}
