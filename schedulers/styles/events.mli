(** Event-based style. A thread is a chain of handlers in an {!Equeue}. Each
    operation that must wait makes an event, and adds a handler for the rest of
    the thread. (Section 5.4 of the paper.)

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    {[
      # let open Events in
        let box = make_mvar () in
        spawn (fun () -> take_mvar box print_endline);
        spawn (fun () -> put_mvar box "hello" ignore);
        start ()
      hello
      - : unit = ()
    ]} *)

include Signatures.Trampolined
