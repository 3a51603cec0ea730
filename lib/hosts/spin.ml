type t = {
  most_in_vain : int;  (** How far [in_vain] counts. *)
  mutable in_vain : int;
      (** Counts looks in vain, one by one; a gain halves it. *)
  mutable to_skip : int;
      (** How many waits are still to pass without a look. *)
  mutable looking : bool;  (** Does somebody look now? *)
  mutable looks : int;  (** How often a thread looks at most. *)
  most_skipped : int;  (** How many in a row may go on without a turn. *)
  mutable skipped : int;
      (** How many in a row went on without a turn of the others. *)
  mutable asleep : int;  (** Tasks, of a loop whose tasks look. *)
  mutable waits : int;  (** Of these tasks, so far. *)
  mutable fewest : int;
      (** How many slept at least, when one of the last waits began. *)
  mutable fewest_before : int;  (** The same of the waits before those. *)
}

let has_other_cores = Domain.recommended_domain_count () > 1
let max_looks = 2000
let max_turns = 400

(* Where other programs keep all cores busy each look is in vain. Then this bounds what is
   lost: a look takes 40 to 70 us, and a wait, without one, some 2 us of processor time. *)
let max_in_vain = 9

(* A look of a task that has no turns takes 1 us: then one in 4,096 waits looks. *)
let most_in_vain_at_once = 12

(* So many looks take 1 us: the others of the loop, who have no turn meanwhile, wait for some
   30 us at most. *)
let max_glances = 32
let max_skipped = 32

(* These last for 1 to 3 us, and what has gathered is dealt with after each. *)
let pauses_to_gather = 64
let max_gathered = 4

let create_with ?(most_skipped = max_skipped) most_in_vain () =
  {
    most_in_vain;
    most_skipped;
    in_vain = 0;
    to_skip = (if has_other_cores then 0 else max_int);
    looking = false;
    looks = max_looks;
    skipped = 0;
    asleep = 0;
    waits = 0;
    fewest = 0;
    fewest_before = 0;
  }

let create () = create_with max_in_vain ()
let create_at_once () = create_with most_in_vain_at_once ()

let create_to_gather () =
  create_with ~most_skipped:max_gathered most_in_vain_at_once ()

let never t = t.to_skip <- max_int

let limit t looks =
  t.looks <- looks;
  t.to_skip <- 0

(* --- Whether to look -------------------------------------------------------- *)

(* Threads of one domain may come here at the same time. What is lost then is a look, or
   the memory of one. *)
let[@inline] skips t =
  t.to_skip > 0 && (not t.looking)
  && begin
    t.to_skip <- t.to_skip - 1;
    true
  end

let begin_ t =
  (* else nobody is there who could gain time *)
  Domains.were_spawned () && (not t.looking)
  && (not (skips t))
  && begin
    t.looking <- true;
    true
  end

let end_ t ~gained =
  t.looking <- false;
  if gained then (* the next wait looks: [to_skip] is 0 *)
    t.in_vain <- t.in_vain / 2
  else begin
    t.in_vain <- Int.min t.most_in_vain (t.in_vain + 1);
    if t.to_skip < max_int then t.to_skip <- (1 lsl t.in_vain) - 1
  end

(* --- A thread looks --------------------------------------------------------- *)

(* [Thread.yield] costs little if no other thread of the domain is ready. *)
let yield_every = 16

let rec look ready n =
  ready ()
  || n > 0
     && begin
       if n land (yield_every - 1) = 0 then Thread.yield ()
       else Domain.cpu_relax ();
       look ready (n - 1)
     end

let until ?(prepare = ignore) t ready =
  begin_ t
  &&
  match
    prepare ();
    look ready t.looks
  with
  | gained ->
      end_ t ~gained;
      gained
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      end_ t ~gained:false;
      Printexc.raise_with_backtrace e backtrace

(* --- A task looks ----------------------------------------------------------- *)

(* A task that looks has its next turn before those that are resumed meanwhile. So it must
   not have begun to wait after them: tasks of a loop that resumes several of them would
   go on in another order. Those that sleep all the time, for the end of the program say,
   do not count. *)
let window = 64

let others_sleep t =
  t.waits <- t.waits + 1;
  t.fewest <- Int.min t.fewest t.asleep;
  let others_sleep = t.asleep > Int.min t.fewest t.fewest_before in
  if t.waits land (window - 1) = 0 then begin
    t.fewest_before <- t.fewest;
    t.fewest <- t.asleep
  end;
  others_sleep

(* Where a task goes on in another domain, or the loop's thread is one of several, an update
   may be lost. Then some waits pass until what is counted is counted for both. *)
let[@inline] fall_asleep t = t.asleep <- t.asleep + 1
let[@inline] wake_up t = t.asleep <- t.asleep - 1

let sleeping t f =
  fall_asleep t;
  match f () with
  | v ->
      wake_up t;
      v
  | exception e ->
      wake_up t;
      raise e

let begin_turns t =
  if Domains.were_spawned () && (not (others_sleep t)) && begin_ t then
    max_turns
  else 0

let end_turns = end_
let leave_turns t = t.looking <- false

let try_by t look x y =
  begin_turns t > 0
  &&
  match look x y with
  | gained ->
      end_turns t ~gained;
      gained
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave_turns t;
      Printexc.raise_with_backtrace e backtrace

(* --- A task that has no turns looks ------------------------------------------ *)

let rec glance attempt x y n =
  match attempt x y with
  | None when n > 0 ->
      Domain.cpu_relax ();
      glance attempt x y (n - 1)
  | found -> found

(* To read what the word points to would take that from the domain that is about to use
   it. *)
let rec glance_at word seen attempt x y n =
  let now = Atomic.get word in
  match if now == seen then None else attempt x y with
  | None when n > 0 ->
      Domain.cpu_relax ();
      glance_at word now attempt x y (n - 1)
  | found -> found

let attempt_and_glance_at word attempt x y n =
  let seen = Atomic.get word in
  match attempt x y with
  | None -> glance_at word seen attempt x y n
  | found -> found

let[@inline] end_glance t ~gained =
  t.skipped <- (if gained then t.skipped + 1 else 0);
  end_turns t ~gained

let[@inline] looked t found =
  end_glance t ~gained:(Option.is_some found);
  found

let may_glance t =
  if t.skipped >= t.most_skipped then begin
    t.skipped <- 0;
    false
  end
  else begin_turns t > 0

let[@inline] glances t = Int.min t.looks max_glances

(* No signal handler runs after [attempt] has found something. *)
let attempt_at_once t attempt x y =
  if may_glance t then (
    match glance attempt x y (glances t) with
    | found -> looked t found
    | exception e ->
        leave_turns t;
        raise e)
  else None

let attempt_at_change t word attempt x y =
  if may_glance t then (
    match attempt_and_glance_at word attempt x y (glances t) with
    | found -> looked t found
    | exception e ->
        leave_turns t;
        raise e)
  else None

let if_ready ready () = if ready () then Some () else None
let at_once t ready = Option.is_some (attempt_at_once t if_ready ready ())

(* --- A task keeps off -------------------------------------------------------- *)

let keep_off has_gathered x =
  ignore (Backoff.wait pauses_to_gather : int);
  has_gathered x

let gather t has_gathered x =
  if may_glance t then
    match keep_off has_gathered x with
    | gained -> end_glance t ~gained
    | exception e ->
        leave_turns t;
        raise e
