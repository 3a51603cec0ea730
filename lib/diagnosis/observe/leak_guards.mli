(** The reports of [CONCORD_DEBUG=leaks] (see {!Leaks}). This turns the search
    on when the program starts. *)

val guard :
  (unit -> Printexc.raw_backtrace) ->
  'a Concord_suspend.resumer ->
  'a Concord_suspend.resumer
(** {!Leaks.guard}. *)

val lost : (int -> Printexc.raw_backtrace) -> unit
(** Reports a task that nothing can resume, because no other thread is left. *)
