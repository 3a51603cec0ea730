The output of the command, and its exit code.

  $ unset CONCORD_DEBUG OCAMLRUNPARAM
  $ concord-trace --no-table -o met.json ./meeting.exe 3
  met
  concord-trace: met.json can be opened in https://ui.perfetto.dev
  $ grep -c '"name":"waits: Mvar.take"' met.json > takes
  $ [ "$(cat takes)" -gt 0 ]

Without a terminal, the table comes at the end.

  $ concord-trace -o met.json ./meeting.exe 3 2> told > shown
  $ sed '/waiting time/,$d' shown | grep -v -E '^  (fifo|thread|a sched)' | sed 's/: .*//'
  met
  meeting.exe
    host             domain   tasks  waiting  suspended/s    resumed/s

After it comes a table of the lines where tasks waited.

  $ grep -E '(waiting time|Mvar.take.*meeting.ml|pauses)' shown | sed 's/.* s  Mvar.take .*meeting.ml.*/a line/' | sort -u
    pauses           count       longest  of the collector
    waiting time     count       longest  operation            structure    line
  a line

With an option, only the last seconds are kept. Here the first wait ended earlier than that.

  $ concord-trace --no-table --last 0.1 -o last.json ./resting.exe
  concord-trace: last.json can be opened in https://ui.perfetto.dev
  $ grep -o '"name":"mark [a-z]*"' last.json
  "name":"mark second"
  $ concord-trace --no-table --last 10 -o last.json ./resting.exe
  concord-trace: last.json can be opened in https://ui.perfetto.dev
  $ grep -o '"name":"mark [a-z]*"' last.json
  "name":"mark first"
  "name":"mark second"
  $ concord-trace --last 0 ./resting.exe 2>&1 | grep -c 'is not a positive number'
  1

An option makes the page. If a file can't be written, this is reported before the program runs.

  $ concord-trace --no-table --html met.html -o met.json ./meeting.exe 3 2> told
  met
  $ cat told
  concord-trace: met.json can be opened in https://ui.perfetto.dev
  concord-trace: met.html can be opened in a browser
  $ concord-trace --no-table -o no/such/folder.json ./meeting.exe 3
  concord-trace: cannot write no/such/folder.json: No such file or directory
  [125]

If the disk is full, this is reported too. The program's own output is not the command's.

  $ concord-trace --no-table -o /dev/full ./meeting.exe 3
  met
  concord-trace: cannot write /dev/full: No space left on device
  [125]
  $ concord-trace -o met.json sh -c './meeting.exe 3 > /dev/null' > /dev/full
  concord-trace: the table can't be written: No space left on device
  concord-trace: met.json can be opened in https://ui.perfetto.dev
  $ TMPDIR=no/such/folder concord-trace ./meeting.exe 3 2>&1 | sed 's/(.*)/(...)/'
  concord-trace: there is no place for the events (...). Set TMPDIR to a folder that can be written

Programs that can't be traced.

  $ concord-trace no-such-program
  concord-trace: there is no program no-such-program
  [127]
  $ concord-trace ./no-such-program
  concord-trace: there is no program ./no-such-program
  [127]
  $ concord-trace --no-table -o none.json true
  concord-trace: true emitted no events of OCaml's runtime, so it isn't a program of OCaml 5.3 or later
  concord-trace: none.json can be opened in https://ui.perfetto.dev
  $ concord-trace --no-table -o none.json ./alone.exe
  alone
  concord-trace: ./alone.exe emitted no events of Concord, so it doesn't use Concord, or its version of Concord has no Concord.Tools.Trace
  concord-trace: none.json can be opened in https://ui.perfetto.dev

If the program removes its events, or the folder that has them, nothing is known of it.

  $ concord-trace --no-table -o none.json sh -c 'rm -r "$OCAML_RUNTIME_EVENTS_DIR"'
  concord-trace: the events of sh were removed while it ran. A program must leave the folder OCAML_RUNTIME_EVENTS_DIR as it is
  concord-trace: none.json can be opened in https://ui.perfetto.dev
  $ concord-trace --no-table -o none.json sh -c './alone.exe; rm "$OCAML_RUNTIME_EVENTS_DIR"/*'
  alone
  concord-trace: the events of sh were removed while it ran. A program must leave the folder OCAML_RUNTIME_EVENTS_DIR as it is
  concord-trace: none.json can be opened in https://ui.perfetto.dev

It ends as the program does. The options after the program's name belong to the program.

  $ concord-trace --no-table -o none.json sh -c 'exit 3' 2> told
  [3]
  $ concord-trace --no-table -o none.json sh -c 'kill -9 $$' 2> told
  [137]

Signals are passed to the program. If there is a terminal, the terminal sends some of them
itself.

  $ sent() {
  >   rm -f ready
  >   concord-trace --no-table -o none.json ./patient.exe < /dev/null 2> told &
  >   while [ ! -e ready ]; do sleep 0.01; done
  >   kill "-$1" $!
  >   wait $!
  > }
  $ sent INT
  interrupted
  [7]
  $ sent QUIT
  asked to quit
  [7]
  $ sent USR1
  told
  [7]
  $ sent TERM
  [143]

Its output doesn't have to be read.

  $ concord-trace -o met.json ./meeting.exe 3 2> told >&-
  $ cat told
  concord-trace: met.json can be opened in https://ui.perfetto.dev

Processes that the program starts are traced too.

  $ concord-trace --no-table -o met.json sh -c './meeting.exe 3; ./meeting.exe 3' 2> told
  met
  met
  $ grep -c '"process_name"' met.json
  4

  $ concord-trace > told 2>&1
  [124]
  $ tail -n 1 told
  concord-trace: required argument PROGRAM is missing

It can attach to a running process, more than once, if that process has called on_signal.

  $ rm -f ready
  $ ./attachable.exe &
  $ process=$!
  $ while [ ! -e ready ]; do sleep 0.01; done
  $ attach() {
  >   concord-trace --no-table -o attached.json --pid $process 2> told &
  >   command=$!
  >   while [ ! -e seen ] && kill -0 $command 2> /dev/null; do sleep 0.01; done
  >   kill -INT $command
  >   wait $command
  >   while [ -e seen ]; do sleep 0.01; done
  > }
  $ attach
  $ cat told
  concord-trace: attached.json can be opened in https://ui.perfetto.dev
  $ [ "$(grep -c '"structure":"back"' attached.json)" -gt 10 ]
  $ attach
  $ cat told
  concord-trace: attached.json can be opened in https://ui.perfetto.dev
  $ [ "$(grep -c '"structure":"back"' attached.json)" -gt 10 ]

The trace continues if the file by which the process knows its reader looks old, as when somebody
sets the clock. The command touches it again.

  $ concord-trace --no-table -o attached.json --pid $process 2> /dev/null &
  $ command=$!
  $ while [ ! -e seen ]; do sleep 0.01; done
  $ touch -d '10 seconds ago' $process.reader
  $ touch -d '5 seconds ago' limit
  $ while [ $process.reader -ot limit ]; do sleep 0.01; done
  $ ls seen
  seen
  $ kill -INT $command
  $ wait $command
  $ while [ -e seen ]; do sleep 0.01; done

If the command was killed, the process notices that nobody reads, and stops by itself.

  $ concord-trace --no-table -o attached.json --pid $process 2> /dev/null &
  $ command=$!
  $ while [ ! -e seen ]; do sleep 0.01; done
  $ kill -KILL $command
  $ wait $command 2> /dev/null
  [137]
  $ touch -d '10 seconds ago' $process.reader
  $ while [ -e seen ]; do sleep 0.01; done
  $ attach
  $ cat told
  concord-trace: attached.json can be opened in https://ui.perfetto.dev
  $ ls *.reader 2> /dev/null
  [2]
  $ touch enough
  $ wait $process

While it is traced, a second reader would stop the first one's trace.

  $ rm -f ready enough
  $ sh -c './attachable.exe & echo $! > number; exec sleep 100' &
  $ parent=$!
  $ while [ ! -e ready ]; do sleep 0.01; done
  $ process=$(cat number)
  $ concord-trace --no-table -o attached.json --pid $process 2> told &
  $ command=$!
  $ while [ ! -e seen ]; do sleep 0.01; done
  $ concord-trace --no-table -o other.json --pid $process 2>&1 | sed 's/process [0-9]*/process N/'
  concord-trace: process N is traced by another concord-trace. If that one was killed, call this command again in 5 seconds
  $ [ -e seen ] && ls $process.reader | sed 's/[0-9]*/N/'
  N.reader

If the process is killed, the files are written, even if its parent doesn't ask for its status.

  $ kill -KILL $process
  $ wait $command
  $ cat told
  concord-trace: attached.json can be opened in https://ui.perfetto.dev
  $ [ "$(grep -c '"structure":"back"' attached.json)" -gt 10 ]
  $ kill $parent
  $ wait $parent 2> /dev/null
  [143]
  $ rm -f seen

It can also attach if the process was started with the variable.

  $ rm -f ready enough
  $ CONCORD_DEBUG=sigusr2 ./attachable.exe by-variable &
  $ process=$!
  $ while [ ! -e ready ]; do sleep 0.01; done
  $ attach
  $ cat told
  concord-trace: attached.json can be opened in https://ui.perfetto.dev
  $ [ "$(grep -c '"structure":"back"' attached.json)" -gt 10 ]
  $ touch enough
  $ wait $process

  $ sleep 20 &
  $ concord-trace --pid $! 2>&1 | sed 's/process [0-9]*/process N/'
  concord-trace: process N has no handler for SIGUSR2. Start it with CONCORD_DEBUG=sigusr2, or call Concord.Tools.Trace.on_signal in it
  $ kill $!
  $ concord-trace --pid 999999999 2>&1 | sed 's/[0-9][0-9]*/N/'
  concord-trace: process N cannot be traced: No such process
  $ concord-trace --pid 1 ./meeting.exe 2>&1 | tail -n 1
  concord-trace: give either --pid or PROGRAM, not both
