(** The database, by caqti on Lwt. All functions are called in Lwt's loop. *)

type t

type row = { id : int; status : string; answer : string }
(** A job that has ended. *)

val connect : string -> t Lwt.t
(** [connect uri] makes the table unless it exists. For example, [uri] is
    [sqlite3:/tmp/jobs.db] or [postgresql://localhost/jobs].

    If the table is locked, the functions below fail with [Caqti.Error.Exn]
    after at most a second. If the server is unreachable, they don't return, but
    they can be cancelled.

    A function that is cancelled fails with [Lwt.Canceled] at once, and if its
    statement has not begun, it never begins. If the statement of {!add} has
    begun, {!add} still returns its outcome, because the database may complete
    it. *)

exception Unanswered
(** {!add} was cancelled, and its statement had no outcome within 5 s after
    that. The statement may take effect later, or never. *)

val close : t -> unit Lwt.t
(** Waits up to 3 seconds for statements that have not ended. *)

val add : row -> t -> unit Lwt.t
(** Does nothing if there is a row with this [id]. *)

val find : int -> t -> row option Lwt.t

val last : t -> int Lwt.t
(** The largest [id], or 0 if there is no row. *)

val counts : t -> (string * int) list Lwt.t
(** The number of rows with each status. *)
