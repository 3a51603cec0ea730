(* [Real_parker] uses these modules in place of Stdlib's locks and domain-local storage. Each
   process is a thread.

   A process of dscheck can't block. So a thread that would block stops forever, and the others
   continue. In another interleaving it reaches this place later and doesn't block. If a
   stopped thread could continue at the end of an interleaving, that interleaving is only the
   beginning of such another one. If no stopped thread could, it is a deadlock. *)

(* --- Threads that stop ------------------------------------------------------- *)

(* For each stopped thread, whether it could continue now. *)
let stopped : (unit -> bool) list ref = ref []

let stop could_go_on =
  stopped := could_go_on :: !stopped;
  Suspend.suspend (fun _ -> None)

let could_go_on () = List.exists (fun could -> could ()) !stopped

(* --- Signal handlers --------------------------------------------------------- *)

(* The places where OCaml may call a signal handler: before a thread blocks, and after it was
   woken. *)
type place = Before_lock | Before_wait | After_wait
type handler = { process : int; place : place; handle : unit -> unit }

let handlers : handler list ref = ref []

(* Each handler is called once. *)
let interrupt place =
  let is_here h = h.process = !Atomic.current && h.place = place in
  match List.partition is_here !handlers with
  | [], _ -> ()
  | here :: later, others ->
      handlers := later @ others;
      here.handle ()

(* --- Domains ------------------------------------------------------------------ *)

let domain_of_process : (int -> int) ref = ref Fun.id

(* For each key, a function that forgets its values. *)
let resets : (unit -> unit) list ref = ref []

module Domain = struct
  include Domain

  module DLS = struct
    type 'a key = { init : unit -> 'a; values : (int, 'a) Hashtbl.t }

    let new_key init =
      let values = Hashtbl.create 4 in
      resets := (fun () -> Hashtbl.reset values) :: !resets;
      { init; values }

    let set key v =
      Hashtbl.replace key.values (!domain_of_process !Atomic.current) v

    let get key =
      match
        Hashtbl.find_opt key.values (!domain_of_process !Atomic.current)
      with
      | Some v -> v
      | None ->
          let v = key.init () in
          set key v;
          v
  end
end

(* --- Mutexes and conditions --------------------------------------------------- *)

(* How often each process has locked a mutex, and how often it has gone to sleep. *)
let locked = Array.make 8 0
let slept = Array.make 8 0

let count counters =
  let me = !Atomic.current in
  counters.(me) <- counters.(me) + 1

module Mutex = struct
  type t = int Atomic.t
  (** The process that holds it. *)

  let nobody = -1
  let create () = Atomic.make nobody

  let try_lock t =
    let taken = Atomic.compare_and_set t nobody !Atomic.current in
    if taken then count locked;
    taken

  let unlock t =
    if not (Atomic.compare_and_set t !Atomic.current nobody) then
      raise (Sys_error "Mutex.unlock: Operation not permitted")

  let is_free t = Atomic.get t = nobody

  let block t =
    if not (try_lock t) then
      if Atomic.get t = !Atomic.current then
        raise (Sys_error "Mutex.lock: Resource deadlock avoided")
      else stop (fun () -> is_free t)

  let lock t =
    interrupt Before_lock;
    block t

  let protect t f =
    lock t;
    Fun.protect ~finally:(fun () -> unlock t) f
end

module Condition = struct
  type t = unit ref list Atomic.t
  (** The waiting threads, latest first. *)

  let create () = Atomic.make []

  (* Joining the list and unlocking the mutex are one step to the process that locks it next. *)
  let wait t mutex =
    interrupt Before_wait;
    count slept;
    let me = ref () in
    if Atomic.get mutex <> !Atomic.current then
      raise (Sys_error "Condition.wait: Operation not permitted");
    Atomically.update t (List.cons me);
    Mutex.unlock mutex;
    let is_woken () = not (List.memq me (Atomic.get t)) in
    if not (is_woken ()) then stop is_woken;
    Mutex.block mutex;
    interrupt After_wait

  let signal t =
    Atomically.update t (function
      | [] -> []
      | waiters -> List.rev (List.tl (List.rev waiters)))
end

(* --- New threads ---------------------------------------------------------------- *)

(* dscheck knows all processes from the beginning. So a process that represents a thread stops
   if it comes before the thread is created. *)
module Thread = struct
  include Thread

  let created : (unit -> unit) option Atomic.t array ref = ref [||]

  let attempts = ref (Atomic.make 0)
  and successes = ref (Atomic.make 0)

  let fails = ref (fun _ -> false)

  let create f v =
    if !fails (Atomic.fetch_and_add !attempts 1) then failwith "Thread.create";
    let n = Atomic.fetch_and_add !successes 1 in
    Atomic.set !created.(n) (Some (fun () -> f v));
    n

  (* A scenario with such threads calls this too. Attempt [n] fails if [fails_at n]. *)
  let start ~most ~fails_at =
    created := Array.init most (fun _ -> Atomic.make None);
    attempts := Atomic.make 0;
    successes := Atomic.make 0;
    fails := fails_at

  let run n =
    let created = !created.(n) in
    match Atomic.get created with
    | Some f -> f ()
    | None -> stop (fun () -> Option.is_some (Atomic.get created))
end

(* Each scenario calls this first. *)
let start ~domains =
  domain_of_process := domains;
  List.iter (fun reset -> reset ()) !resets;
  stopped := [];
  handlers := [];
  Array.fill locked 0 8 0;
  Array.fill slept 0 8 0
