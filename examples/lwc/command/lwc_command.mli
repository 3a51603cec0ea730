val main :
  name:string ->
  doc:string ->
  size:string ->
  default:int ->
  (module Lwc.Program.WRITTEN) ->
  unit
(** Runs the program as the command line says, and ends the process: with 0 if
    the result is that of the sequential computation. [size] says what [-n] is;
    [default] is its value where it is not given. *)
