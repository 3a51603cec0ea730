(* The locks, and what they should do. *)

open Compared

let some_unit = some unit

(* --- Mutex --------------------------------------------------------------------- *)

type mutex_op = Try_lock | Unlock | Come_back | Give_up | Protect

type mutex_role =
  | Plain
  | Asleep
  | Impatient  (** Asleep, but was nudged long ago. *)
  | Nudged  (** It comes back, to the front. *)

(* That of a thread that sleeps until the program ends. *)
let asleep =
  let found = Atomic.make Sleeper.never in
  let forever, _ = Unix.pipe () in
  let sleep () =
    (* that of a thread is known once some thread has slept *)
    Sleeper.while_asleep ignore;
    let mine = Sleeper.mine () in
    Sleeper.while_asleep (fun () ->
        Atomic.set found mine;
        ignore (Unix.read forever (Bytes.create 1) 0 1 : int))
  in
  ignore (Thread.create sleep () : Thread.t);
  while Atomic.get found == Sleeper.never do
    Thread.yield ()
  done;
  Atomic.get found

let request role : Mutex.request =
  let owner = Holders.unknown and thread = asleep in
  match role with
  | Plain -> Mutex.anybody
  | Asleep -> { owner; thread; nudged = Not_yet }
  | Impatient -> { owner; thread; nudged = Impatient }
  | Nudged -> { owner; thread; nudged = Patient 0 }

let real_mutex how ~log =
  let t = Mutex.create () and waiters = waiters log in
  let lock role = perform how t Mutex.lock_step (request role) in
  let act op number =
    match (op, how) with
    | Try_lock, Publicly ->
        some_unit (if Mutex.try_lock t then Some () else None)
    | Try_lock, _ -> some_unit (lock Plain)
    | Unlock, Publicly -> unit (Mutex.unlock t)
    | Unlock, _ -> some_unit (perform how t Mutex.unlock_step ())
    | Come_back, _ -> some_unit (lock Nudged)
    | Give_up, _ -> some_unit (perform how t Mutex.give_up_step ())
    | Protect, _ when Mutex.is_locked t -> "none"
    | Protect, Publicly -> string_of_int (Mutex.protect t (fun () -> number))
    | Protect, _ ->
        ignore (lock Plain : unit option);
        ignore (perform how t Mutex.unlock_step () : unit option);
        string_of_int number
  in
  let enlist role number =
    let operation =
      if role = Nudged then Mutex.locking_again else Mutex.locking
    in
    enlist waiters operation unit t (request role) number
  and look () =
    (match Atomic.get t with
      | Unlocked -> "unlocked"
      | Locked { overtaken; _ } -> Printf.sprintf "locked %d" overtaken
      | Free { overtaken; _ } -> Printf.sprintf "free %d" overtaken
      | Reserved _ -> "reserved")
    ^ Printf.sprintf ", %d wait" (Mutex.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

type mutex_state = Unlocked | Locked of int | Free of int | Reserved

let expected_mutex ~log =
  let state = ref Unlocked and q = ref [] in
  let rec hand_over () =
    match !q with
    | [] -> state := Unlocked
    | w :: rest -> (
        q := rest;
        match w.role with
        | Asleep | Nudged ->
            state := Free 0;
            if not (resume log w (Printexc.to_string Operation.Nudged)) then
              hand_over ()
        | Plain | Impatient ->
            state := Locked (-1);
            if not (resume log w "()") then hand_over ())
  in
  let lock role =
    match (!state, role) with
    | Unlocked, _ | (Free _ | Reserved), (Nudged | Impatient) ->
        state := Locked (-1);
        "()"
    | Free n, _ ->
        state := Locked (n + 1);
        "()"
    | _ -> "none"
  in
  let unlock () =
    match !state with
    | Unlocked | Free _ | Reserved -> raise Mutex.not_permitted
    | Locked n when n >= 2 -> state := Reserved
    | Locked n when n >= 0 -> state := Free n
    | Locked _ -> hand_over ()
  in
  let act op number =
    match op with
    | Try_lock -> lock Plain
    | Come_back -> lock Nudged
    | Unlock -> unit (unlock ())
    | Give_up ->
        unit
          (match !state with
          | Free _ | Reserved -> hand_over ()
          | Locked _ -> state := Locked (-1)
          | Unlocked -> ())
    | Protect ->
        if lock Plain = "()" then begin
          unlock ();
          string_of_int number
        end
        else "none"
  in
  let enlist role number answer =
    let w = { role; number; answer } in
    let nudged = role = Nudged || role = Impatient in
    match !state with
    | Locked _ when nudged ->
        state := Locked (-1);
        q := if role = Nudged then w :: !q else !q @ [ w ];
        true
    | Locked _ ->
        q := !q @ [ w ];
        true
    | Reserved when not nudged ->
        q := !q @ [ w ];
        true
    | Unlocked | Free _ | Reserved -> false
  in
  let withdraw number =
    (match (!state, List.find_opt (fun w -> w.number = number) !q) with
    | Locked _, Some { role = Nudged | Impatient; _ } -> state := Locked (-1)
    | _ -> ());
    q := without number !q
  in
  let look () =
    let n = List.length !q in
    match !state with
    | Unlocked -> "unlocked, 0 wait"
    | Locked o ->
        Printf.sprintf "locked %d, %d wait" o (n + if o >= 0 then 1 else 0)
    | Free o -> Printf.sprintf "free %d, %d wait" o (n + 1)
    | Reserved -> Printf.sprintf "reserved, %d wait" (n + 1)
  in
  expected { act; enlist; withdraw; look }

let mutex =
  Structure
    {
      name = "Mutex";
      ops = [| Try_lock; Unlock; Unlock; Come_back; Give_up; Protect |];
      roles = [| Plain; Plain; Asleep; Impatient; Nudged |];
      make = (function Expected -> expected_mutex | how -> real_mutex how);
    }

(* --- Semaphore ------------------------------------------------------------------- *)

type semaphore_op = Try_acquire | Release | With_permit

(* Of a counting one, or of a binary one. *)
let real_semaphore ~binary value how ~log =
  let t = Semaphore.make value and waiters = waiters log in
  let module Counting = Semaphore.Counting in
  let module Binary = Semaphore.Binary in
  let release_step =
    if binary then Semaphore.release_binary else Semaphore.release_counting
  in
  let try_acquire () =
    if how <> Publicly then perform how t Semaphore.acquire_step ()
    else if (if binary then Binary.try_acquire else Counting.try_acquire) t then
      Some ()
    else None
  and release () =
    if how <> Publicly then some_unit (perform how t release_step ())
    else unit ((if binary then Binary.release else Counting.release) t)
  in
  let act op number =
    match op with
    | Try_acquire -> some_unit (try_acquire ())
    | Release -> release ()
    | With_permit when Counting.get_value t = 0 -> "none"
    | With_permit when how = Publicly ->
        let within =
          if binary then Binary.with_permit else Counting.with_permit
        in
        string_of_int (within t (fun () -> number))
    | With_permit ->
        ignore (try_acquire () : unit option);
        ignore (release () : string);
        string_of_int number
  in
  let enlist () number =
    let operation =
      if binary then Semaphore.acquiring_binary else Semaphore.acquiring
    in
    enlist waiters operation unit t () number
  and look () =
    Printf.sprintf "%d, %d wait" (Counting.get_value t) (Semaphore.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let expected_semaphore ~binary value ~log =
  let permits = ref value and q = ref [] in
  let rec release () =
    match !q with
    | [] ->
        if binary then permits := 1
        else if !permits = max_int then raise Semaphore.overflow
        else incr permits
    | w :: rest ->
        q := rest;
        if not (resume log w "()") then release ()
  in
  let act op number =
    match op with
    | Try_acquire when !permits = 0 -> "none"
    | Try_acquire -> unit (decr permits)
    | Release -> unit (release ())
    | With_permit when !permits = 0 -> "none"
    | With_permit -> string_of_int number
  and enlist role number answer =
    !permits = 0
    && begin
      q := !q @ [ { role; number; answer } ];
      true
    end
  and withdraw number = q := without number !q
  and look () = Printf.sprintf "%d, %d wait" !permits (List.length !q) in
  expected { act; enlist; withdraw; look }

let semaphore name ~binary value =
  Structure
    {
      name;
      ops = [| Try_acquire; Try_acquire; Release; With_permit |];
      roles = [| () |];
      make =
        (function
        | Expected -> expected_semaphore ~binary value
        | how -> real_semaphore ~binary value how);
    }

(* --- Rwlock ------------------------------------------------------------------------ *)

type rwlock_op =
  | Try of Rwlock.mode
  | Unlock of Rwlock.mode
  | Within of Rwlock.mode
  | Try_many
  | Unlock_many

(* More than those whose states are constants. *)
let many = 40

let real_rwlock prefer how ~log =
  let t = Rwlock.create ~prefer () and waiters = waiters log in
  let request : Rwlock.mode -> Rwlock.request = function
    | Read -> t.reading
    | Write -> t.writing
  in
  let try_lock (mode : Rwlock.mode) =
    match (how, mode) with
    | Publicly, Read -> Rwlock.try_read_lock t
    | Publicly, Write -> Rwlock.try_write_lock t
    | _ -> perform how t.state Rwlock.lock_step (request mode) = Some ()
  and unlock (mode : Rwlock.mode) =
    match (how, mode) with
    | Publicly, Read -> Rwlock.read_unlock t
    | Publicly, Write -> Rwlock.write_unlock t
    | _ ->
        ignore
          (perform how t.state Rwlock.unlock_step (request mode) : unit option)
  in
  let act op number =
    match op with
    | Try mode -> string_of_bool (try_lock mode)
    | Unlock mode -> unit (unlock mode)
    | Within mode
      when not (Rwlock.may_enter (Atomic.get t.state) (request mode)) ->
        "none"
    | Within Read when how = Publicly ->
        string_of_int (Rwlock.read t (fun () -> number))
    | Within Write when how = Publicly ->
        string_of_int (Rwlock.write t (fun () -> number))
    | Within mode ->
        ignore (try_lock mode : bool);
        unlock mode;
        string_of_int number
    | Try_many ->
        String.concat " "
          (List.init many (fun _ -> string_of_bool (try_lock Read)))
    | Unlock_many ->
        for _ = 1 to many do
          unlock Read
        done;
        "()"
  and enlist mode number =
    enlist waiters (Rwlock.operation mode) unit t (request mode) number
  and look () =
    Printf.sprintf "%d, %d wait" (Atomic.get t.state).holders (Rwlock.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let expected_rwlock prefer ~log =
  let holders = ref 0 and first = ref [] and second = ref [] in
  let admits : Rwlock.mode -> bool = function
    | Read -> !holders >= 0
    | Write -> !holders = 0
  and enter : Rwlock.mode -> unit = function
    | Read -> incr holders
    | Write -> holders := -1
  and leave () = holders := if !holders < 0 then 0 else !holders - 1
  and goes_first mode = prefer = `Nobody || mode = Rwlock.Write in
  let may_enter mode =
    admits mode && !first = [] && (!second = [] || not (prefer = `Nobody))
  in
  let rec serve () =
    match (!first, !second) with
    | w :: rest, _ when admits w.role ->
        first := rest;
        let_in w
    | [], w :: rest when admits w.role ->
        second := rest;
        let_in w
    | _ -> ()
  and let_in w =
    enter w.role;
    if not (resume log w "()") then leave ();
    serve ()
  in
  let try_lock mode =
    may_enter mode
    && begin
      enter mode;
      true
    end
  and unlock (mode : Rwlock.mode) =
    if match mode with Read -> !holders <= 0 | Write -> !holders >= 0 then
      raise (Rwlock.not_permitted mode);
    leave ();
    serve ()
  in
  let act op number =
    match op with
    | Try mode -> string_of_bool (try_lock mode)
    | Unlock mode -> unit (unlock mode)
    | Within mode ->
        if try_lock mode then begin
          unlock mode;
          string_of_int number
        end
        else "none"
    | Try_many ->
        String.concat " "
          (List.init many (fun _ -> string_of_bool (try_lock Read)))
    | Unlock_many ->
        for _ = 1 to many do
          unlock Read;
          if !struck then raise Struck
        done;
        "()"
  and enlist role number answer =
    let q = if goes_first role then first else second in
    (not (may_enter role))
    && begin
      q := !q @ [ { role; number; answer } ];
      true
    end
  and withdraw number =
    first := without number !first;
    second := without number !second;
    serve ()
  and look () =
    Printf.sprintf "%d, %d wait" !holders
      (List.length !first + List.length !second)
  in
  expected { act; enlist; withdraw; look }

let rwlock name prefer =
  Structure
    {
      name;
      ops =
        [|
          Try Read;
          Try Write;
          Unlock Read;
          Unlock Write;
          Unlock Read;
          Unlock Write;
          Within Read;
          Within Write;
          Try_many;
          Unlock_many;
        |];
      roles = [| Rwlock.Read; Write |];
      make =
        (function
        | Expected -> expected_rwlock prefer
        | how -> real_rwlock prefer how);
    }

let all =
  [
    mutex;
    semaphore "Semaphore.Counting" ~binary:false 1;
    (* more permits than those whose states are constants *)
    semaphore "Semaphore.Counting, of many permits" ~binary:false 63;
    semaphore "Semaphore.Counting, of all permits" ~binary:false (max_int - 1);
    semaphore "Semaphore.Binary" ~binary:true 0;
    rwlock "Rwlock" `Nobody;
    rwlock "Rwlock, writers first" `Writers;
  ]
