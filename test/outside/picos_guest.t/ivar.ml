(* An Eio fiber reads a value that a fiber of Picos in another domain fills, as in the
   interface of Concord_picos. *)

let answer = Picos_std_sync.Ivar.create ()
let fill () = Picos_std_sync.Ivar.fill answer "an answer"

let () =
  Picos_io_select.configure ();
  let domain = Domain.spawn (fun () -> Picos_mux_fifo.run fill) in
  Eio_main.run (fun _ ->
      Concord_picos.as_fiber (fun () ->
          print_endline (Picos_std_sync.Ivar.read answer)));
  Domain.join domain
