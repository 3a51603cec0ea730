(** A query of caqti to a database of SQLite, if both are installed. *)

type db

type t = {
  connect : unit -> db Lwt.t;
      (** Makes a pool of connections to a database in a temporary file, with a
          table of {!rows} rows. The file is removed when the process ends. *)
  find : db -> int -> int Lwt.t;
      (** [find db key] asks for one row by its primary key, and returns what is
          stored there, which is [key + 1]. The query runs in a thread of
          [Lwt_preemptive]. *)
}

val rows : int
(** The keys are from 1 to this number. *)

val queries : t option
