(** Call with current continuation. A thread that waits keeps its own
    continuation and throws to that of the next thread. There is no scheduler.
    (Section 4.1 of the paper, by {!Cont}.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Callcc in
        let box = make_mvar () in
        spawn (fun () -> print_endline (take_mvar box));
        spawn (fun () -> put_mvar box "hello");
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Direct
