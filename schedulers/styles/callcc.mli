(** Call with current continuation. A thread that waits keeps its own
    continuation and throws to that of the next thread. There is no scheduler.
    (Section 4.1 of the paper, by {!Cont}.)

    {b Stability}: experimental, may change in any release.

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
