The toplevel of ./dev utop reads typed input as any toplevel does:

  $ printf 'let x =\n1\n;;\nx + 1;;\n' | ../../tools/toplevel/concord_top.exe -noinit -noprompt -no-version
  val x : int = 1
  - : int = 2
  
