(** Trampolined style. A thread passes the rest of its work to each operation,
    as a function. It waits by keeping the function elsewhere and returning to
    the scheduler, from which the next thread bounces. (Section 5.1 of the
    paper.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Trampoline in
        let box = make_mvar () in
        spawn (fun () -> take_mvar box print_endline);
        spawn (fun () -> put_mvar box "hello" ignore);
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Trampolined
