(** Waiting for many descriptors at a time, in one of the system's ways.

    [io_uring] where [uring] was installed and the system allows it, else
    [poll(2)]. The variable [CONCORD_AIO] chooses, with the word [poll] or
    [io_uring]. *)

type 'a t

val create : unit -> 'a t
(** - {b Raises} [Unix.Unix_error] if no descriptor is left.
    - {b Raises} [Failure] if [CONCORD_AIO] asks for what there is not. *)

val close : 'a t -> unit
(** Of a multiplexer in which nothing is waited for. *)

type 'a watch
(** A descriptor that may be waited for. *)

val watch : 'a t -> Unix.file_descr -> 'a -> 'a watch
(** The last argument is what {!wait} gives back. *)

val set : 'a t -> 'a watch -> read:bool -> write:bool -> unit
(** What the descriptor is waited for, from now on. Once it was found it must be
    set again, even if that does not change. *)

val is_settled : 'a t -> bool
(** The system holds no file that is not waited for any more. *)

val settle : 'a t -> unit
(** Waits until that is so, which takes a moment. *)

val wait : 'a t -> block:bool -> ('a * Revents.t) list
(** Those that are ready. With [~block:true] it waits for one, but may return
    too early. After an exception, one of a signal handler say, all must be set
    again: to nothing, and then to what is waited for. *)
