(** Reports of mistakes that are only noticed while waits are kept. *)

val report : string -> unit
(** [report text] writes a line to standard error, with the place of the caller.
    If the line can't be written, it is dropped. You can call it in a signal
    handler. *)

val called : string -> 'structure -> string
(** [called otherwise structure] is the structure's name and the place where it
    was created. If they aren't known, it is [otherwise]. *)

val frames : Printexc.raw_backtrace -> string
(** [frames backtrace] is the list of the program's frames, one on each line. If
    there are none, it lists all frames. Without frames it is [""]. *)

val before_lock :
  'mutex -> Holder.t -> Holder.t -> still_holds:(Holder.t -> bool) -> unit
(** [before_lock mutex owner caller ~still_holds] has to be called before the
    caller waits for the owner. It reports an owner that has ended, if
    [still_holds owner] is [true].

    - {b Raises} [Sys_error] if the caller is certainly the owner. *)

val before_unlock : 'mutex -> Holder.t -> unit
(** [before_unlock mutex owner] reports if the caller unlocks a mutex that
    another task has locked. *)
