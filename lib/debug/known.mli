(** What is known of many structures, looked up at once. *)

type t = {
  number : int;  (** The same for the same structure; -1 if it was collected. *)
  kind : string option;
  name : string option;  (** The last name that was given. *)
  made_at : Printexc.raw_backtrace option;
  holders : Waits.holder list;  (** One that has ended is said to have. *)
}

val look_up : Identity.pointer array -> t array
(** Does not suspend. {b Cost}: O(n), for n pointers, labels and holders, and a
    minor collection. *)

val who_hold : (unit -> Waits.holder list) -> Waits.holder list
(** Those that the function gives. The names of tasks that have ended say so,
    and the function is called again to see whether these still hold. *)

val with_holders : t -> Waits.holder list -> t
(** With what the structure says of itself. *)

val holders : Identity.pointer -> Waits.holder list
(** Of one structure, likewise. *)
