type db = |
type t = { connect : unit -> db Lwt.t; find : db -> int -> int Lwt.t }

let rows = 1_000
let queries = None
