# shellcheck shell=bash
# Other variants of the tests, for ./dev to source: an older OCaml, bytecode, an OCaml with ThreadSanitizer, or beside
# libraries that the toolchain does not have.
# Uses of ./dev's: top, cache, root, log, partial, maker, say, die, fail, free_mb, abandon, progress, host_apt, name_root,
# setup, enter, dune, list_tests. Sets suite, packages and size, which say what the private root holds, and CONCORD_TOOLCHAIN.
# shellcheck disable=SC2154,SC2034  # those are ./dev's

# --- An older OCaml --------------------------------------------------------------------------------------------------

# The Debian release before has an older OCaml, and the libraries that these packages need. It has no Eio and no
# Domainslib, and its Lwt and ppxlib are too old: so the other packages are left out.
test_on() {
  case ${1:-} in
  5.3) suite=trixie ;;
  *) die "test: --compiler: there is only 5.3 (got '${1:-}')" ;;
  esac
  packages="ocaml ocaml-dune ocaml-findlib libdomain-local-await-ocaml-dev libmtime-ocaml-dev libalcotest-ocaml-dev
 libqcheck-core-ocaml-dev libqcheck-stm-ocaml-dev libdscheck-ocaml-dev libmdx-ocaml-dev"
  size="0.9 GB"
  name_root
  CONCORD_TOOLCHAIN=private
  setup
  say "OCaml $1 (Debian $suite): only the packages that adapt no library are tested; the libraries of the others are missing or too old there"
  dune build --build-dir "$top/_build-$1" \
    --only-packages concord,concord-suspend,concord-generator,concord-schedulers,concord-testkit \
    @lib/all @generator/all @schedulers/all @testkit/all @runtest
}

# --- Bytecode --------------------------------------------------------------------------------------------------------

# Only the packages that adapt no library: why not more, tools/bytecode.sh says.
test_bytecode() {
  setup
  enter bash "$top/tools/bytecode.sh" "$top" < <(list_tests)
}

# --- ThreadSanitizer -------------------------------------------------------------------------------------------------

# test_tsan [NAME...]. An OCaml that instruments every access to memory lies beside the private root in which it was built.
test_tsan() {
  CONCORD_TOOLCHAIN=private
  setup
  tsan=$root-tsan-$(cat "$top"/tools/tsan/{ocaml,libs}.sh | sha256sum | cut -c1-6)
  [ -e "$tsan/.ready" ] || make_tsan
  enter bash "$top/tools/tsan/run.sh" "$top" "$tsan" "$@" < <(list_tests)
}

# Makes $tsan. Where this is itself killed, it leaves a folder without .ready, which the next time removes.
make_tsan() {
  exec 9>>"$cache/lock"
  flock -n 9 || { say "another set-up is running; waiting for it"; flock 9; }
  if [ -e "$tsan/.ready" ]; then exec 9>&-; return; fi
  partial=$tsan
  trap abandon EXIT
  trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
  rm -rf --one-file-system "$tsan"
  [ "$(free_mb)" -ge 1500 ] || die "an OCaml with ThreadSanitizer needs 1500 MB in $cache, where only $(free_mb) MB are free"
  : >"$log"
  say "building an OCaml with ThreadSanitizer, once: 5 to 10 minutes, 0.3 GB in $tsan"
  get_sources || fail "download the sources of OCaml and Alcotest"
  # With its own processes, which end with it; it ends with this script.
  CONCORD_TOOLCHAIN=private setpriv --pdeathsig KILL unshare --mount --propagation private \
    --pid --fork --kill-child --mount-proc \
    "$top/dev" exec bash "$top/tools/tsan/ocaml.sh" "$tsan" </dev/null >>"$log" 2>&1 9>&- &
  maker=$!
  progress || fail "build an OCaml with ThreadSanitizer"
  touch "$tsan/.ready"
  trap - EXIT INT TERM HUP
  exec 9>&-
}

# Downloads what the authors released, from where the private root came. Apt's state is that of $tsan, not the host's.
get_sources() {
  local apt=$tsan/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$tsan/sources" &&
    sed 's/^deb /deb-src /' "$root/etc/apt/sources.list" >"$apt/sources.list" &&
    touch "$apt/status" || return
  local options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$apt/lists"
    -o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  host_apt "${options[@]}" update &&
    (cd "$tsan/sources" && host_apt "${options[@]}" source --download-only --tar-only ocaml ocaml-alcotest) &&
    rm -r "$apt"
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
