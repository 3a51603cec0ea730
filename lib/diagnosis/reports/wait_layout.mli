(** Where [concord-trace --waits] finds the waiting tasks of this process.

    That command reads the memory of another process, which doesn't cooperate
    and was not prepared. It finds this module by its symbol in the executable.
    It then looks for stack frames of the functions below, and for operations
    and waiters in these frames. *)

type any = Any : 'a -> any

type t = {
  format : int;
      (** Increase it if you change this type, the types in {!Labels}, or what
          the frames of these functions hold, and change [trace/waits/layout.ml]
          too. *)
  ocaml : string;  (** The version of the compiler. *)
  mark : string;  (** The mark of all operations. *)
  no_choice : Waiter.choice;
  withdrawn : any;  (** The resumer of a withdrawn waiter. *)
  leaving : any;  (** The resumer of a waiter that is being withdrawn. *)
  suspending : any list;
      (** A frame of such a function has the operation, the structure and the
          waiter. *)
  choosing : any list;
      (** A frame has a reference to a list. Each element has the operation, the
          structure and the waiter of an alternative. *)
  labels : any;  (** The names of structures. *)
  operation_mark : int;  (** The positions of fields. *)
  operation_name : int;
  waiter_choice : int;
  waiter_resumer : int;
}

val layout : t
(** It is the first value of the module. *)

val symbol : string
(** The symbol of this module in an executable. *)
