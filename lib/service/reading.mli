(** Waiters for signals that one thread reads, and the life of that thread.

    The reader exists while there are waiters. This module decides, and uses
    neither threads nor descriptors. *)

type 'w t
(** Waiters of type ['w]. *)

val create : unit -> 'w t

val waiters : 'w t -> 'w list
(** For the reader, which checks them, in no order. *)

type added =
  | Start  (** The caller must start the reader, or else {!abandon}. *)
  | Wake  (** The caller must wake the reader, which checks all waiters. *)

val add : 'w t -> 'w -> added

type removed =
  | Absent  (** It was removed before, or abandoned. *)
  | Others  (** The caller has removed it. *)
  | Last  (** The same, and the caller must wake the reader, which may end. *)

val remove : 'w t -> 'w -> removed
(** The waiter is found by physical equality. *)

val ends : 'w t -> bool
(** For the reader, after it has checked all waiters. If no waiter is left, the
    reader must end, and the next {!add} starts another one. *)

val abandon : 'w t -> 'w list
(** The reader could not be started, so no waiters are left. The result is the
    waiters of before, and the caller has to inform them. *)
