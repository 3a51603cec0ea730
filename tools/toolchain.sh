# shellcheck shell=bash
# The toolchain: the host's own if it is complete, otherwise a private Debian root, which is made once. ./dev sources this.
#
# setup decides which one is used, and makes the root. enter replaces the process by a program inside the toolchain.
# Needs from ./dev: top (the project), here (where programs run), command (for messages), say, die.
# shellcheck disable=SC2154  # those are assigned in ./dev

suite=forky size="3 GB"
# The packages of the private root: the compiler, the libraries, the HTTP clients and the browser that the tests use, the
# programs that the benchmark needs for comparisons and charts, and those that ./dev release needs to do what a user of opam
# does, and to compile the C files once more.
packages="ocaml ocaml-dune ocaml-findlib ocaml-odoc ocamlformat opam libeio-ocaml-dev libdomainslib-ocaml-dev
 liblwt-ocaml-dev libkcas-ocaml-dev libsaturn-ocaml-dev libdomain-local-await-ocaml-dev
 libdomain-local-timeout-ocaml-dev libalcotest-ocaml-dev libqcheck-stm-ocaml-dev libqcheck-lin-ocaml-dev
 libdscheck-ocaml-dev libmulticore-bench-ocaml-dev libcohttp-lwt-unix-ocaml-dev libmdx-ocaml-dev libcmdliner-ocaml-dev
 libyojson-ocaml-dev libcaqti-lwt-ocaml-dev libcaqti-driver-sqlite3-ocaml-dev libcaqti-driver-postgresql-ocaml-dev
 postgresql libmtime-ocaml-dev libppxlib-ocaml-dev libunwind-dev curl wrk golang-go nodejs gnuplot-nox
 chromium dnsmasq-base python3-minimal libpython3-stdlib python3-prometheus-client redis-server graphviz git rsync
 clang mold"
# The findlib names and programs that the host must have to be used as it is. The opam files name the same. Everything else
# in the private root may be missing on the host. The tests that need it are then left out, with a message.
host_libs="threads.posix domain-local-await domain-local-timeout iomux eio_main domainslib lwt.unix lwt_direct kcas
 kcas_data saturn alcotest qcheck-core qcheck-stm.stm dscheck http mdx cmdliner yojson mtime.clock ppxlib
 ppxlib.metaquot"
host_tools="dune ocamlfind ocaml-mdx curl"
install_command="opam switch create . --deps-only --with-test -y"

# Chooses the switch of this folder, which $install_command makes, as opam does if it is called in this folder.
use_switch() {
  if [ -d "$top/_opam" ] && [ "${OPAM_SWITCH_PREFIX:-}" != "$top/_opam" ] && command -v opam >/dev/null; then
    eval "$(cd "$top" && opam env)"
  fi
}

# Prints the first thing that the host lacks, or nothing if it has everything. (It uses type -P, because command -v would find
# ./dev's function dune.)
host_lacks() {
  local tool version missing
  for tool in $host_tools; do type -P "$tool" >/dev/null || { printf '%s' "$tool"; return; }; done
  version=$(ocamlfind ocamlopt -version 2>/dev/null) || { printf 'ocamlopt'; return; }
  case $version in [0-4].* | 5.[0-2] | 5.[0-2].*) printf 'OCaml >= 5.3'; return ;; esac
  # shellcheck disable=SC2086  # a list of words
  missing=$(ocamlfind query $host_libs 2>&1 >/dev/null) || printf 'a library (%s)' "${missing%%$'\n'*}"
}

# The specification of XDG_CACHE_HOME says that a relative path must be ignored.
case ${XDG_CACHE_HOME:-} in /*) cache=$XDG_CACHE_HOME/concord ;; *) cache=${HOME:-/root}/.cache/concord ;; esac
log=$cache/setup.log private='' maker=''
# For enter: a folder whose usr is mounted over the private root's usr, and a prefix for the command that enters.
over='' alone=()

# Sets root, the folder of the private root with $packages of $suite from the archive CONCORD_DEBIAN.
name_root() {
  # shellcheck disable=SC2086
  root=$cache/toolchain-$(printf '%s\n' "$suite" $packages ${CONCORD_DEBIAN:+"$CONCORD_DEBIAN"} | sort | sha256sum | cut -c1-12)
  partial=$root.partial
}

# Prints "URI KEYRING" of the first Debian archive whose lists the host's own apt has read. KEYRING is empty if apt's entry
# names no file.
debian_archive() {
  local uri entry keyring
  # Security updates and backports have labels of their own. An entry is FILE:LINE, in a .sources file FILE:STANZA.
  # shellcheck disable=SC2016  # expanded by apt
  read -r uri entry < <(
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI) $(SOURCESENTRY)' 'Created-By: Packages' \
      2>/dev/null | sed -n 's/^Debian|Debian|main|//p' | grep -v '^cdrom:') || return 1
  case $entry in
  *.sources:*) keyring=$(grep -v '^#' "${entry%:*}" | awk -v RS= -v n="${entry##*:}" 'NR == n' |
    sed -n 's/^[Ss]igned-[Bb]y:[ \t]*//p' | tr -s ', \t' ,) ;;
  *) keyring=$(sed -n "${entry##*:}s/.*[Ss]igned-[Bb]y=\([^] ]*\).*/\1/p" "${entry%:*}") ;;
  esac
  # A fingerprint or an inline key is ignored, because mmdebstrap knows Debian's own keyring.
  case $keyring in /*) ;; *) keyring= ;; esac
  printf '%s %s\n' "$uri" "$keyring"
}

# apt must not ask questions, and must leave standard input to the command that runs afterwards.
host_apt() { DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 "$@" </dev/null >>"$log" 2>&1; }

free_mb() { df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }'; }

# Ends the script with one sentence that names what failed and, if the log tells, why. A full disk cuts the log short.
fail() {
  if [ "$(free_mb)" -lt 50 ] || grep -qiE 'no space left|not enough free space' "$log"
  then die "cannot $1: no disk space left in $cache (log: $log)"; fi
  if grep -qiE 'temporary failure resolving|could not (resolve|connect)|unable to connect|failed to fetch|no installation candidate|unable to locate' "$log"
  then die "cannot $1: no network, or the archive that apt is configured for is out of reach (log: $log)"; fi
  tail -n 5 "$log" | cut -c1-200 >&2
  die "cannot $1 (log: $log)"
}

# Called if the set-up ends early. Stops $maker and removes its files. Its last processes may outlive it by a moment.
abandon() {
  if [ -n "$maker" ]; then { kill -KILL "$maker"; wait "$maker"; } 2>/dev/null || true; fi
  rm -rf --one-file-system "$partial" 2>/dev/null || { sleep 1; rm -rf --one-file-system "$partial"; }
}

# Makes $root. If the set-up itself is killed, only $partial is left, and the next set-up removes it.
make_root() {
  local archive uri keyring free acquire
  { mkdir -p "$cache" && exec 9>>"$cache/lock"; } 2>/dev/null || die "cannot write to $cache"
  flock -n 9 || { say "another set-up is running, so this one waits for it"; flock 9; }
  if [ -e "$root/.ready" ]; then exec 9>&-; return; fi
  trap abandon EXIT
  trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
  rm -rf --one-file-system "$partial" "$root"
  free=$(free_mb)
  [ "$free" -ge 4000 ] || die "the private toolchain needs 4000 MB in $cache, but only $free MB are free"
  : >"$log"
  # A fresh image has no lists yet, but apt identifies a Debian archive only by its list.
  if [ -n "${CONCORD_DEBIAN:-}" ]; then archive="$CONCORD_DEBIAN "; else archive=$(debian_archive); fi ||
    { say "reading apt's package lists"; host_apt update || true; archive=$(debian_archive); } ||
    fail "find a Debian archive with the host's apt"
  uri=${archive%% *} keyring=${archive#* }
  if ! command -v mmdebstrap >/dev/null; then
    say "installing mmdebstrap"
    set -- install --no-install-recommends mmdebstrap
    host_apt "$@" || { host_apt update && host_apt "$@"; } || fail "install mmdebstrap"
  fi
  say "making the toolchain, once: Debian $suite with OCaml, about $size in $root"
  # Copies the host's apt configuration, because mmdebstrap doesn't read it. It may name a proxy, or allow a frozen mirror.
  acquire=$(apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)') || true
  # The signature of an old state of the archive is valid, but its date has passed.
  [ -z "${CONCORD_DEBIAN:-}" ] || acquire+=$'\nAcquire::Check-Valid-Until "false";'
  # In its own namespaces, its mounts don't appear on the host, and its processes end with it. It ends with this script.
  # shellcheck disable=SC2086
  setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    mmdebstrap --mode=root --variant=apt --include="$(printf '%s\n' $packages | paste -sd,)" \
    ${acquire:+--aptopt="$acquire"} \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    "$suite" "$partial" "deb${keyring:+ [signed-by=$keyring]} $uri $suite main" >>"$log" 2>&1 &
  maker=$!
  progress || fail "make the toolchain of Debian $suite"
  echo '127.0.0.1 localhost' >"$partial/etc/hosts"
  rm -rf "$partial"/var/cache/apt/archives/*.deb
  touch "$partial/.ready"
  mv -T "$partial" "$root"
  trap - EXIT INT TERM HUP
  exec 9>&-
  say_changes
}

# Prints "NAME VERSION" for each of $packages, and for the C compiler that OCaml brings.
print_versions() (
  export LC_ALL=C
  # shellcheck disable=SC2086
  join <(printf '%s\n' gcc $packages | sort) <(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Package} ${Version}\n' | sort)
)

# Prints what the private root has in another version than the one with which the tests have passed (tools/versions).
say_changes() {
  local changes
  [ "$suite" = forky ] || return 0
  changes=$(print_versions | LC_ALL=C join -a 1 -a 2 -e none -o 0,1.2,2.2 "$top/tools/versions" - |
    awk '$2 != $3 { printf ", %s %s -> %s", $1, $2, $3 }')
  [ -z "$changes" ] ||
    say "the tests have not passed with all versions of this toolchain: ${changes#, }. If they pass, call ./dev versions >tools/versions"
}

# Prints the growing size of $partial until $maker ends. Returns the result of $maker.
progress() {
  local start=$SECONDS next=15 result=0
  while kill -0 "$maker" 2>/dev/null; do
    sleep 1
    if [ -t 2 ]; then printf '\rdev: %4d MB, %3d s ' "$(partial_mb)" $((SECONDS - start)) >&2
    elif [ $((SECONDS - start)) -ge $next ]; then
      say "$(partial_mb) MB after $((SECONDS - start)) s"
      next=$((next + 15))
    fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  wait "$maker" || result=$?
  maker=
  return $result
}

partial_mb() { du -sm "$partial" 2>/dev/null | cut -f1; }

# Leaves $private empty if the host's toolchain is used. Otherwise makes the private root ready.
setup() {
  local mode=${CONCORD_TOOLCHAIN:-auto} lacks
  case $mode in auto | host | private) ;; *) die "CONCORD_TOOLCHAIN is '$mode', but it must be auto, host or private" ;; esac
  [ "$mode" = private ] || use_switch
  lacks=$(host_lacks)
  case $mode in
  host) [ -z "$lacks" ] || die "CONCORD_TOOLCHAIN=host, but the host lacks $lacks. Install it with opam ($install_command)" ;;
  private) private=1 ;;
  auto) [ -z "$lacks" ] || private=1 ;;
  esac
  if [ -n "$private" ]; then
    lacks=${lacks:+the host lacks $lacks. }
    command -v apt-get >/dev/null ||
      die "${lacks}Install OCaml >= 5.3 and the libraries with opam ($install_command). Only Debian can have a private toolchain"
    [ "$(id -u)" = 0 ] ||
      die "${lacks}Install OCaml >= 5.3 and the libraries with opam ($install_command), or let root make a private toolchain (sudo ./dev $command)"
    unshare --mount true 2>/dev/null || die "the private toolchain needs a mount namespace, which is not allowed here. If this is a container, run it with --privileged"
    name_root
    [ -e "$root/.ready" ] || make_root
  fi
}

# Replaces this process by "$@" in the toolchain. In the private root, the folders with people's files have the same paths as
# on the host, but the system is the root's own. OCAMLPATH is removed, because the host's libraries were built by another
# compiler. It is kept for benchmarks, tests with peers, and releases, where it may name peers that this compiler built. For tests
# with the oldest libraries it is their folder.
enter() {
  cd "$here" || exit
  if [ -z "$private" ]; then
    [ "$command${variant:+ $variant}" != 'test oldest' ] || export OCAMLPATH="$CONCORD_LOWEST${OCAMLPATH:+:$OCAMLPATH}"
    exec "$@"
  fi
  local peers=
  case $command${variant:+ $variant} in bench | release | 'test peers') peers=${OCAMLPATH:-} ;; 'test oldest') peers=$CONCORD_LOWEST ;; esac
  # shellcheck disable=SC2016  # expanded inside
  exec "${alone[@]}" unshare --mount --propagation private bash -euc '
    root=$(cd "$1"; pwd -P) top=$2 here=$3 peers=$4 over=$5; shift 5
    [ -z "$over" ] || mount -t overlay overlay -o "lowerdir=$over/usr:$root/usr" "$root/usr"
    bind() { mkdir -p "$root$1"; mount --rbind "$1" "$root$1"; }
    # This folder, which contains the root, comes first. Later it would show all binds a second time, below the root.
    holder=${root#/}
    for dir in "/${holder%%/*}" /*; do
      case $dir in
      /bin|/boot|/etc|/lib|/lib32|/lib64|/libx32|/libo32|/sbin|/usr|/var|/lost+found) ;;
      *) if [ -d "$dir" ] && [ ! -L "$dir" ] && [ ! "$dir" -ef "$root$dir" ]; then bind "$dir"; fi ;;
      esac
    done
    [ "$top" -ef "$root$top" ] || bind "$top"
    [ -d "$root$here" ] || { echo "dev: the toolchain has no folder $here. Call ./dev in another folder" >&2; exit 1; }
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
    export DUNE_CACHE_ROOT=/var/cache/dune GOCACHE=/var/cache/go OPAMROOTISOK=1
    unset OCAMLPATH OCAMLFIND_CONF CAML_LD_LIBRARY_PATH OPAM_SWITCH_PREFIX OCAMLTOP_INCLUDE_PATH
    [ -z "$peers" ] || export OCAMLPATH="$peers"
    [ -z "$over" ] || export OCAMLFIND_CONF="$over/findlib.conf"
    # Here gcc finds mold under the name ld.
    [ ! -e "$root/usr/libexec/mold/ld" ] || export COMPILER_PATH=/usr/libexec/mold
    exec chroot "$root" bash -c "cd \"\$1\"; shift; exec \"\$@\"" dev "$here" "$@"' \
    dev "$root" "$top" "$PWD" "$peers" "$over" "$@"
}

