(** Rows in each style of {!Concord_styles}, and in tasks of hosts. *)

open Lwc

type host

val threads : host
(** System threads. *)

val fifo : host

val fibers : host list
(** {!fifo}, and Eio's: the programs in direct style run in them unchanged. *)

type sample := Style.t -> Case.sample

val natively :
  ?few:sample ->
  fibers:host list ->
  case:string ->
  title:string ->
  sample ->
  Case.comparison
(** The trampoline is the baseline. [few] is for system threads, which are left
    out without it: they are too slow for as much. *)

val both :
  ?few:sample ->
  fibers:host list ->
  case:string ->
  title:string ->
  sample ->
  Case.comparison list
(** {!natively}, and the same in bytecode without fibers; there [-bytecode] is
    added to a host's name. *)
