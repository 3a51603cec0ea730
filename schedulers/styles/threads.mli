(** System threads, for comparison. The system may switch between them at any
    time, so shared data needs a lock. (Section 4 of the paper.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    If the system cannot create so many threads, the thread that begins the next
    one gets an exception. This ends all threads, and [start] raises
    [Sys_error]. Linux gives a process some ten thousand threads. The time to
    end [n] of them grows faster than [n], in OCaml's runtime.

    {[
      # let open Threads in
        let box = make_mvar () in
        spawn (fun () -> print_endline (take_mvar box));
        spawn (fun () -> put_mvar box "hello");
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Direct
