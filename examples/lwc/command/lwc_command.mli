val main :
  name:string ->
  doc:string ->
  size:string ->
  largest:int ->
  default:int ->
  (module Lwc.Program.WRITTEN) ->
  unit
(** Runs the program as the command line says, and ends the process: with 0 if
    the result is that of the sequential computation. [size] says what [-n] is,
    which is at most [largest], and [default] where it is not given. *)
