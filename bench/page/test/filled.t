The tables of the documents match the samples that are kept beside them:

  $ cp ../../RESULTS.md . && chmod +w *.md
  $ fill() { ../../main.exe --from "$1" --fill RESULTS.md; }
  $ fill ../../results.json
  RESULTS.md
  $ for file in ../../RESULTS.md; do diff "$file" .; done

If the tables are filled with invented figures, the text around them stays:

  $ outside() { sed '/^<!-- measured: /,/^<!-- end -->/d' "$1"; }
  $ for file in *.md; do outside $file >$file.outside; done
  $ fill made_up.json >/dev/null
  $ for file in *.md; do outside $file | diff $file.outside -; done

Each table has all of its rows:

  $ rows() { sed -n "/^<!-- measured: $2 -->/,/^<!-- end -->/p" $1 | grep -c '^| [^-]'; }
  $ for table in hosts table-1 cancelling fib web effect styles threads generators pipeline \
  >   workers blocking local; do
  >   echo "$table $(rows RESULTS.md $table)"; done
  hosts 13
  table-1 3
  cancelling 7
  fib 25
  web 31
  effect 8
  styles 21
  threads 12
  generators 9
  pipeline 15
  workers 18
  blocking 14
  local 13

A table can be printed alone. This one has every row:

  $ ../../main.exe --from made_up.json --print rows | grep -c '^| [a-z]' >printed
  $ ../../main.exe --rows 2>/dev/null | wc -l >measured
  $ [ "$(cat printed)" -ge "$(cat measured)" ] || cat printed measured
  $ ../../main.exe --from made_up.json --print nothing 2>&1 | cut -c-50
  bench: --print: there is no table "nothing". The t

Every claim has a verdict, with the finding that decides about it:

  $ sed -n '/^<!-- measured: verdicts -->/,/^<!-- end -->/p' RESULTS.md | grep '^|' | grep -v '^| part \|^| ---' >verdicts
  $ grep -vcE '\| \*\*(confirmed|refuted|undecided|not measured)\*\* \| [^|]' verdicts
  0
  [1]

If a table is unknown, or has no end, the document stays as it is:

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

All charts that the documents show can be drawn, and no others are drawn:

  $ mkdir charts && ../../main.exe --from made_up.json --charts charts 2>/dev/null
  $ grep -oh 'charts/[a-z0-9-]*\.svg' RESULTS.md | sort -u >shown
  $ if command -v gnuplot >/dev/null; then ls charts/*.svg | sort | diff shown -; fi

With --json, the results of another machine are added to those that are kept. Their groups replace the groups of the same names.

  $ cp made_up.json kept.json
  $ ../../main.exe --from made_up.json --json kept.json --print rows >merged
  $ ../../main.exe --from made_up.json --print rows | diff - merged
  $ ../../main.exe --from made_up.json --json new.json
  $ ../../main.exe --from new.json --print rows | diff merged -
