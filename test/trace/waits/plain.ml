(* A thread waits for a box that no task fills. The main thread reads until its input ends. The
   argument is a number of collections before that. *)

let box : unit Concord.Mvar.t =
  Concord.Tools.Debug.named "box" (Concord.Mvar.create_empty ())

let[@inline never] takes () =
  Concord.Mvar.take box;
  ()

let () =
  if Array.length Sys.argv > 1 then
    for _ = 1 to int_of_string Sys.argv.(1) do
      Gc.major ()
    done;
  ignore (Thread.create takes () : Thread.t);
  while Concord.Mvar.waiters box = 0 do
    Thread.yield ()
  done;
  print_endline "ready";
  ignore (In_channel.input_all stdin : string)
