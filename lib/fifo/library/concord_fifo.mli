include module type of struct
  include Concord__Fifo
end

(** {2 Several things at once}

    These are the functions of {!Concord.Tasks}, for which each host starts its
    own tasks. *)

val both : (unit -> 'a) -> (unit -> 'b) -> 'a * 'b
(** {!Concord.Tasks.both}. *)

val all : (unit -> 'a) list -> 'a list
(** {!Concord.Tasks.all}. *)

val first : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) -> (unit -> 'a) -> 'a
(** {!Concord.Tasks.first}. *)

val any : ?combine:('a -> 'a -> 'a) -> (unit -> 'a) list -> 'a
(** {!Concord.Tasks.any}. *)

val with_timeout : float -> (unit -> 'a) -> 'a option
(** {!Concord.Tasks.with_timeout}. *)

val sleep : float -> unit
(** {!Concord.Tasks.sleep}. *)

val iter : ?max_tasks:int -> ('a -> unit) -> 'a list -> unit
(** {!Concord.Tasks.iter}. *)

val map : ?max_tasks:int -> ('a -> 'b) -> 'a list -> 'b list
(** {!Concord.Tasks.map}. *)
