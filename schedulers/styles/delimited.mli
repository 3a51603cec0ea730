(** Delimited continuations. A scheduler calls each thread above a prompt. A
    thread waits by taking the stack down to the prompt and keeping it
    elsewhere, which returns to the scheduler. (Section 4.2 of the paper, by
    {!Prompt}.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Delimited in
        let box = make_mvar () in
        spawn (fun () -> print_endline (take_mvar box));
        spawn (fun () -> put_mvar box "hello");
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Direct
