A program contains only the modules of the library that it uses. It also contains the modules
that CONCORD_DEBUG needs, although neither program names them.

  $ . ../project.sh
  $ install concord concord-core concord-suspend
  $ build ./lock.exe ./lock.bc ./own_box.exe ./own_box.bc
  $ export CAML_LD_LIBRARY_PATH=$installed/lib/stublibs
  $ for program in lock.exe lock.bc own_box.exe own_box.bc; do
  >   echo "$program:"
  >   CONCORD_DEBUG=sigquits bounded 20 "./_build/default/$program"
  >   for name in Operation Debug_signal Debug_stall Debug_json Barrier Scope Fifo; do
  >     ! grep -aqE "Concord__(core__|diagnosis__)?$name" "_build/default/$program" || echo "  has $name"
  >   done
  >   ! grep -aq concord_signal_ "_build/default/$program" || echo "  has Signal"
  > done
  lock.exe:
  concord: CONCORD_DEBUG contains the unknown word "sigquits". The known words are waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, metrics, stall=SECONDS, slow=SECONDS
  locked
    has Operation
    has Debug_signal
    has Debug_stall
    has Debug_json
  lock.bc:
  concord: CONCORD_DEBUG contains the unknown word "sigquits". The known words are waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, metrics, stall=SECONDS, slow=SECONDS
  locked
    has Operation
    has Debug_signal
    has Debug_stall
    has Debug_json
  own_box.exe:
  concord: CONCORD_DEBUG contains the unknown word "sigquits". The known words are waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, metrics, stall=SECONDS, slow=SECONDS
  resumed
    has Operation
    has Debug_signal
    has Debug_stall
    has Debug_json
  own_box.bc:
  concord: CONCORD_DEBUG contains the unknown word "sigquits". The known words are waits, leaks, trace, sigquit, sigquit=json:FILE, sigusr2, strict, metrics, stall=SECONDS, slow=SECONDS
  resumed
    has Operation
    has Debug_signal
    has Debug_stall
    has Debug_json
