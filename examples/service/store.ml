open Lwt.Syntax

type t = {
  pool : (Caqti_lwt.connection, Caqti.Error.t) Caqti_lwt_unix.Pool.t;
  mutable uses : int;
}

type row = { id : int; status : string; answer : string }

let make_table =
  Caqti.Templater.(static T.(unit -->. unit))
    "CREATE TABLE IF NOT EXISTS jobs (id bigint PRIMARY KEY, status text NOT \
     NULL, answer text NOT NULL)"

let add_row =
  Caqti.Templater.(static T.(t3 int string string -->. unit))
    "INSERT INTO jobs (id, status, answer) VALUES (?, ?, ?) ON CONFLICT (id) \
     DO NOTHING"

let find_row =
  Caqti.Templater.(static T.(int -->? t2 string string))
    "SELECT status, answer FROM jobs WHERE id = ?"

let last_id =
  Caqti.Templater.(static T.(unit -->! int))
    "SELECT coalesce(max(id), 0) FROM jobs"

let count_rows =
  Caqti.Templater.(static T.(unit -->* t2 string int))
    "SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status"

let or_fail result = Lwt.bind result Caqti_lwt.or_fail

exception Unanswered

let patience = 5. (* in seconds *)

(* A statement that has begun runs to its end, and its connection goes back to the pool, even if
   the caller is cancelled: cancelling inside caqti's pool could lose the connection. If the
   statement still waits for a connection, it never begins.

   A cancelled caller doesn't wait for a statement that only reads. If the statement [writes], the
   caller waits for its outcome. Otherwise it would report that nothing was stored, and a slow
   disk would store the row afterwards. *)
let use ?(writes = false) t f =
  let is_wanted = ref true and has_begun = ref false in
  let unless_cancelled db =
    if !is_wanted then begin
      has_begun := true;
      f db
    end
    else Lwt.fail Lwt.Canceled
  in
  (* Of callers with the same priority, caqti 3.0 serves any. *)
  t.uses <- t.uses + 1;
  let priority = -.float t.uses in
  let used =
    or_fail (Caqti_lwt_unix.Pool.use ~priority unless_cancelled t.pool)
  in
  let unanswered () =
    let* () = Lwt_unix.sleep patience in
    Lwt.fail Unanswered
  in
  Lwt.catch
    (fun () -> Lwt.protected used)
    (function
      | Lwt.Canceled when writes && !has_begun ->
          Lwt.no_cancel (Lwt.pick [ Lwt.protected used; unanswered () ])
      | Lwt.Canceled ->
          is_wanted := false;
          Lwt.fail Lwt.Canceled
      | e -> Lwt.fail e)

(* 3 s is longer than any statement takes. The time limit is needed because an unreachable
   server never answers the last statements. *)
let close t = Lwt.pick [ Caqti_lwt_unix.Pool.drain t.pool; Lwt_unix.sleep 3. ]

(* A statement that waits for a lock fails soon, because the caller chooses how long to try
   again. In SQLite it fails at once in any case. (Caqti 3.0 adds half a second to the
   timeout.) *)
let set_timeout (module Db : Caqti_lwt.CONNECTION) =
  Db.set_statement_timeout (Some 0.5)

let connect uri =
  let* pool =
    Caqti_lwt.or_fail
      (Caqti_lwt_unix.connect_pool ~post_connect:set_timeout (Uri.of_string uri))
  in
  let t = { pool; uses = 0 } in
  let+ () =
    use t (fun (module Db : Caqti_lwt.CONNECTION) -> Db.exec make_table ())
  in
  t

let add { id; status; answer } t =
  use ~writes:true t (fun (module Db : Caqti_lwt.CONNECTION) ->
      Db.exec add_row (id, status, answer))

let find id t =
  let+ found =
    use t (fun (module Db : Caqti_lwt.CONNECTION) -> Db.find_opt find_row id)
  in
  Option.map (fun (status, answer) -> { id; status; answer }) found

let last t =
  use t (fun (module Db : Caqti_lwt.CONNECTION) -> Db.find last_id ())

let counts t =
  use t (fun (module Db : Caqti_lwt.CONNECTION) ->
      Db.collect_list count_rows ())
