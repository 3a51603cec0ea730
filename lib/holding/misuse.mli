(** What is told while waits are kept: faults of the program that nothing else
    would tell. *)

val report : string -> unit
(** [report what] writes a line to the standard error, and where the caller is.
    What cannot be written is not reported. Safe in signal handlers. *)

val called : string -> 'structure -> string
(** [called otherwise structure] is the structure's name and place of creation,
    if they are known, else [otherwise]. *)

val frames : Printexc.raw_backtrace -> string
(** The frames of the program, or all if there are none, each in a line of its
    own; [""] without frames. *)

val before_lock :
  'mutex ->
  Waits.holder ->
  Waits.holder ->
  still_holds:(Waits.holder -> bool) ->
  unit
(** [before_lock mutex owner caller ~still_holds], before the caller waits for
    the owner. Reports an owner that has ended, and that still holds the mutex
    then.

    - {b Raises} [Sys_error] if the caller is certainly the owner. *)

val before_unlock : 'mutex -> Waits.holder -> unit
(** [before_unlock mutex owner] reports that the caller unlocks what another
    task has locked, if that is so. *)
