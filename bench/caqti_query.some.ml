open Lwt.Syntax

type db = (Caqti_lwt.connection, Caqti.Error.t) Caqti_lwt_unix.Pool.t
type t = { connect : unit -> db Lwt.t; find : db -> int -> int Lwt.t }

let rows = 1_000

let make_table =
  Caqti.Templater.(static T.(unit -->. unit))
    "CREATE TABLE numbers (key integer PRIMARY KEY, value integer NOT NULL)"

let fill_table =
  Caqti.Templater.(static T.(int -->. unit))
    "WITH RECURSIVE keys (key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM keys \
     WHERE key < ?) INSERT INTO numbers SELECT key, key + 1 FROM keys"

let find_value =
  Caqti.Templater.(static T.(int -->! int))
    "SELECT value FROM numbers WHERE key = ?"

let use db f = Lwt.bind (Caqti_lwt_unix.Pool.use f db) Caqti_lwt.or_fail

let connect () =
  let file = Filename.temp_file "concord_bench" ".sqlite" in
  at_exit (fun () -> try Sys.remove file with Sys_error _ -> ());
  let* db =
    Caqti_lwt.or_fail
      (Caqti_lwt_unix.connect_pool (Uri.of_string ("sqlite3:" ^ file)))
  in
  let* () =
    use db (fun (module Db : Caqti_lwt.CONNECTION) -> Db.exec make_table ())
  in
  let+ () =
    use db (fun (module Db : Caqti_lwt.CONNECTION) -> Db.exec fill_table rows)
  in
  db

let find db key =
  use db (fun (module Db : Caqti_lwt.CONNECTION) -> Db.find find_value key)

let queries = Some { connect; find }
