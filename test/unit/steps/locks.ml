(* Locks and semaphores, and descriptions of them. *)

open Compared

(* How the task waits that requests permits. *)
type sleep =
  | Awake
  | Asleep  (** In a thread that sleeps, so it is nudged. *)
  | Nudged  (** It was nudged and comes back, to the front of the queue. *)

type mode =
  | Read  (** Takes one permit. *)
  | Few  (** Takes some permits of a semaphore. *)
  | Write  (** Takes all permits. *)

type op =
  | Try of mode
  | Give of mode
  | Within of mode
  | Come_back of mode
  | Give_up of mode
  | Try_many
  | Give_many
  | Downgrade  (** Downgrades a write lock to a read lock. *)
  | Pass  (** So much time passes that no task may overtake any longer. *)

let many = 70 (* more than the numbers whose states are constants *)

type description = {
  name : string;
  free : int;
  in_order : bool;
  aside : mode -> bool;
  may_give : free:int -> mode -> [ `Yes | `Nothing | `Raise of exn ];
}

let amount = function Read -> 1 | Few -> 3 | Write -> Permits.all

(* --- The library's locks --------------------------------------------------------- *)

let request { aside; _ } mode sleep =
  let request = { (Permits.request (amount mode)) with aside = aside mode } in
  match sleep with
  | Awake -> request
  | Asleep -> { request with nudge = Nudge.of_thread asleep }
  | Nudged -> { request with nudge = Nudge.of_nudged asleep }

(* The functions that a structure adds to the permits. *)
module type Lock = sig
  type t

  val make : unit -> t
  val word : t -> Permits.t
  val try_take : mode -> t -> bool
  val give : mode -> t -> unit
  val give_step : mode -> unit -> Permits.state -> (Permits.state, unit) Step.t
  val within : mode -> t -> (unit -> int) -> int
  val waiting : mode -> t Permits.waiting
  val downgrade : t -> unit
  val downgrade_step : unit -> Permits.state -> (Permits.state, unit) Step.t
end

module Never_downgraded = struct
  let downgrade _ = assert false
  let downgrade_step () _ = assert false
end

let real (module Lock : Lock) description how ~log =
  let t = Lock.make () and waiters = waiters log in
  let word = Lock.word t and request = request description in
  let take mode sleep = perform how word Permits.take (request mode sleep) in
  let try_take mode =
    if how = Publicly then Lock.try_take mode t
    else Option.is_some (take mode Awake)
  and give mode =
    if how = Publicly then Lock.give mode t
    else ignore (perform how word (Lock.give_step mode) () : unit option)
  in
  let act op number =
    match op with
    | Try mode -> string_of_bool (try_take mode)
    | Give mode -> unit (give mode)
    | Within mode -> (
        match Permits.take (request mode Awake) (Atomic.get word) with
        | Wait -> "none"
        | _ when how = Publicly ->
            string_of_int (Lock.within mode t (fun () -> number))
        | _ ->
            ignore (try_take mode : bool);
            give mode;
            string_of_int number)
    | Come_back mode -> some unit (take mode Nudged)
    | Give_up mode ->
        some unit (perform how word Permits.give_up (request mode Nudged))
    | Try_many ->
        String.concat " "
          (List.init many (fun _ -> string_of_bool (try_take Read)))
    | Give_many ->
        for _ = 1 to many do
          give Read
        done;
        "()"
    | Downgrade ->
        if how = Publicly then unit (Lock.downgrade t)
        else some unit (perform how word Lock.downgrade_step ())
    | Pass -> unit (Clock.pass (2 * Nudge.patience_ns))
  and enlist (mode, sleep) number =
    let waiting : _ Nudge.waiting = Lock.waiting mode in
    let operation =
      if sleep = Nudged then Nudge.operation_again waiting
      else waiting.operation
    in
    enlist waiters operation unit t (request mode sleep) number
  and look () =
    let state = Atomic.get word in
    let { Permits.promised; overtaken; _ } = Permits.rare_of state in
    Printf.sprintf "%d free, %d promised, %d overtaken, %d wait"
      (Permits.free_of state) promised overtaken (Permits.waiters word)
  in
  { act; enlist; withdraw = withdraw waiters; look }

(* --- The description ---------------------------------------------------------- *)

type waits = (mode * sleep) waiter

type permits = {
  mutable free : int;
  mutable promised : int;
  mutable overtaken : int;
  mutable round : bool;  (** A task was nudged, and has not got the permits. *)
  mutable late : bool;  (** The round began long ago. *)
  mutable first : waits list;
  mutable second : waits list;
}

let less_promised p amount = p.promised <- max 0 (p.promised - amount)
let may_overtake p = p.overtaken < 2 && not p.late

let begin_round p =
  p.round <- true;
  p.overtaken <- 0;
  p.late <- false

(* The round is over if nobody waits or comes. *)
let settle p =
  if p.promised = 0 && p.first = [] && p.second = [] then begin
    p.round <- false;
    p.overtaken <- 0
  end

let was_nudged w = snd w.role = Nudged

(* [w] is no longer in its queue. *)
let is_within_round p w =
  p.round
  && (p.promised > 0 || was_nudged w
     || match p.second with w :: _ -> was_nudged w | [] -> false)

(* Serves the waiters for which there are enough permits. *)
let rec serve description log p =
  match (p.first, p.second) with
  | w :: first, _ when amount (fst w.role) <= p.free - p.promised ->
      p.first <- first;
      hand_to description log p w
  | [], w :: second when amount (fst w.role) <= p.free - p.promised ->
      p.second <- second;
      hand_to description log p w
  | _ -> ()

and hand_to description log p w =
  let mode, sleep = w.role in
  let amount = amount mode in
  if
    sleep <> Awake && (not description.in_order)
    && ((not (is_within_round p w)) || may_overtake p)
  then begin
    if not (is_within_round p w) then begin_round p;
    p.promised <- p.promised + amount;
    if not (resume log w nudged) then less_promised p amount
  end
  else begin
    p.free <- p.free - amount;
    if not (resume log w "()") then p.free <- p.free + amount
  end;
  serve description log p

(* Decides whether and how a task takes the permits. *)
let how_to_take p mode sleep =
  let amount = amount mode in
  if amount > p.free then `Wait
  else if sleep = Nudged then `Return
  else if p.first = [] && amount <= p.free - p.promised then `Take
  else if p.promised > 0 && may_overtake p then `Overtake
  else `Wait

let take p mode sleep =
  let how = how_to_take p mode sleep in
  (match how with
  | `Wait | `Take -> ()
  | `Return -> less_promised p (amount mode)
  | `Overtake -> p.overtaken <- p.overtaken + 1);
  if how <> `Wait then p.free <- p.free - amount mode;
  how <> `Wait

let expected_permits (description : description) ~log =
  let p =
    {
      free = description.free;
      promised = 0;
      overtaken = 0;
      round = false;
      late = false;
      first = [];
      second = [];
    }
  in
  let serve () = serve description log p in
  let give mode =
    match description.may_give ~free:p.free mode with
    | `Nothing -> ()
    | `Raise e -> raise e
    | `Yes ->
        p.free <- p.free + amount mode;
        serve ()
  in
  let act op number =
    match op with
    | Try mode -> string_of_bool (take p mode Awake)
    | Give mode -> unit (give mode)
    | Within mode when take p mode Awake ->
        give mode;
        string_of_int number
    | Within _ -> "none"
    | Come_back mode -> if take p mode Nudged then "()" else "none"
    | Give_up mode ->
        less_promised p (amount mode);
        unit (serve ())
    | Try_many ->
        String.concat " "
          (List.init many (fun _ -> string_of_bool (take p Read Awake)))
    | Give_many ->
        for _ = 1 to many do
          give Read;
          if !struck then raise Struck
        done;
        "()"
    | Downgrade when p.free > 0 -> raise Rwlock.cannot_downgrade
    | Downgrade ->
        p.free <- Permits.all - 1;
        unit (serve ())
    | Pass -> unit (p.late <- true)
  in
  let act op number =
    Fun.protect ~finally:(fun () -> settle p) (fun () -> act op number)
  and enlist ((mode, sleep) as role) number answer =
    how_to_take p mode sleep = `Wait
    && begin
      let w = { role; number; answer } in
      let add q = if sleep = Nudged then w :: q else q @ [ w ] in
      if sleep = Nudged then less_promised p (amount mode);
      if description.aside mode then p.second <- add p.second
      else p.first <- add p.first;
      true
    end
  and withdraw number =
    p.first <- without number p.first;
    p.second <- without number p.second;
    serve ();
    settle p
  and look () =
    Printf.sprintf "%d free, %d promised, %d overtaken, %d wait" p.free
      p.promised p.overtaken
      (List.length p.first + List.length p.second)
  in
  expected { act; enlist; withdraw; look }

(* --- The structures ---------------------------------------------------------------- *)

let structure (description : description) (module Lock : Lock) modes ~more =
  let each f = Array.concat (List.map (fun mode -> f mode) modes) in
  let roles mode = Array.map (fun sleep -> (mode, sleep)) in
  Structure
    {
      name = description.name;
      ops =
        Array.append
          (Array.append more [| Pass |])
          (each (fun mode ->
               [|
                 Try mode;
                 Give mode;
                 Give mode;
                 Within mode;
                 Come_back mode;
                 Give_up mode;
               |]));
      roles = each (fun mode -> roles mode [| Awake; Awake; Asleep; Nudged |]);
      make = real (module Lock) description;
      expected = Some (expected_permits description);
    }

let mutex name ~in_order create =
  let may_give ~free _ =
    if free > 0 then `Raise Mutex.not_permitted else `Yes
  in
  let free = Permits.all and aside _ = false in
  structure ~more:[||]
    { name; free; in_order; aside; may_give }
    (module struct
      include Never_downgraded

      type t = Mutex.t

      let make () = create ()
      let word = Mutex.word
      let try_take _ = Mutex.try_lock
      let give _ = Mutex.unlock
      let give_step _ = Mutex.unlock_step
      let within _ = Mutex.protect
      let waiting _ = Mutex.locking
    end)
    [ Write ]

let semaphore name ?(in_order = false) ~binary free =
  let may_give ~free mode =
    if binary && free > 0 then `Nothing
    else if amount mode <= Permits.all - free then `Yes
    else
      `Raise (if mode = Few then Semaphore.overflow_n else Semaphore.overflow)
  in
  structure
    ~more:(if free > 1 then [| Try_many; Give_many |] else [||])
    { name; free; in_order; aside = (fun _ -> false); may_give }
    (module struct
      include Never_downgraded
      open Semaphore

      type t = Permits.t

      let make () = if in_order then make_in_order free else make free
      let word = Fun.id

      let try_take = function
        | Few -> fun t -> Counting.try_acquire_n t (amount Few)
        | Read | Write -> try_acquire

      let give = function
        | Few -> fun t -> Counting.release_n t (amount Few)
        | Read | Write -> if binary then Binary.release else Counting.release

      let give_step = function
        | Few -> fun () -> release_several (amount Few)
        | Read | Write -> if binary then release_binary else release_counting

      let within mode t f =
        if mode = Few then Counting.with_permits t (amount Few) f
        else if binary then Binary.with_permit t f
        else Counting.with_permit t f

      let waiting mode =
        if mode = Few then acquiring_several
        else if binary then acquiring_binary
        else acquiring
    end)
    (if binary then [ Read ] else [ Read; Few ])

let mode_of_lock : mode -> Rwlock.mode = function
  | Read -> Read
  | Few | Write -> Write

let rwlock name ?(in_order = false) prefer =
  let may_give ~free mode =
    let may =
      match mode with
      | Read -> free > 0 && free < Permits.all
      | Few | Write -> free = 0
    in
    if may then `Yes else `Raise (Rwlock.not_permitted (mode_of_lock mode))
  and aside mode = prefer = `Writers && mode = Read in
  structure
    ~more:[| Try_many; Give_many; Downgrade; Downgrade |]
    { name; free = Permits.all; in_order; aside; may_give }
    (module struct
      open Rwlock

      type nonrec t = t

      let make () =
        if in_order then create_in_order ~prefer () else create ~prefer ()

      let word = word

      let try_take mode =
        match mode_of_lock mode with
        | Read -> try_read_lock
        | Write -> try_write_lock

      let give mode =
        match mode_of_lock mode with
        | Read -> read_unlock
        | Write -> write_unlock

      let request mode =
        match mode_of_lock mode with Read -> fair_readers | Write -> writers

      let give_step mode () state = unlock_step (request mode) state

      let within mode t f =
        match mode_of_lock mode with Read -> read t f | Write -> write t f

      let waiting mode = waiting (mode_of_lock mode)
      let downgrade = downgrade
      let downgrade_step = downgrade_step
    end)
    [ (Read : mode); Write ]

let all =
  [
    mutex "Mutex" ~in_order:false Mutex.create;
    mutex "Mutex, in order" ~in_order:true Mutex.create_in_order;
    semaphore "Semaphore.Counting" ~binary:false 1;
    semaphore "Semaphore.Counting, in order" ~in_order:true ~binary:false 1;
    semaphore "Semaphore.Counting, of many permits" ~binary:false 63;
    semaphore "Semaphore.Counting, of all permits" ~binary:false
      (Permits.all - 1);
    semaphore "Semaphore.Binary" ~binary:true 0;
    rwlock "Rwlock" `Nobody;
    rwlock "Rwlock, writers first" `Writers;
    rwlock "Rwlock, in order" ~in_order:true `Writers;
  ]
