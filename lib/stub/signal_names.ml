let names =
  Sys.
    [
      (sigabrt, "SIGABRT");
      (sigalrm, "SIGALRM");
      (sigbus, "SIGBUS");
      (sigchld, "SIGCHLD");
      (sigcont, "SIGCONT");
      (sigfpe, "SIGFPE");
      (sighup, "SIGHUP");
      (sigill, "SIGILL");
      (sigint, "SIGINT");
      (sigkill, "SIGKILL");
      (sigpipe, "SIGPIPE");
      (sigpoll, "SIGPOLL");
      (sigprof, "SIGPROF");
      (sigquit, "SIGQUIT");
      (sigsegv, "SIGSEGV");
      (sigstop, "SIGSTOP");
      (sigsys, "SIGSYS");
      (sigterm, "SIGTERM");
      (sigtrap, "SIGTRAP");
      (sigtstp, "SIGTSTP");
      (sigttin, "SIGTTIN");
      (sigttou, "SIGTTOU");
      (sigurg, "SIGURG");
      (sigusr1, "SIGUSR1");
      (sigusr2, "SIGUSR2");
      (sigvtalrm, "SIGVTALRM");
      (sigxcpu, "SIGXCPU");
      (sigxfsz, "SIGXFSZ");
    ]

let find signal = List.assoc_opt signal names

let with_number name signal =
  match name with
  | Some name -> Printf.sprintf "%s (%d)" name signal
  | None -> Printf.sprintf "signal %d" signal

let name_and_number signal = with_number (find signal) signal
