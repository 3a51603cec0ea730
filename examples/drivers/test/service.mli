(** What the tests ask of each driver. *)

val limit : int
(** The connections of a pool. *)

val file : string -> string
(** The path of a file with this name in a folder of this process. *)

type t = {
  name : string;
  ask : int -> unit;  (** Asks with this number, and checks the answer. *)
  fail : unit -> unit;
      (** Asks for something that the server refuses, without loss. *)
  open_here : unit -> int;  (** The connections in the pool. *)
  open_there : (unit -> int) option;  (** As the server counts them. *)
  slow : (float -> unit) option;  (** The answer comes after these seconds. *)
  close : unit -> unit;
}

val is_installed : string -> bool
(** Whether this program is in the path. *)
