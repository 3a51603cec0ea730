# shellcheck shell=bash
# late.sh PID SECONDS: until it is ended itself, kills what a dune among the offspring of the process PID has run for
# longer than that, with all that came of it, and says what it was and where in the kernel its threads were: dune itself
# limits no test.
set -uo pipefail
root=$1 limit=$2
[ -r /proc/uptime ] || exit 0
hz=$(getconf CLK_TCK 2>/dev/null || echo 100)

# Prints a line for each process to kill: what dune has run, and the process that came of it.
late() {
  cat /proc/[0-9]*/stat 2>/dev/null |
    awk -v root="$root" -v limit="$limit" -v hz="$hz" -v up="$(cut -d' ' -f1 /proc/uptime)" '
      {
        process = $1
        is_dune[process] = / \(dune(\.exe)?\) /
        sub(/^.*\) /, "")
        parent[process] = $2
        age[process] = up - $20 / hz
      }
      END {
        for (process in parent) {
          run = 0
          for (p = process; p in parent && p != root; p = parent[p]) if (is_dune[parent[p]]) run = p
          if (p == root && run && age[run] > limit) print run, process
        }
      }' | sort -n
}

# The pause holds none of the outputs open that others wait for.
while sleep $((limit < 50 ? 1 : limit / 50)) >/dev/null 2>&1; do
  before=
  late | while read -r run process; do
    [ "$run" = "$before" ] || echo "dev: no end after $limit s, so killed:"
    before=$run
    {
      echo "  $(tr '\0' ' ' <"/proc/$process/cmdline")"
      for thread in "/proc/$process/task"/*; do echo "    $(cat "$thread/comm" "$thread/wchan" | paste -sd' ')"; done
      kill -KILL "$process"
    } 2>/dev/null
  done
done
