(* Waits for a pipe, in a program with a second domain: by which means, the environment says. *)

let () =
  Domain.join (Domain.spawn ignore);
  let from, to_ = Unix.pipe ~cloexec:true () in
  match
    Concord_aio.run (fun () ->
        let writer =
          Concord_fifo.fork (fun () ->
              ignore (Concord_aio.write_substring to_ "x" 0 1 : int))
        in
        ignore (Concord_aio.read from (Bytes.create 1) 0 1 : int);
        Concord_fifo.join writer)
  with
  | () -> print_endline "read"
  | exception Failure reason -> print_endline reason
