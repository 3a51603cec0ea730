include Input_channel
include Output_channel

let stdin = in_channel ~standard:true Unix.stdin
let stdout = out_channel ~standard:true Unix.stdout
let stderr = out_channel ~standard:true Unix.stderr

(* As Stdlib's, which flush what asks the question first. *)
let read_line () =
  flush stdout;
  Stdlib.(flush stdout);
  input_line stdin

let read_int () = int_of_string (read_line ())
let read_int_opt () = int_of_string_opt (read_line ())
let read_float () = float_of_string (read_line ())
let read_float_opt () = float_of_string_opt (read_line ())
