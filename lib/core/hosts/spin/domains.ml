let spawned = ref false
let spawned_at = ref 0L

let () =
  let spawns () =
    spawned_at := Mtime_clock.now_ns ();
    spawned := true
  in
  try Domain.before_first_spawn spawns
  with Invalid_argument _ ->
    (* The library was loaded after the first spawn. *) spawned := true

let[@inline] were_spawned () = !spawned
let time_of_spawn_ns = 200_000_000L

let may_be_spawning () =
  !spawned
  && Int64.compare
       (Int64.sub (Mtime_clock.now_ns ()) !spawned_at)
       time_of_spawn_ns
     < 0

(* --- Workers ---------------------------------------------------------------- *)

(* In a cache line of its own, because it changes while all threads that are about to spin read it. *)
let count = Atomic.make_contended 0
let one_more_worker () = ignore (Atomic.fetch_and_add count 1 : int)
let one_less_worker () = ignore (Atomic.fetch_and_add count (-1) : int)
let workers () = Atomic.get count
let cores = Domain.recommended_domain_count ()
let[@inline] fill_cores () = Atomic.get count >= cores
