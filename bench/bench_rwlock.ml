open Case

(* Read-write locks, of which Eio, Lwt and Stdlib have none *)

let read_concord lock n =
  for _ = 1 to n do
    Concord.Rwlock.read_lock lock;
    Concord.Rwlock.read_unlock lock
  done

let write_concord lock n =
  for _ = 1 to n do
    Concord.Rwlock.write_lock lock;
    Concord.Rwlock.write_unlock lock
  done

let rwlock ~case ~what loop =
  let time host =
    Time (fun n -> Host.alone host (loop (Concord.Rwlock.create ())) n)
  in
  {
    title =
      Printf.sprintf
        "locking for %s and unlocking a read-write lock that nobody else uses, \
         1 domain"
        what;
    baseline = go case;
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (time Host.fifo);
        row ~case ~impl:"concord" ~host:"eio" (time Host.eio);
      ];
  }

let read_free = rwlock ~case:"rwlock-read-free" ~what:"reading" read_concord
let write_free = rwlock ~case:"rwlock-write-free" ~what:"writing" write_concord
let comparisons = [ read_free; write_free ]
