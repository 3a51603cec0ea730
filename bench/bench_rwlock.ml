open Case

(* Read-write locks, of which Eio, Lwt and Stdlib have none *)

let rwlock ~case ~what =
  {
    title =
      Printf.sprintf
        "locking for %s and unlocking a read-write lock that nobody else uses, \
         1 domain"
        what;
    baseline = go case;
    others = [];
  }

let read_free = rwlock ~case:"rwlock-read-free" ~what:"reading"
let write_free = rwlock ~case:"rwlock-write-free" ~what:"writing"
let comparisons = [ read_free; write_free ]
