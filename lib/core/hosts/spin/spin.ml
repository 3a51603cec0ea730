(* The constants of all spinning. The page decisions.mld has what each of them gains.

   Constant       Value   For
   max_spins      2,000   a thread or a loop, for longer than waking a thread takes
   max_turns      400     a task in turns of its loop, for as long
   yield_every    16      other threads of the domain
   few            16      an empty job, which has ended before its worker seems idle
   max_in_vain    9       cores that other programs keep busy: one wait in 512 spins
   max_in_a_row   32      other tasks of the loop, which have no turns meanwhile
   window         64      the order of tasks that a task of their loop resumes (Eio)
   soon           32, 1   promise, semaphore, rendezvous, choice of receives, condition
   mutex          8, 16   a mutex that is held for 20 ns, a queue of 10 by a condition
   bulk           1, 64   a stream of 100
   enough         4       items sent to and fro one by one by two streams of 100
   short          8       streams of 4 and of 8, but not of 16 *)
let max_spins = 2000
let max_turns = 400
let yield_every = 16
let few = 16
let max_in_vain = 9
let max_in_a_row = 32
let window = 64

type pace = { tries : int; pauses : int }

let soon = { tries = 32; pauses = 1 }
let mutex = { tries = 8; pauses = 16 }
let bulk = { tries = 1; pauses = 64 }
let enough = 4
let short = 8

(* --- What was learned -------------------------------------------------------- *)

type t = {
  mutable in_vain : int;
      (** The number of spins in vain. A success halves it. *)
  mutable to_skip : int;  (** The number of waits that will not spin. *)
  mutable spinning : bool;  (** [true] while a thread or a task spins. *)
  mutable spins : int;  (** The maximal number of tries. *)
  mutable in_a_row : int;
      (** The number of tasks in a row that continued without a turn of the
          others. *)
  mutable asleep : int;
      (** The number of tasks that sleep, for a loop whose tasks spin. *)
  mutable waits : int;  (** The number of waits of these tasks so far. *)
  mutable fewest : int;
      (** The smallest [asleep] at the beginning of a wait of the current
          window. *)
  mutable fewest_before : int;  (** The same for the window before. *)
}

(* A container may have a quota of processor time, which OCaml doesn't see. *)
let is_allowed =
  match Sys.getenv_opt "CONCORD_SPIN" with
  | None | Some ("" | "1") -> true
  | Some "0" -> false
  | Some other ->
      failwith
        (Printf.sprintf "CONCORD_SPIN=%s: the value must be 0 or 1" other)

let may_spin = is_allowed && Domain.recommended_domain_count () > 1

let create () =
  {
    in_vain = 0;
    to_skip = (if may_spin then 0 else max_int);
    spinning = false;
    spins = max_spins;
    in_a_row = 0;
    asleep = 0;
    waits = 0;
    fewest = 0;
    fewest_before = 0;
  }

let never t = t.to_skip <- max_int

let limit t spins =
  t.spins <- spins;
  t.to_skip <- 0

(* --- Whether to spin -------------------------------------------------------- *)

(* Threads of one domain may run this at the same time. Then a spin may be lost, or the result
   of one. *)
let[@inline] skips t =
  t.to_skip > 0 && (not t.spinning)
  && begin
    t.to_skip <- t.to_skip - 1;
    true
  end

(* While workers fill the cores, a thread that spins takes a core from one of them. *)
let[@inline] at_most n = if Domains.fill_cores () then Int.min few n else n

let begin_ t =
  (* without a second domain, nothing could become ready while the caller spins *)
  Domains.were_spawned () && (not t.spinning)
  && (not (skips t))
  && begin
    t.spinning <- true;
    true
  end

let end_ t ~gained =
  t.spinning <- false;
  if gained then (* the next wait spins, because [to_skip] is 0 *)
    t.in_vain <- t.in_vain / 2
  else begin
    t.in_vain <- Int.min max_in_vain (t.in_vain + 1);
    if t.to_skip < max_int then t.to_skip <- (1 lsl t.in_vain) - 1
  end

(* --- A thread spins --------------------------------------------------------- *)

(* [Thread.yield] costs little if no other thread of the domain is ready. *)
let rec spin ready n =
  ready ()
  || n > 0
     && begin
       if n land (yield_every - 1) = 0 then Thread.yield ()
       else Domain.cpu_relax ();
       spin ready (n - 1)
     end

let until_by ~prepare ~is_gain t ready =
  begin_ t
  &&
  match
    prepare ();
    spin ready (at_most t.spins)
  with
  | is_ready ->
      end_ t ~gained:(is_ready && is_gain ());
      is_ready
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      end_ t ~gained:false;
      Printexc.raise_with_backtrace e backtrace

let always () = true

let until ?(prepare = ignore) t ready =
  until_by ~prepare ~is_gain:always t ready

let until_resumed ~is_gain t ready = until_by ~prepare:ignore ~is_gain t ready

(* --- A task spins ----------------------------------------------------------- *)

(* A task that spins continues before the tasks that are resumed meanwhile. So it must not spin
   if other tasks began to wait before it. Otherwise, if a task of the loop resumes several of
   them, they would continue in another order. Tasks that sleep all the time, for example until
   the end of the program, don't count. *)

let others_sleep t =
  t.waits <- t.waits + 1;
  t.fewest <- Int.min t.fewest t.asleep;
  let others_sleep = t.asleep > Int.min t.fewest t.fewest_before in
  if t.waits land (window - 1) = 0 then begin
    t.fewest_before <- t.fewest;
    t.fewest <- t.asleep
  end;
  others_sleep

(* An update may be lost if a task continues in another domain, or if the loop's thread is one
   of several. Then the count is wrong until both windows have passed. *)
let[@inline] fall_asleep t = t.asleep <- t.asleep + 1
let[@inline] wake_up t = t.asleep <- t.asleep - 1

let sleeping t f =
  fall_asleep t;
  Backtrace.finally f ~finally:(fun () -> wake_up t)

let begin_turns t =
  if Domains.were_spawned () && (not (others_sleep t)) && begin_ t then
    at_most max_turns
  else 0

let end_turns = end_
let leave_turns t = t.spinning <- false

(* --- A task attempts its operation -------------------------------------------- *)

(* Unbroken after [attempt] has found something. *)
let rec attempt_again pauses attempt x y z n =
  match attempt x y z with
  | None when n > 0 ->
      ignore (Atomically.back_off pauses : int);
      attempt_again pauses attempt x y z (n - 1)
  | found -> found

(* An attempt reads what the word points to, so it takes that cache line away from the domain
   that is about to use it. If each try made an attempt, a round trip through two boxes would
   take 1.1 to 1.2 times as long. *)
let rec attempt_if_changed word seen attempt x y z n =
  let now = Atomic.get word in
  match if now == seen then None else attempt x y z with
  | None when n > 0 ->
      Domain.cpu_relax ();
      attempt_if_changed word now attempt x y z (n - 1)
  | found -> found

let attempt_at_changes word attempt x y z n =
  let seen = Atomic.get word in
  match attempt x y z with
  | None -> attempt_if_changed word seen attempt x y z n
  | found -> found

let may_attempt t =
  if t.in_a_row >= max_in_a_row then begin
    t.in_a_row <- 0;
    false
  end
  else begin_ t

let attempt_by again by t tries attempt x y z =
  if may_attempt t then (
    match again by attempt x y z (Int.min t.spins tries) with
    | found ->
        let gained = Option.is_some found in
        t.in_a_row <- (if gained then t.in_a_row + 1 else 0);
        end_ t ~gained;
        found
    | exception e ->
        leave_turns t;
        raise e)
  else None

let attempt t { tries; pauses } attempt x y z =
  attempt_by attempt_again pauses t tries attempt x y z

let attempt_soon t word attempt x y z =
  attempt_by attempt_at_changes word t soon.tries attempt x y z

let if_ready ready () () = if ready () then Some () else None
let at_once t ready = Option.is_some (attempt t soon if_ready ready () ())
