module Task = Domainslib.Task
module Promise = Concord.Promise
module Locals = Concord.Private.Locals

exception Torn_down = Porter.Torn_down

let () =
  Printexc.register_printer @@ function
  | Torn_down ->
      Some
        "Concord_domainslib.Torn_down: the pool was torn down before the job \
         had ended. Wait for jobs by Concord_domainslib.drain or teardown"
  | _ -> None

let attach ?name pool = Attached.attach ?pool_name:name "attach" pool

(* --- One job -------------------------------------------------------------- *)

let submit_as name pool f =
  let promise = Promise.create () in
  let f = Locals.carry f in
  let f = Attached.known_job pool promise f in
  Attached.post name pool (Porter.job (Porter.work promise f));
  promise

let submit pool f = submit_as "submit" pool f

let run pool f =
  let promise = Promise.create () in
  let f = Locals.carry f in
  let f = Attached.known_job pool promise f in
  let job, cancel = Porter.cancellable promise f in
  Attached.post "run" pool job;
  match Promise.await promise with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (cancel () : bool);
      Printexc.raise_with_backtrace e backtrace

(* --- Many jobs ------------------------------------------------------------ *)

(* One job makes tasks of its parts inside of the pool. It awaits all of them, so that none is in
   progress when it has ended. After the first exception no other part is started. *)
let with_parts f =
  let failure = Atomic.make None in
  let part f v =
    if Option.is_none (Atomic.get failure) then
      try f v
      with e ->
        let failed = Some (e, Printexc.get_raw_backtrace ()) in
        ignore (Atomic.compare_and_set failure None failed : bool)
  in
  f part;
  match Atomic.get failure with
  | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | None -> ()

let submit_all pool fs =
  submit_as "submit_all" pool @@ fun () ->
  let fs = Array.of_list fs in
  let results = Array.map (fun _ -> None) fs in
  with_parts (fun part ->
      let start i f =
        Task.async pool (fun () -> part (fun i -> results.(i) <- Some (f ())) i)
      in
      let tasks = Array.mapi start fs in
      Array.iter (Task.await pool) tasks);
  List.map Option.get (Array.to_list results)

let parallel_for ?chunk_size pool ~start ~finish body =
  submit_as "parallel_for" pool @@ fun () ->
  with_parts (fun part ->
      Task.parallel_for ?chunk_size pool ~start ~finish ~body:(part body))

(* --- Pools ---------------------------------------------------------------- *)

let drain = Attached.drain
let teardown = Attached.teardown "teardown"

(* --- Promises -------------------------------------------------------------- *)

let of_task pool task = submit pool (fun () -> Task.await pool task)
let to_task pool t = Task.async pool (fun () -> Promise.await t)
