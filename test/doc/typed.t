What is typed into the toplevel of ./dev utop is read as ever:

  $ printf 'let x =\n1\n;;\nx + 1;;\n' | ../../tools/toplevel/concord_top.exe -noinit -noprompt -no-version
  val x : int = 1
  - : int = 2
  
