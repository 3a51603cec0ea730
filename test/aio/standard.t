At the end of run, both channels are flushed, even if the first one fails:

  $ ./standard.exe 2>&1 >/dev/full
  error: No space left on device
  $ ./standard.exe 2>/dev/null
  output
