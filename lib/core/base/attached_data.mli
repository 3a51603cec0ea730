(** Data that belongs to a value, and lives as long as the value. For reports,
    and for adapters whose hosts have no room for it. *)

type 'a t
(** Data of type ['a] that belongs to a value of any type, the owner. It may
    refer to the owner, but doesn't keep it alive. It costs as much as
    {!Identity.val-pointer}. *)

val attach : 'v -> 'a -> 'a t
(** [attach v data] attaches [data] to [v]. *)

val attach_to_target : Identity.pointer -> 'a -> 'a t option
(** [attach_to_target pointer data] attaches [data] to the target, or returns
    [None] if the target was collected. *)

val attached_to : Identity.pointer -> 'a t -> 'a option
(** [attached_to pointer attached] returns the data if its owner is the target
    of [pointer]. It returns [None] if the owner is another value or was
    collected. *)

val owner : 'a t -> Identity.pointer
(** [owner attached] is a pointer to the owner. *)

val attached : 'a t -> 'a option
(** [attached a] returns the data, or [None] if its owner was collected. *)

val is_useless : 'a t -> bool
(** [is_useless attached] is [true] if the owner was collected. *)
