Two files of results, as --json writes them. The rows have only the fields that matter here:

  $ row() { printf '{"group":"mvar","case":"%s","impl":"%s","host":"fifo","unit":"%s","samples":[%s]}' "$@"; }
  $ file() {
  >   printf '[{"machine":"","date":"","command":"","effort":"","versions":{},"left_out":[],"rows":[%s]}]\n' "$(IFS=,; echo "$*")"
  > }
  $ file "$(row serial concord ns 100,101,102)" "$(row parallel concord ns 200,201,202)" "$(row other eio ns 10,15,20)" >a.json

Equal rows are level. So are rows whose change is within the spread, or negligible:

  $ ../../main.exe --compare a.json a.json
  rows in both files: 3; level: 3; all of them, the second file to the first: 1.00x as good [1.00 1.00]
  $ file "$(row serial concord ns 102,103,104)" "$(row parallel concord ns 203,204,204)" "$(row other eio ns 16,17,25)" >level.json
  $ ../../main.exe --compare a.json level.json
  rows in both files: 3; level: 3; all of them, the second file to the first: 0.98x as good [0.93 0.98]

One row became better, and one became worse, so the exit code is 3:

  $ file "$(row serial concord ns 50,51,52)" "$(row parallel concord ns 200,201,202)" "$(row other eio ns 10,15,20)" >better.json
  $ ../../main.exe --compare a.json better.json
  rows in both files: 3; level: 2; all of them, the second file to the first: 1.00x as good [1.00 1.49]
  
  better beyond the spread: 1
    mvar       serial                   concord@fifo         101.0 [100.5 101.5] -> 51.0 [50.5 51.5] ns  1.98x better
  $ ../../main.exe --compare better.json a.json
  rows in both files: 3; level: 2; all of them, the second file to the first: 1.00x as good [0.75 1.00]
  
  worse beyond the spread: 1
    mvar       serial                   concord@fifo         51.0 [50.5 51.5] -> 101.0 [100.5 101.5] ns  1.98x worse
  [3]

A larger rate is better:

  $ file "$(row web concord req/s 100,101,102)" >slow.json
  $ file "$(row web concord req/s 200,201,202)" >fast.json
  $ ../../main.exe --compare slow.json fast.json
  rows in both files: 1; level: 0; all of them, the second file to the first: 1.99x as good [1.99 1.99]
  
  better beyond the spread: 1
    mvar       web                      concord@fifo         101.0 [100.5 101.5] -> 201.0 [200.5 201.5] req/s  1.99x better
  $ ../../main.exe --compare fast.json slow.json
  rows in both files: 1; level: 0; all of them, the second file to the first: 0.50x as good [0.50 0.50]
  
  worse beyond the spread: 1
    mvar       web                      concord@fifo         201.0 [200.5 201.5] -> 101.0 [100.5 101.5] req/s  1.99x worse
  [3]

Rows that only one file has, and rows in different units, are named. They are not regressions:

  $ file "$(row serial concord us 1,1,1)" "$(row new concord ns 5,5,5)" "$(row other eio ns 10,15,20)" >others.json
  $ ../../main.exe --compare a.json others.json
  rows in both files: 1; level: 1; all of them, the second file to the first: 1.00x as good [1.00 1.00]
  
  not comparable:
    mvar       serial                   concord@fifo         the unit was ns, and is us now
  
  only in a.json:
    mvar       parallel                 concord@fifo
  
  only in others.json:
    mvar       new                      concord@fifo

A file that has no results is reported:

  $ ../../main.exe --compare a.json missing.json
  bench: missing.json: No such file or directory
  [2]
  $ echo '{' >malformed.json
  $ ../../main.exe --compare a.json malformed.json
  bench: malformed.json: is not JSON: Line 2, bytes -1-0: Unexpected end of input
  [2]
  $ echo '[{"rows":[]}]' >malformed.json
  $ ../../main.exe --compare a.json malformed.json
  bench: malformed.json: "left_out" is missing
  [2]
  $ file '{"group":"mvar"}' >malformed.json
  $ ../../main.exe --compare a.json malformed.json
  bench: malformed.json: row 1: there are no samples
  [2]
  $ file '{"group":"mvar","samples":[1]}' >malformed.json
  $ ../../main.exe --compare a.json malformed.json
  bench: malformed.json: row 1: "unit" is missing
  [2]
  $ file "$(row serial concord ns '"fast"')" >malformed.json
  $ ../../main.exe --compare malformed.json a.json
  bench: malformed.json: row 1: a sample is not a number
  [2]
  $ file >empty.json
  $ ../../main.exe --compare a.json empty.json
  no row of one file can be compared with one of the other
  
  only in a.json:
    mvar       serial                   concord@fifo
    mvar       parallel                 concord@fifo
    mvar       other                    eio@fifo
  [2]
  $ ../../main.exe --compare a.json
  bench: --compare needs two files
  [2]
