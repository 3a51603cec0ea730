(** Rows in each style of {!Concord_styles}, and in tasks of hosts. *)

open Lwc

type host

val threads : host
(** System threads. *)

val fifo : host

val fibers : host list
(** {!fifo}, and the fibers of Eio. The programs in direct style run in them
    unchanged. *)

type sample := Style.t -> Case.sample

val natively :
  ?few:sample ->
  fibers:host list ->
  case:string ->
  title:string ->
  sample ->
  Case.comparison
(** The trampoline is the baseline. [few] is the sample for system threads,
    which are too slow for the usual one. Without [few] they are left out. *)

val both :
  ?few:sample ->
  fibers:host list ->
  case:string ->
  title:string ->
  sample ->
  Case.comparison list
(** {!natively}, and the same in bytecode without fibers. In bytecode,
    [-bytecode] is added to the name of a host. *)
