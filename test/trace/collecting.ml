(* Runs the collector on two domains, and marks each time. *)

let () =
  let other = Domain.spawn (fun () -> Gc.minor ()) in
  for i = 1 to 5 do
    Gc.minor ();
    ignore (Gc.major_slice 0 : int);
    Concord.Tools.Trace.mark (Printf.sprintf "collected %d times" i)
  done;
  Domain.join other
