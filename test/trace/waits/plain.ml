(* A thread waits for a box that no task fills. The main thread reads until its input ends. *)

let box : unit Concord.Mvar.t =
  Concord.Tools.Debug.named "box" (Concord.Mvar.create_empty ())

let[@inline never] takes () =
  Concord.Mvar.take box;
  ()

let () =
  ignore (Thread.create takes () : Thread.t);
  while Concord.Mvar.waiters box = 0 do
    Thread.yield ()
  done;
  print_endline "ready";
  ignore (In_channel.input_all stdin : string)
