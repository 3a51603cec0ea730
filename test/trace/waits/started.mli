(** Programs whose waits are found from outside, and the comparison with their
    own report. *)

type child = { pid : int; input : out_channel; output : in_channel }

val during :
  ?debug:string ->
  ?errors:string ->
  string ->
  string list ->
  (child -> 'a) ->
  'a
(** [during ~debug ~errors program args f] starts the program with the words
    [debug] of [CONCORD_DEBUG], by default none, calls [f], and kills the
    program. [errors] is a file for its standard error. *)

val says : child -> string -> unit
(** Waits until the program prints this line. *)

val targets : child -> string list
(** The operations and names in which its tasks wait, found from outside, in
    order. *)

val find : child -> string list
(** Its waits, found from outside. *)

val same : string -> (unit -> string list) -> (unit -> string list) -> unit
(** [same what reported found]: both lists become equal within 20 s, because a
    task that spins in a queue is in the queue before it waits. Otherwise the
    differences are printed. *)

val found : string -> least:int -> unit Alcotest.test_case list
(** The command finds the waits of this program, at least so many, prepared or
    not. The program is like [waiting.ml]. *)

val run_if_allowed :
  string -> (unit -> (string * unit Alcotest.test_case list) list) -> unit
(** [Check.run]. Where a process may not read another one, nothing runs, and it
    prints this. *)
