module Task = Domainslib.Task

let invalid name message =
  invalid_arg ("Concord_domainslib." ^ name ^ ": " ^ message)

(* --- Which porter belongs to which pool ----------------------------------- *)

(* The porter keeps its pool alive. *)
type entry = {
  pool : Task.pool Weak.t;
  porter_of : (Task.pool, Porter.t) Ephemeron.K1.t;
}

(* A list, as programs have few pools. A thread adds to it only while it holds [mutex].
   *)
let entries : entry list Atomic.t = Atomic.make []
let mutex = Mutex.create ()

let find pool =
  let query entry = Ephemeron.K1.query entry.porter_of pool in
  List.find_map query (Atomic.get entries)

let add pool porter =
  let key = Weak.create 1 in
  Weak.set key 0 (Some pool);
  let entry = { pool = key; porter_of = Ephemeron.K1.make pool porter } in
  let used = List.filter (fun e -> Weak.check e.pool 0) (Atomic.get entries) in
  Atomic.set entries (entry :: used)

(* --- Pools that are torn down --------------------------------------------- *)

(* Domainslib calls nobody when a pool is torn down. But the domains of the pool end then,
   and each calls [leaving] if it has been a porter's, or started a job. The pool's
   other domains may still run jobs. So the thread of the timeouts looks again, until
   [Domainslib.Task.teardown_pool] has joined all of them: what has not ended then never
   will.

   A domain that is no domain of the pool's may have run jobs in
   [Domainslib.Task.run]. If it ends, the thread looks until the pool is torn down, or
   is not used any more. *)

let rec look_again pool porter seconds =
  let look () =
    match Weak.get pool 0 with
    | Some p when Porter.is_alive p ->
        look_again pool porter (Float.min 1. (2. *. seconds))
    | Some _ | None -> Porter.lose porter
  in
  match Concord__Timer.after seconds look with
  | (_ : unit -> unit) -> ()
  | exception (Unix.Unix_error _ | Sys_error _) ->
      (* There is no thread: these jobs are lost without a word. *) ()

let create pool =
  let weak = Weak.create 1 in
  Weak.set weak 0 (Some pool);
  let domains = Atomic.make [] in
  let porter = ref None in
  let leaving () =
    Option.iter (fun porter -> look_again weak porter 0.001) !porter
  in
  let arrive () =
    let started = Porter.nothing_started () in
    Concord.Structure_kit.update domains (List.cons started);
    if not (Domain.is_main_domain ()) then Domain.at_exit leaving;
    started
  in
  let key = Domain.DLS.new_key arrive in
  let here () = Domain.DLS.get key in
  let created = Porter.create ~here ~domains in
  porter := Some created;
  created

(* --- Attaching ------------------------------------------------------------ *)

let start name pool =
  let porter = create pool in
  match Task.async pool (fun () -> Porter.serve pool porter) with
  | (_ : unit Task.promise) ->
      add pool porter;
      porter
  | exception Assert_failure _ ->
      invalid name
        "the pool has no place for the calling domain; call attach before, \
         from the domain that uses Domainslib.Task.run or async"

let porter name pool =
  if not (Porter.is_alive pool) then invalid name "the pool was torn down";
  match find pool with
  | Some porter -> porter
  | None ->
      Mutex.protect mutex (fun () ->
          match find pool with Some porter -> porter | None -> start name pool)

let attach name pool = ignore (porter name pool : Porter.t)

(* --- Pools without domains ------------------------------------------------ *)

(* A trigger of Domainslib's, to compare with. *)
let sample =
  Concord.Lazy.from_fun (fun () ->
      let pool = Task.setup_pool ~num_domains:0 () in
      Task.run pool Domain_local_await.prepare_for_await)

(* Is the calling thread inside [Domainslib.Task.run], or a domain of a pool? *)
let in_a_pool () =
  let here = Domain_local_await.prepare_for_await () in
  Concord__Identity.same_code here.await (Concord.Lazy.force sample).await

let porter_for_a_job name pool =
  let porter = porter name pool in
  (* Domainslib counts the place for an outside domain. *)
  if Task.get_num_domains pool = 1 && not (in_a_pool ()) then
    invalid name
      "the pool has no domain that would start the job; make it with \
       num_domains:1 or more, or call this inside of Domainslib.Task.run";
  porter

let post name pool job =
  let porter = porter_for_a_job name pool in
  Porter.post porter job;
  if not (Porter.is_alive pool) then Porter.lose porter

(* --- Tearing down --------------------------------------------------------- *)

let drain pool = Option.iter Porter.drain (find pool)

let teardown name pool =
  if not (Porter.is_alive pool) then invalid name "the pool was torn down";
  drain pool;
  match Task.teardown_pool pool with
  | () -> ()
  | exception Assert_failure _ ->
      invalid name "only the domain that attached the pool can tear it down"
