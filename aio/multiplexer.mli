(** A way of the system to wait for many descriptors at a time. {!Ring} and
    {!Poll_set} make one each. *)

module By_fd : Map.S with type key = Unix.file_descr

type ready = {
  read : bool;
      (** There is something to read, or the end of the file, or an error. *)
  write : bool;
  closed : bool;  (** It is not an open descriptor. *)
}
(** The state of a descriptor. *)

val over : ready
(** It has failed. The operations that use it will notice. *)

val closed : ready

val ready_of_bits : int -> ready
(** From the bits of [poll(2)], which [io_uring] has as well. *)

type t = {
  set : Unix.file_descr -> read:bool -> write:bool -> unit;
      (** Sets the directions that are waited for from now on. A descriptor that
          was found must be set again, even if its directions do not change. *)
  wait : block:bool -> (Unix.file_descr * ready) list;
      (** The descriptors that are ready. With [~block:true] it waits for one,
          but may return too early. After an exception, for example of a signal
          handler, all must be set again, first to nothing, and then to the
          directions that are waited for. *)
  is_settled : unit -> bool;
      (** [true] if the system holds no file that is not waited for any more. *)
  settle : unit -> unit;  (** Waits until that is so, which takes a moment. *)
}
