(** The continuation monad, which is trampolined style with types. A value of
    type ['a t] is a function that takes the rest of a thread, which waits for
    an ['a]. [>>=] makes that rest. Its work is done each time it is bound.
    (Section 5.2 of the paper.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Continuation in
        let box = make_mvar () in
        spawn (fun () ->
            let+ text = take_mvar box in
            print_endline text);
        spawn (fun () -> put_mvar box "hello");
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Monadic with type 'a t = ('a -> unit) -> unit
