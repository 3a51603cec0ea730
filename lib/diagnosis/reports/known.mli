(** Names, makers and holders of many structures, looked up at once. *)

type t = {
  number : int;
      (** The same for the same structure, or -1 if it was collected. *)
  kind : string option;
  name : string option;  (** The last name that was given. *)
  made_at : Printexc.raw_backtrace option;
  holders : Holder.t list;
      (** A holder that has ended has a name that says so. *)
}

val look_up : Identity.pointer array -> t array
(** Does not suspend. {b Cost}: O(n), for n pointers, labels and holders, and a
    minor collection. *)

val who_hold : (unit -> Holder.t list) -> Holder.t list
(** [who_hold f] is the holders that [f] returns. If some have ended, their
    names say so, and [f] is called again to see whether these still hold. *)

val with_holders : t -> Holder.t list -> t
(** Adds the holders that the structure itself reports. *)

val holders : Identity.pointer -> Holder.t list
(** The holders of one structure, likewise. *)
