include Descriptor
include Connections
include File_system
include Input_channel
include Output_channel
include Process

let readable_evt fd = Readiness.evt fd Read
let writable_evt fd = Readiness.evt fd Write
let flush_standard () = Ensure.finally flush stdout flush stderr

(* The standard channels are flushed after all tasks have ended, but still in the loop, so that
   the flush can wait. *)
let run f =
  Readiness.run (fun () ->
      Ensure.finally flush_standard () Concord_fifo.Scope.run (fun _ -> f ()))

(* As in Stdlib, the output is flushed first, because it may have the question for the user. *)
let read_line () =
  flush stdout;
  Stdlib.(flush stdout);
  input_line stdin

let read_int () = int_of_string (read_line ())
let read_int_opt () = int_of_string_opt (read_line ())
let read_float () = float_of_string (read_line ())
let read_float_opt () = float_of_string_opt (read_line ())
