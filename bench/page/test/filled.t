The tables of README.md and bench/RESULTS.md are filled with what was measured, here with figures that are made up; what is
around them stays:

  $ cp ../../../README.md ../../RESULTS.md . && chmod +w *.md
  $ outside() { sed '/^<!-- measured: /,/^<!-- end -->/d' "$1"; }
  $ outside README.md >readme && outside RESULTS.md >results
  $ ../../main.exe --from made_up.json --fill README.md --fill RESULTS.md
  README.md
  RESULTS.md
  $ outside README.md | diff readme - && outside RESULTS.md | diff results -

Each row that a table should have is there:

  $ rows() { sed -n "/^<!-- measured: $1 -->/,/^<!-- end -->/p" RESULTS.md | grep -c '^| [^-]'; }
  $ for table in one-domain two-domains cancelling fib-loads fib-domains effect styles styles-bytecode private-mvar; do
  >   echo "$table $(rows $table)"; done
  one-domain 9
  two-domains 9
  cancelling 13
  fib-loads 8
  fib-domains 8
  effect 12
  styles 15
  styles-bytecode 11
  private-mvar 8

The rows of README.md are rows of RESULTS.md, then and in the project:

  $ table() { sed -n '/^<!-- measured: /,/^<!-- end -->/p' "$1" | grep '^|' | sort -u; }
  $ table README.md >a && table RESULTS.md | comm -23 a -
  $ table ../../../README.md >a && table ../../RESULTS.md | comm -23 a -

The web server is compared with the plain one of Eio:

  $ figures() { sed -n "/^<!-- measured: $1 -->/,/^<!-- end -->/p" RESULTS.md | grep -F "$2" | cut -d '|' -f "$3"; }
  $ [ "$(figures two-domains 'HTTP requests' 4 | tr -dc 0-9)" = "$(figures web eio@http 3 | tr -dc 0-9)" ] && echo the same
  the same

A table that is not known, or does not end, leaves the document as it is:

  $ printf '<!-- measured: nothing -->\n<!-- end -->\n' >unknown.md
  $ ../../main.exe --from made_up.json --fill unknown.md
  bench: unknown.md: there is no table nothing
  [1]
  $ printf '<!-- measured: web -->\n' | tee open.md
  <!-- measured: web -->
  $ ../../main.exe --from made_up.json --fill open.md
  bench: open.md: the table web has no end
  [1]
  $ cat open.md
  <!-- measured: web -->
  $ ../../main.exe --fill open.md
  bench: --fill takes its figures from a file: add --from
  [2]
