open Case

(* Read-write locks. Eio, Lwt and Stdlib have none. *)

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

let downgrade_concord lock n =
  for _ = 1 to n do
    Concord.Rwlock.write_lock lock;
    Concord.Rwlock.downgrade lock;
    Concord.Rwlock.read_unlock lock
  done

let both_concord lock n =
  for _ = 1 to n do
    Concord.Rwlock.write_lock lock;
    Concord.Rwlock.write_unlock lock;
    Concord.Rwlock.read_lock lock;
    Concord.Rwlock.read_unlock lock
  done

let rwlock ~case ~what loop =
  {
    title =
      Printf.sprintf
        "locking for %s and unlocking a read-write lock that nobody else uses, \
         1 domain"
        what;
    baseline = go case;
    others =
      Ours.rows ~case Ours.one_task (fun host n ->
          Host.alone host (loop (Concord.Rwlock.create ())) n);
  }

let read_free = rwlock ~case:"rwlock-read-free" ~what:"reading" read_concord
let write_free = rwlock ~case:"rwlock-write-free" ~what:"writing" write_concord

(* Go's lock has no such operation, so the baseline unlocks and locks again. *)
let downgrade_free =
  let case = "rwlock-downgrade-free" in
  let alone loop host n = Host.alone host (loop (Concord.Rwlock.create ())) n in
  {
    title =
      "locking for writing, turning that into a lock for reading, and \
       unlocking a read-write lock that nobody else uses, 1 domain (concord-2: \
       unlocking and locking again)";
    baseline =
      row ~case ~impl:"concord-2" ~host:"fifo"
        (Time (alone both_concord Host.fifo));
    others = Ours.rows ~case Ours.one_task (alone downgrade_concord);
  }

(* Readers do not wait for one another. They only share the state of the lock. *)
let read_parallel =
  let case = "rwlock-read-parallel" in
  {
    title =
      "locking one read-write lock for reading and unlocking it in a loop, by \
       one task on each of 2 domains";
    baseline = go case;
    others =
      Ours.rows ~case Ours.two_domains (fun host n ->
          Host.both host (read_concord (Concord.Rwlock.create ())) n);
  }

let comparisons =
  beside [ read_free; write_free; downgrade_free ] @ [ read_parallel ]
