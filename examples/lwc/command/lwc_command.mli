val main :
  name:string ->
  doc:string ->
  size:string ->
  largest:int ->
  default:int ->
  (module Lwc.Program.WRITTEN) ->
  unit
(** Runs the program as the command line demands, and ends the process. The exit
    code is 0 if the result is that of the sequential computation. [size]
    describes the option [-n], which is at most [largest], and [default] if it
    is not given. *)
