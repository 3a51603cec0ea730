# shellcheck shell=bash
# Finds the tests by their names, runs some of them, and records which failed. ./dev sources this file.
# Needs from ./dev: top (the project), say, die, dune, command (for messages).
# shellcheck disable=SC2154  # those are assigned in ./dev

# Prints "FOLDER NAME ALIAS" for each program of a test stanza and each cram test, a file NAME.t or a folder of that name.
# A test whose action is (progn) is no test, but a program that is built only if its libraries are installed. Dune's own
# list (dune describe tests) isn't used, because it needs dune 3.21 and doesn't work while ./dev watch runs.
list_tests() {
  (
    cd "$top" || exit
    find . -name '[_.]?*' -prune -o -name '*.t' -prune -o -name dune -type f -exec awk '
      FNR == 1 { depth = head = 0; names = text = ""; dir = FILENAME; sub(/^\.\//, "", dir); if (!sub(/\/dune$/, "", dir)) dir = "." }
      {
        gsub(/"([^"\\]|\\.)*"/, "_"); sub(/;.*/, ""); gsub(/[()]/, " & ")
        for (i = 1; i <= NF; i++) {
          text = text " " $i
          if ($i == "(") { depth++; head = 1 }
          else if ($i == ")") {
            if (--depth == 0) { if (text !~ / action \( progn \)/) printf "%s", names; names = text = "" }
          }
          else if (head) { word[depth] = $i; head = 0 }
          else if (depth == 2 && word[1] ~ /^tests?$/ && word[2] ~ /^names?$/)
            names = names dir " " $i " @" dir "/runtest-" $i "\n"
        }
      }' {} +
    find . -name '[_.]?*' -prune -o -name '*.t' -prune -print | sed -n 's|^\./\(.*\)/\([^/]*\)\.t$|\1 \2 @\1/\2|p'
  ) | sort
}

# Prints the names for people to read, by folder.
print_tests() {
  list_tests | awk '
    $1 != dir { if (NR > 1) print ""; dir = $1; printf "%s:", dir; column = length(dir) + 1 }
    column + length($2) > 118 { printf "\n "; column = 1 }
    { printf " %s", $2; column += length($2) + 1 }
    END { if (NR) print "" }'
}

# Prints up to five names of tests and folders that $1 may have been meant for. They contain $1, or differ from it in a few
# letters, perhaps only without the prefixes (model_latch for test_latch).
similar() {
  list_tests | awk -v wanted="$1" '
    function least(a, b) { return a < b ? a : b }
    function distance(a, b,    i, j, row, before, corner) {
      for (i = 1; i < length(a); i++)
        if (substr(a, 1, i - 1) substr(a, i + 1, 1) substr(a, i, 1) substr(a, i + 2) == b) return 1
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        corner = row[0]; row[0] = i
        for (j = 1; j <= length(b); j++) {
          before = row[j]
          row[j] = least(least(row[j], row[j - 1]) + 1, corner + (substr(a, i, 1) != substr(b, j, 1)))
          corner = before
        }
      }
      return row[length(b)]
    }
    function stem(word) { sub(/^[a-z]*_/, "", word); return word }
    function consider(name, word,    far, farther) {
      if (seen[name]++) return
      far = index(word, wanted) ? 0 : distance(wanted, word)
      farther = distance(stem(wanted), stem(word))
      if (far <= length(wanted) / 4 || farther <= length(stem(wanted)) / 3) print least(far, farther), name
    }
    BEGIN { sub(/\.ml$/, "", wanted); sub(/.*\//, "", wanted) }
    { consider($2, $2); parts = split($1, part, "/"); consider($1, part[parts]) }' |
    sort -n | head -n 5 | cut -d' ' -f2 | paste -sd, - | sed 's/,/, /g'
}

# Prints the path, from the top of the project, of what $1 names in the current folder.
from_top() {
  local path
  if [ -d "$1" ]; then path=$(cd -- "$1" && pwd -P)
  else path=$(cd -- "$(dirname -- "$1")" 2>/dev/null && pwd -P)/$(basename -- "$1"); fi
  case $path in "$top") echo . ;; "$top"/*) printf '%s\n' "${path#"$top"/}" ;; esac
}

# Prints the aliases of what $1 names, or nothing if it names nothing. $1 can be a program, as test_mvar, unit/test_mvar or
# the path of its file. It can be a folder, relative to test/, the current folder or the top, or the end of its path.
target_of() {
  local name=${1#./} path found folder
  path=$(from_top "$1")
  found=$(list_tests | awk -v name="${name%.*}" -v path="${path%.*}" '
    { full = $1 "/" $2; tail = "/" full; start = length(tail) - length(name) }
    full == path || (name != "" && start > 0 && substr(tail, start) == "/" name) { print $3 }')
  if [ -n "$found" ]; then printf '%s\n' "$found"; return; fi
  name=${name%/}
  # The name ppx means test/ppx, and ./ppx means the folder ppx.
  case $1 in .* | /*) set -- "$path" ;; *) set -- "test/$name" "$path" "$name" ;; esac
  for folder; do
    if [ "$folder" = . ]; then echo @runtest; return; fi
    if [ -n "$folder" ] && [ -d "$top/$folder" ]; then echo "@$folder/runtest"; return; fi
  done
  list_tests | awk -v name="$name" '
    { tail = "/" $1; start = length(tail) - length(name) }
    start > 0 && substr(tail, start) == "/" name { print "@" $1 "/runtest" }' | uniq
}

# Prints the aliases of all these names. Ends the script if one of them names nothing.
targets_of() {
  local name found close
  for name; do
    found=$(target_of "$name")
    if [ -z "$found" ]; then
      print_tests >&2
      close=$(similar "$name")
      die "$command: no test above, and no folder, is named '$name'${close:+ (did you mean $close?)}"
    fi
    printf '%s\n' "$found"
  done
}

# --- Running, and which failed ---------------------------------------------------------------------------------------

record=$top/_build/.failed-tests

# Prints the aliases of the tests that have failed, and have not passed since.
failed_before() { if [ -e "$record" ]; then cat "$record"; fi; }

# Reads dune's output, and prints the aliases of the tests that it reports. Dune reports a failed program at its name in the
# dune file, and a failed comparison at the beginning of the compared file. If no test has that name, a rule or a page of the
# documentation failed, and the alias is that of its folder alone. Dune reports a program that does not compile at its source.
failed_in() {
  local file line from to name dir found
  sed -nE $'s/\033\\[[0-9;]*m//g; s|^File "(.*)", lines? ([0-9]+)[-0-9]*, characters ([0-9]+)-([0-9]+):.*|\\1 \\2 \\3 \\4|p' "$1" |
    while read -r file line from to; do
      case $file in *.t/run.t) file=${file%/run.t} ;; esac
      dir=$(dirname "$file")
      name=${file##*/} name=${name%.*}
      if [ "$name" = dune ]; then name=$(sed -n "${line}p" "$top/$file" | cut -c"$((from + 1))-$to" 2>/dev/null) || name=; fi
      found=$(list_tests | awk -v dir="$dir" -v name="$name" '$1 == dir && $2 == name { print $3 }')
      if [ -n "$found" ]; then printf '%s\n' "$found"
      elif [ "${file##*/}" = dune ] || [ "$line $from $to" = "1 0 0" ]; then printf '%s\n' "@@$dir/runtest"; fi
    done | sort -u
}

# Prints the aliases of its input that running "$@" does not run.
not_run_by() {
  local old ran
  while read -r old; do
    for ran; do
      case $ran in
      @runtest | "$old") continue 2 ;;
      @*/runtest) ran=${ran##*@}; case ${old##*@} in "${ran%runtest}"*) continue 2 ;; esac ;;
      esac
    done
    printf '%s\n' "$old"
  done
}

# Prints aliases as people write them.
plain() { printf '%s\n' "$@" | sed 's|^@*||; s|runtest-||; s|/runtest$||' | paste -sd, - | sed 's/,/, /g'; }

# Builds these aliases (dune's options come first), shows dune's output, and records the tests that failed. If none failed,
# the last line is the number of tests, which is the sum of the numbers that alcotest and qcheck print.
run_tests() {
  local result=0 failed='' count limit
  late=
  output=$(mktemp)
  # A test that hangs is killed, and dune then reports where it is defined. The tests of --long have limits of their own.
  limit=${CONCORD_TEST_LIMIT:-900}
  [[ $limit =~ ^[0-9]+$ ]] || die "test: CONCORD_TEST_LIMIT is '$limit', but it must be a whole number of seconds, or 0 for no limit"
  [ -z "${CONCORD_LONG:-}" ] || limit=0
  if [ "$limit" != 0 ]; then bash "$top/tools/late.sh" $$ "$limit" >&2 & late=$!; fi
  trap 'rm -f "$output"; [ -z "$late" ] || kill "$late" 2>/dev/null || true' EXIT
  # Behind tee, dune sees no terminal.
  if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then export CLICOLOR_FORCE=1; fi
  # The tests wait for timeouts and for one another for a quarter of their time. So two more tests run than there are cores.
  export DUNE_JOBS=${DUNE_JOBS:-$(($(getconf _NPROCESSORS_ONLN) + 2))}
  { (dune build "$@") 2>&1 >&3 3>&- | tee "$output" >&2; } 3>&1 || result=$?
  if [ $result != 0 ]; then
    failed=$(failed_in "$output")
    # ./dev has waited for other dunes, but one may have begun just now.
    if [ -z "$failed" ] && grep -qE 'Another Dune instance is currently running|has locked the build directory' "$output"
    then die "another dune is running in this checkout, so nothing was tested. Try again when it has ended"; fi
    # If dune reports no test, the build failed, so none of these tests ran.
    [ -n "$failed" ] || failed=$(printf '%s\n' "$@" | grep '^@')
  fi
  mkdir -p "${record%/*}"
  { failed_before | not_run_by "$@"; if [ -n "$failed" ]; then printf '%s\n' "$failed"; fi; } | sort -u >"$record.new"
  mv "$record.new" "$record"
  if [ $result != 0 ]; then
    # shellcheck disable=SC2086  # a list of words
    say "failed: $(plain $failed)"
    say "run ./dev test --failed to run these again"
    exit "$result"
  fi
  count=$(awk '/^Test Successful in .* tests? run/ { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^tests?$/) n += $i }
    /^success \(ran [0-9]+ tests?\)/ { n += $3 }
    END { print n + 0 }' "$output")
  if [ "$count" != 0 ] || [[ $* = *@runtest ]]; then echo "$count passed, 0 failed"
  elif [ ! -s "$output" ] && [ "$1" != --force ]; then say "passed. Tests that had passed before and have not changed did not run again (--force runs them)"
  else say "passed, without a count of tests"; fi
}

# Prints the path, without extension, of the program that the aliases "$@" run. Ends the script if it is not one program.
program_of() {
  case "$#$*" in
  1@*/runtest-*) printf '%s\n' "${1#@}" | sed 's/runtest-//' ;;
  0*) die "test: -- passes arguments to a program, so name one, for example ./dev test test_mvar -- --help" ;;
  1*) die "test: -- passes arguments to one program, but $(plain "$1") is not a program" ;;
  *) die "test: -- passes arguments to one program, but these are $#: $(plain "$@")" ;;
  esac
}
