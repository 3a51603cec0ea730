module Task = Domainslib.Task

let invalid name message =
  invalid_arg ("Concord_domainslib." ^ name ^ ": " ^ message)

(* --- The porter of each pool ------------------------------------------------ *)

module Private = Concord.Private
module Identity = Private.Identity
module Attached_data = Private.Attached_data
module Who = Private.Who
module Who_is = Private.Who_is

(* Belongs to a pool, but doesn't keep the pool alive. *)
type attachment = { pool : Task.pool; name : string option; porter : Porter.t }

(* A list is enough, because programs have few pools. A thread adds to it only while it holds
   [mutex]. *)
let entries : attachment Attached_data.t list Atomic.t = Atomic.make []
let mutex = Mutex.create ()

let attached_to pool entry =
  match Attached_data.attached entry with
  | Some attachment when attachment.pool == pool -> Some attachment
  | Some _ | None -> None

let attachment_of pool = List.find_map (attached_to pool) (Atomic.get entries)
let name_of pool = Option.bind (attachment_of pool) (fun { name; _ } -> name)

let add pool name porter =
  let attachment = { pool; name; porter } in
  let entry = Attached_data.attach pool attachment in
  let is_used entry = not (Attached_data.is_useless entry) in
  Atomic.set entries (entry :: List.filter is_used (Atomic.get entries));
  attachment

(* --- Pools that are torn down --------------------------------------------- *)

(* Domainslib has no hook for the end of a pool. But the pool's domains end then. Each of them
   calls [leaving] if it has run the porter or started a job. The other domains may still run
   jobs at that time. So the thread of the timeouts checks again and again, until
   [Domainslib.Task.teardown_pool] has joined all domains. Jobs that have not ended by then
   never will. Time decides only when the thread checks.

   A domain outside of the pool may have run jobs in [Domainslib.Task.run]. If such a domain
   ends, the thread checks until the pool is torn down, or is no longer used. *)

let rec check_again pool porter seconds =
  let check () =
    match pool () with
    | Some p when Porter.is_alive p ->
        check_again pool porter (Float.min 1. (2. *. seconds))
    | Some _ | None -> Porter.lose porter
  in
  match Private.Timer.after seconds check with
  | (_ : unit -> unit) -> ()
  | exception (Unix.Unix_error _ | Sys_error _) ->
      (* The thread of the timeouts can't be started, so the promises of these jobs never fail.
         *)
      ()

let create pool =
  let _, weak = Identity.viewed pool Fun.id in
  let domains = Atomic.make [] in
  let porter = ref None in
  let leaving () =
    Option.iter (fun porter -> check_again weak porter 0.001) !porter
  in
  let arrive () =
    let started = Porter.nothing_started () in
    Concord.Tools.Structure_kit.update domains (List.cons started);
    if not (Domain.is_main_domain ()) then Domain.at_exit leaving;
    started
  in
  let key = Domain.DLS.new_key arrive in
  let here () = Domain.DLS.get key in
  let created = Porter.create ~here ~domains in
  porter := Some created;
  created

(* --- The identity of tasks --------------------------------------------------- *)

(* A trigger of Domainslib. A comparison with it shows whether a task belongs to a pool or to
   another scheduler, but not which task it is. It comes from a pool without domains, because a
   task of a pool may have another scheduler around it. *)
let sample =
  Concord.Lazy.from_fun (fun () ->
      let pool = Task.setup_pool ~num_domains:0 () in
      Task.run pool Domain_local_await.prepare_for_await)

let is_of_domainslib (other : Domain_local_await.t) =
  Identity.same_code (Concord.Lazy.force sample).await other.await

let some_attached = Atomic.make false
let host = "domainslib"
let is_of_a_pool other = Atomic.get some_attached && is_of_domainslib other

let who_of_trigger other =
  if is_of_a_pool other then Some (Who.unknown host) else None

let () = Concord.Private.Identify.add_who_of_trigger who_of_trigger

(* --- Turns ------------------------------------------------------------------ *)

(* Posts a job that releases the trigger, so that its task continues after the tasks that are
   ready. A domain of a pool runs its own tasks first, and resumed tasks after them. So the
   porter runs after the domain's own tasks, and the task of the trigger after the porter. A
   trigger doesn't say to which pool its task belongs, so each pool gets such a job. Releasing
   a trigger twice does no harm. *)
let wake_in (trigger : Domain_local_await.t) { pool; porter; _ } =
  Porter.is_alive pool
  && begin
    let fail _ _ = trigger.release () in
    Porter.post porter (Porter.job_aside { start = trigger.release; fail });
    if not (Porter.is_alive pool) then Porter.lose porter;
    true
  end

let wake_later trigger =
  is_of_a_pool trigger
  && List.filter_map Attached_data.attached (Atomic.get entries)
     |> List.map (wake_in trigger)
     |> List.exists Fun.id

let () = Concord.Private.Asking.add_waker_of_trigger wake_later

(* Gives a job its own identity, which it keeps when it moves to another domain. *)
let[@inline never] with_identity pool promise f =
  let name = Who.(numbered "job" (new_number ())) in
  let name =
    match name_of pool with
    | Some pool -> Printf.sprintf "%s of pool %s" name pool
    | None -> name
  in
  let origin = Private.Forks.here () in
  let known = Atomic.make None in
  let who () =
    match Atomic.get known with
    | Some who -> Who.here who
    | None ->
        let who = Who.make ~origin ~host ~name known in
        Atomic.set known (Some who);
        who
  in
  let has_begun = Atomic.make false in
  let filler () =
    let who = who () in
    if Atomic.get has_begun then who
    else { who with name = name ^ ", which has not begun" }
  in
  if Private.Observer.are_kept () then
    Private.Filler.add filler ~is_resolved:Concord.Promise.is_resolved promise;
  let f = fun () -> Private.Forks.run origin ~ask:who f in
  fun () ->
    Atomic.set has_begun true;
    Who_is.answering who f

let[@inline] known_job pool promise f =
  if Private.Forks.are_observed () then with_identity pool promise f else f

(* --- Attaching ------------------------------------------------------------ *)

let start name pool_name pool =
  let porter = create pool in
  let serve () = Porter.serve pool porter in
  match Task.async pool serve with
  | (_ : unit Task.promise) -> add pool pool_name porter
  | exception Assert_failure _ ->
      invalid name
        "the pool has no slot for the calling domain. First call attach from \
         the domain that uses Domainslib.Task.run or async"

let attachment ?pool_name name pool =
  if not (Porter.is_alive pool) then invalid name "the pool was torn down";
  match attachment_of pool with
  | Some attachment -> attachment
  | None ->
      ignore (Concord.Lazy.force sample : Domain_local_await.t);
      Atomic.set some_attached true;
      Mutex.protect mutex (fun () ->
          match attachment_of pool with
          | Some attachment -> attachment
          | None -> start name pool_name pool)

let attach ?pool_name name pool =
  ignore (attachment ?pool_name name pool : attachment)

(* --- Pools without domains ------------------------------------------------ *)

(* [true] if the calling thread is inside [Domainslib.Task.run], or is a domain of a pool. *)
let in_a_pool () = is_of_domainslib (Domain_local_await.prepare_for_await ())

let attachment_for_a_job name pool =
  let attachment = attachment name pool in
  (* The count is one more than the pool's domains, because Domainslib counts the slot of an
     outside domain too. *)
  if Task.get_num_domains pool = 1 && not (in_a_pool ()) then
    invalid name
      "the pool has no domain that could start the job. Make it with \
       num_domains:1 or more, or call this inside of Domainslib.Task.run";
  attachment

let post name pool job =
  let { porter; _ } = attachment_for_a_job name pool in
  Porter.post porter job;
  if not (Porter.is_alive pool) then Porter.lose porter

(* --- Tearing down --------------------------------------------------------- *)

let drain pool =
  Option.iter (fun { porter; _ } -> Porter.drain porter) (attachment_of pool)

let teardown name pool =
  if not (Porter.is_alive pool) then invalid name "the pool was torn down";
  drain pool;
  match Task.teardown_pool pool with
  | () -> ()
  | exception Assert_failure _ ->
      invalid name "only the domain that attached the pool can tear it down"
