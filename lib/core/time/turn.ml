(* [ends] is the time at which the turn will have been long enough, or 0 if it is not known
   yet. *)
type t = { mutable ends : int; mutable tasks : int }

let longest = 10_000_000
let between_looks = 32
let create () = { ends = 0; tasks = 0 }

let begin_ t =
  t.ends <- 0;
  t.tasks <- 0

let is_long t =
  let now = Int64.to_int (Mtime_clock.now_ns ()) in
  if t.ends = 0 then t.ends <- now + longest;
  now >= t.ends

(* Each task may take long, so the clock is read after 2, 4, 8 and 16 tasks too. *)
let add_task t =
  let n = t.tasks + 1 in
  t.tasks <- n;
  n > 1 && (n land (n - 1) = 0 || n mod between_looks = 0) && is_long t
