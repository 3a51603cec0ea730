(** What the library says about itself in the memory of a process, in its module
    [Wait_layout]. *)

type t = {
  mark : int;  (** The mark of operations. *)
  operation_mark : int;
  operation_name : int;
  waiter_choice : int;
  waiter_resumer : int;
  no_choice : int;
  withdrawn : int;
  leaving : int;
  suspending : int list;  (** The code of functions. *)
  choosing : int list;
  labels : int;
}

val read : Heap.t -> int -> t
(** [read heap address] reads it, from the symbol of the module at [address]. A
    collection may move it, so read it again once the process stands still.

    - {b Raises} [Refused.Refused] if the library or OCaml is of an unknown
      version. *)

val symbol : string
(** Of the module. *)
