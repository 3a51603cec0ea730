(** Values of OCaml in the memory of another process. *)

type t

val create : Memory.t -> symbol:(string -> int) -> t
(** [create memory ~symbol] finds the variables of the runtime by [symbol]. *)

val word : t -> int -> int

val refresh : t -> unit
(** [refresh t] reads the variables again, because they may have changed. *)

val is_young : t -> int -> bool
(** [is_young t address] is [true] in the minor heap of some domain. *)

val note_domain : t -> int -> unit
(** [note_domain t address] says that the state of a domain has the pointers to
    its minor heap at this address, as {!is_domain} has found. *)

val is_domain : t -> (int -> int) -> bool
(** [is_domain t word] looks at [word 0] to [word 3], which are four words one
    after the other. It is [true] if they can be the pointers of a domain. *)

val is_block : t -> int -> bool
(** A pointer to a block of a sensible size, which can be read. *)

val forwarded : t -> int -> int
(** While a minor collection copies values, a value may be at another address
    already. This is that address. *)

val field : t -> int -> int -> int
(** [field t block i], {!forwarded}. *)

val size : t -> int -> int
val tag : t -> int -> int

val has_fields : t -> int -> bool
(** Its fields are values. It isn't a function, text, number or continuation. *)

val is_function : t -> int -> bool
val text : t -> int -> string

val code : t -> int -> int
(** The address of a function's code. *)

val is_garbage : t -> int -> bool
(** The collector has found that the program can't reach the block, or the block
    isn't in use any more. *)
