(** The part that channels of both directions have in common. It has a
    descriptor, a lock, and Stdlib's flags and exceptions. One or more channels
    share the owner of the descriptor, which is closed with the last of them.

    The channels of the standard descriptors stay with the number, whatever
    [dup2] or other channels do to it. *)

type t

val create : ?standard:bool -> Unix.file_descr -> t
(** With [~standard:true] it is for one of the three standard descriptors, which
    need not be open. *)

val open_ : open_flag list -> int -> string -> (Unix.file_descr -> 'a) -> 'a
(** [open_ flags perm name of_descr] is the channel that [of_descr] makes of the
    file. {b Suspends} while a worker opens it. *)

val close : t -> unit
(** {!shut}, and then {!release}. If it was closed before, it does nothing. *)

val shut : t -> bool
(** From now on the channel is closed. Its operations that wait for the
    descriptor raise [EBADF]. The result is [false] if it was closed before.
    Otherwise the caller has to call {!release}, at the latest after its {!last}
    operation. *)

val release : t -> unit
(** If it is the last channel of its descriptor, closes that, see {!Io.close}.
*)

val descr : t -> Unix.file_descr
val is_file : t -> bool
val is_closed : t -> bool

(** {2 Operations} *)

val locked : t -> (unit -> 'a) -> 'a
(** [locked t f] is [f ()], as an operation. The others of this channel wait
    until it has ended.

    - {b Raises} [Sys_error] with Stdlib's text where [f] raises
      [Unix.Unix_error], or if the channel is closed. *)

val last : t -> (unit -> 'a) -> 'a
(** {!locked}, after {!shut}. *)

val read : t -> bytes -> int -> int -> int
(** {!Io.read}. *)

val write : last:bool -> t -> bytes -> int -> int -> int
(** {!Io.write}. With [~last:true] it belongs to the {!last} operation. *)

val write_now : t -> bytes -> int -> int -> int
(** {!Io.write_now}, in the {!last} operation. *)

val length : t -> int
(** The length of the file or disk. Never suspends.

    - {b Raises} [Unix.Unix_error] if there is none, as Stdlib does. *)

val first_position : t -> int option -> int
(** The first position of a channel that is made at that position of the file.
    If it is not a file, it is 0 as in Stdlib, or -1 if there is no position. *)

val seek : t -> int -> unit
(** [seek] is [Unix.lseek], from the beginning. Never suspends. *)
