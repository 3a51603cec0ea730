let hosts =
  Matrix.not_installed
    [ "Picos, fifo"; "Picos, random"; "Picos, multififo"; "Picos, thread" ]
