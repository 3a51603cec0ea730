(** Sockets and files in trampolined style.

    A failure has to be a value here, because it can't be raised. After an
    operation has waited, no [try] of the thread is around it. *)

type 'a outcome = ('a, int * string) result
(** An error is a reply of FTP: a code and a text. *)

type 'a operation = ('a outcome -> unit) -> unit

val succeed : 'a -> 'a operation

val ( >>? ) : 'a operation -> ('a -> 'b operation) -> 'b operation
(** [a >>? f] performs [a]. If that succeeds, it performs [f] with the value of
    [a]. *)

(** {1 Sockets}

    All sockets are non-blocking. An operation fails if it has to wait for
    longer than [patience], in seconds. *)

val listen : Unix.sockaddr -> Unix.file_descr
(** - {b Raises} [Unix.Unix_error]. *)

val accept :
  patience:float ->
  Unix.file_descr ->
  (Unix.file_descr * Unix.sockaddr) operation

val receive : patience:float -> Unix.file_descr -> bytes -> int operation
(** The number of bytes that were received, or 0 at the end. *)

val send : patience:float -> Unix.file_descr -> string -> unit operation

(** {1 Files} *)

val with_file :
  string ->
  Unix.open_flag list ->
  (Unix.file_descr -> 'a operation) ->
  'a operation
(** Closes the file, even if the operation fails. *)

val remove : string -> unit operation

val look : (unit -> 'a) -> 'a operation
(** [look f] calls [f] in direct style. *)

val seek : Unix.file_descr -> int -> unit operation
(** Fails if the system has no such position. *)

val download :
  patience:float -> Unix.file_descr -> from:Unix.file_descr -> unit operation
(** Sends the rest of the file [from]. *)

val upload :
  patience:float -> Unix.file_descr -> to_:Unix.file_descr -> unit operation
(** Receives what the file [to_] then has. *)

val close : Unix.file_descr -> (unit -> unit) -> unit
