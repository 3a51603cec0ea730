(** Sockets and files in trampolined style.

    What fails has to be a value here, as nothing can be raised: when an
    operation has waited, no [try] of the thread is around it any more. *)

type 'a outcome = ('a, int * string) result
(** An error is a reply of FTP: a code and a text. *)

type 'a operation = ('a outcome -> unit) -> unit

val succeed : 'a -> 'a operation

val ( >>? ) : 'a operation -> ('a -> 'b operation) -> 'b operation
(** [a >>? f] does [a], and then, unless that has failed, what [f] makes of its
    value. *)

(** {1 Sockets}

    They are non-blocking. An operation that has to wait for longer than
    [patience], in seconds, fails. *)

val listen : Unix.sockaddr -> Unix.file_descr
(** - {b Raises} [Unix.Unix_error]. *)

val accept :
  patience:float ->
  Unix.file_descr ->
  (Unix.file_descr * Unix.sockaddr) operation

val receive : patience:float -> Unix.file_descr -> bytes -> int operation
(** How many bytes have come; 0 at the end. *)

val send : patience:float -> Unix.file_descr -> string -> unit operation

(** {1 Files} *)

val with_file :
  string ->
  Unix.open_flag list ->
  (Unix.file_descr -> 'a operation) ->
  'a operation
(** Closes the file also if the operation fails. *)

val remove : string -> unit operation

val download :
  patience:float -> Unix.file_descr -> from:Unix.file_descr -> unit operation
(** Sends the rest of the file [from]. *)

val upload :
  patience:float -> Unix.file_descr -> to_:Unix.file_descr -> unit operation
(** Receives what the file [to_] then has. *)

val close : Unix.file_descr -> (unit -> unit) -> unit
