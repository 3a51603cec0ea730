A task of Lwt whose adapter isn't linked blocks the whole loop. The program says so once:

  $ ./forgotten.exe lwt_direct lwt_direct
  Concord: an operation blocks all tasks of Lwt, because this program doesn't link concord-lwt. Add concord-lwt to libraries in your dune file. (CONCORD_WARN=0 turns this warning off.)
  done
  $ ./forgotten.exe lwt_callback
  Concord: an operation blocks all tasks of Lwt, because this program doesn't link concord-lwt. Add concord-lwt to libraries in your dune file. (CONCORD_WARN=0 turns this warning off.)
  done

The tasks of a program that runs other things first are found too:

  $ ./forgotten.exe handler domain thread eio lwt_direct
  Concord: an operation blocks all tasks of Lwt, because this program doesn't link concord-lwt. Add concord-lwt to libraries in your dune file. (CONCORD_WARN=0 turns this warning off.)
  done

No other wait has a warning:

  $ ./forgotten.exe handler domain thread eio
  done
  $ ./linked.exe
  done

It can be turned off:

  $ CONCORD_WARN=0 ./forgotten.exe lwt_direct
  done
  $ CONCORD_WARN=no ./forgotten.exe lwt_direct 2>&1 | head -1
  Fatal error: exception Failure("CONCORD_WARN=no: the value must be 0 or 1")
