(** Who waits for something that one thread reads, and when is there such a
    thread?

    The reader exists while somebody waits. This module decides, and touches
    neither threads nor descriptors. *)

type 'w t
(** Waiters of type ['w]. *)

val create : unit -> 'w t

val waiters : 'w t -> 'w list
(** For the reader: it looks at them, in no order. *)

type added =
  | Start  (** The caller must start the reader, or else {!abandon}. *)
  | Wake  (** The caller must wake the reader, which looks at all waiters. *)

val add : 'w t -> 'w -> added

type removed =
  | Absent  (** It was removed before, or abandoned. *)
  | Others  (** The caller has removed it. *)
  | Last  (** The same, and the caller must wake the reader, which may end. *)

val remove : 'w t -> 'w -> removed
(** The waiter is found by physical equality. *)

val ends : 'w t -> bool
(** For the reader, after it has looked at all waiters. If nobody waits any
    more, the reader must end, and the next {!add} starts another one. *)

val abandon : 'w t -> 'w list
(** The reader could not be started: nobody waits any more. Those who did are
    the caller's to tell. *)
