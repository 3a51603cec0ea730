(** The database, by caqti on Lwt. All functions are called in Lwt's loop. *)

type t

type row = { id : int; status : string; answer : string }
(** One job that has ended. *)

val connect : string -> t Lwt.t
(** [connect uri] has the table made if it isn't there. For example
    [sqlite3:/tmp/jobs.db] or [postgresql://localhost/jobs].

    Where the table is locked, the functions below fail with [Caqti.Error.Exn]
    after at most a second. Where the server is out of reach, they don't return,
    but they can be cancelled. *)

val close : t -> unit Lwt.t
(** Waits up to 3 seconds for statements that have not ended. *)

val add : row -> t -> unit Lwt.t
(** Does nothing if there is a row of this [id]. *)

val find : int -> t -> row option Lwt.t

val last : t -> int Lwt.t
(** The largest [id], or 0. *)

val counts : t -> (string * int) list Lwt.t
(** How many rows have which status. *)
