module Task = Domainslib.Task
module Promise = Concord.Promise

exception Cancelled

(* How jobs get into a pool.

   Domainslib lets only a domain that has a place in the pool submit tasks, but it
   resumes a waiting task from anywhere. So each pool gets one task, the porter,
   that waits for jobs and submits them from inside.

   [inbox], the only Atomic of a porter

   State       Left by    To          By whom
   Jobs js     post       Jobs (j, js)  any thread
               porter     Jobs []     the porter, which submits [js]
               porter     Idle r      the porter, if [js] is empty, in [block]
   Idle r      post       Jobs [j]    any thread; it then calls [r]

   Jobs are kept latest first. The porter is never cancelled: tasks of Domainslib
   are not. *)
type inbox =
  | Jobs of (unit -> unit) list
  | Idle of unit Concord.Suspend.resumer

type porter = inbox Atomic.t

let rec post porter job =
  match Atomic.get porter with
  | Jobs jobs as before ->
      if not (Atomic.compare_and_set porter before (Jobs (job :: jobs))) then
        post porter job
  | Idle resumer as before ->
      if Atomic.compare_and_set porter before (Jobs [ job ]) then
        ignore (resumer (Ok ()) : bool)
      else post porter job

let rec wait_for_jobs porter resumer =
  match Atomic.get porter with
  | Jobs (_ :: _) -> Some ()
  | Jobs [] as before ->
      if Atomic.compare_and_set porter before (Idle resumer) then None
      else wait_for_jobs porter resumer
  | Idle _ -> assert false (* only the porter installs it, and it is here *)

(* A domain of a pool starts its own tasks latest first. So a task is not a job,
   but a turn to start the oldest one. *)
let serve pool porter =
  let mutex = Mutex.create () and jobs = Queue.create () in
  let turn () = (Mutex.protect mutex (fun () -> Queue.pop jobs)) () in
  let submit job =
    Mutex.protect mutex (fun () -> Queue.push job jobs);
    ignore (Task.async pool turn : unit Task.promise)
  in
  let rec go () =
    Concord.Suspend.suspend (wait_for_jobs porter);
    match Atomic.exchange porter (Jobs []) with
    | Jobs latest_first ->
        List.iter submit (List.rev latest_first);
        go ()
    | Idle _ -> assert false (* [post] left that state before it resumed *)
  in
  go ()

(* --- Which porter belongs to which pool ----------------------------------- *)

module Porters = Ephemeron.K1.Make (struct
  type t = Task.pool

  let equal = ( == )

  (* A pool has no name or number to hash: programs have few of them. *)
  let hash _ = 0
end)

let porters : porter Porters.t = Porters.create 1
let mutex = Mutex.create ()

let check_alive name pool =
  match Task.get_num_domains pool with
  | (_ : int) -> ()
  | exception Invalid_argument _ ->
      invalid_arg ("Concord_domainslib." ^ name ^ ": the pool was torn down")

let start name pool =
  let porter = Atomic.make (Jobs []) in
  match Task.async pool (fun () -> serve pool porter) with
  | (_ : unit Task.promise) -> porter
  | exception Assert_failure _ ->
      invalid_arg
        ("Concord_domainslib." ^ name
       ^ ": the pool has no place for the calling domain; call attach before, \
          from the domain that uses Domainslib.Task.run or async")

let porter name pool =
  check_alive name pool;
  Mutex.protect mutex (fun () ->
      match Porters.find_opt porters pool with
      | Some porter -> porter
      | None ->
          let porter = start name pool in
          Porters.replace porters pool porter;
          porter)

let attach pool = ignore (porter "attach" pool : porter)

(* --- Jobs ----------------------------------------------------------------- *)

let resolve promise f =
  match f () with
  | v -> ignore (Promise.try_fill promise v : bool)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (Promise.try_fail ~backtrace promise e : bool)

let submit pool f =
  let porter = porter "submit" pool in
  let promise = Promise.create () in
  post porter (fun () -> resolve promise f);
  promise

let submit_cancellable pool f =
  let porter = porter "submit_cancellable" pool in
  let promise = Promise.create () in
  (* Starting and cancelling race for it. *)
  let taken = Atomic.make false in
  let take () = Atomic.compare_and_set taken false true in
  post porter (fun () -> if take () then resolve promise f);
  let cancel () =
    take ()
    && begin
      Promise.try_fail promise Cancelled
    end
  in
  (promise, cancel)
