(* Workers: the queue of what is ready and of idle workers, the turn of a job that waits, and the
   end of a pool. *)

type job = {
  name : string;
  promise : unit Promise.t;
  job : Job.t;
  mutable runs : int;
  mutable waited : string;
}

let job pool name f =
  let promise = Promise.create () in
  let self = ref None in
  let run token =
    let t = Option.get !self in
    t.runs <- t.runs + 1;
    f t token
  in
  let job = Job.create pool promise run in
  let t = { name; promise; job; runs = 0; waited = "" } in
  self := Some t;
  t

(* A worker of the pool, in a task that waits while it has nothing to do. *)
let worker pool =
  let ended = ref false and task = Model.task () in
  let run worker () =
    Model.run task (fun () ->
        Job.serve pool worker ~suspend:Suspend.suspend;
        ended := true)
  in
  (run, ended)

let workers pool =
  List.map
    (fun w ->
      let run, ended = worker pool in
      (run w, ended))
    (Job.workers pool)

let outcome job =
  match Promise.peek job.promise with
  | None -> failwith (job.name ^ " is unresolved")
  | Some (Ok ()) ->
      if job.runs <> 1 then failwith (job.name ^ " did not run once");
      "ran"
  | Some (Error Job.Cancelled) -> "cancelled"
  | Some (Error Job.Lost) -> "lost"
  | Some (Error e) -> raise e

let describe jobs =
  String.concat " " (List.map (fun j -> j.name ^ "=" ^ outcome j) jobs)

let nothing _ _ = ()

(* Threads take from a queue and sleep. [asleep] of them sleep when the others put, and
   [starting] begin meanwhile. *)
let check_queue name ~asleep ~starting puts expect =
  Model.check name ~expect @@ fun () ->
  Domains.count := 0;
  let queue = Ready_queue.create () and taken = ref [] in
  let rec serve () =
    match Ready_queue.take queue with
    | Some v ->
        taken := v :: !taken;
        serve ()
    | None ->
        Suspend.suspend (Ready_queue.block queue ~is_over:(fun () -> false));
        serve ()
  in
  let thread _ =
    let task = Model.task () in
    fun () ->
      Domains.one_more_worker ();
      Model.run task serve
  in
  List.iter (fun run -> run ()) (List.init asleep thread);
  let put vs () = List.iter (Ready_queue.put queue) vs in
  let outcome () =
    if List.length !taken <> List.length (List.concat puts) then
      failwith "all threads sleep, but there is something to take";
    if List.length (Atomic.get queue.idle) <> asleep + starting then
      failwith "a resumer is left, or missing";
    if !Domains.count <> 0 then failwith "threads that sleep count as busy";
    String.concat "" (List.rev !taken)
  in
  (List.init starting thread @ List.map put puts, outcome)

type cell = Empty | Waits of unit Suspend.resumer | Full

let wait cell took =
  Suspend.suspend (fun resumer ->
      if Atomic.compare_and_set cell Empty (Waits resumer) then None
      else begin
        took := true;
        Some ()
      end)

let fill cell accepted =
  match Atomic.exchange cell Full with
  | Waits resumer -> accepted := resumer (Ok ())
  | Empty | Full -> ()

(* A job waits, is resumed, and is told to stop. A second worker may continue it. *)
let check_wait name ?(protected = false) ?(second = false) ?(resumed = true)
    ?(told = true) expect =
  Model.check name ~expect @@ fun () ->
  let pool = Job.create_pool ~workers:(if second then 2 else 1) () in
  let workers = List.map fst (workers pool) in
  let cell = Atomic.make Empty and accepted = ref false and took = ref false in
  let wait t _ =
    let continues how =
      if t.waited <> "" then failwith "it continued twice";
      t.waited <- how
    in
    match wait cell took with
    | () -> continues "resumed"
    | exception Job.Cancelled ->
        continues "cancelled";
        raise Job.Cancelled
  in
  let a =
    job pool "a" (fun t token ->
        if protected then Suspend.protect (fun () -> wait t token)
        else wait t token)
  in
  if second then List.nth workers 1 ();
  Job.submit a.job;
  let outcome () =
    if not (Mailbox.is_empty pool.ready.queue) then failwith "it is not at rest";
    if a.waited = "" then failwith "it waits forever";
    if !accepted && a.waited <> "resumed" then failwith "H3: it was accepted";
    if !took && a.waited <> "resumed" then failwith "H1: it had taken a value";
    (match Atomic.get a.job.wait with
    | Waiting _ -> failwith "it still waits"
    | Running | Told_to_stop -> ());
    a.waited
  in
  let fill () = fill cell accepted and tell () = Job.tell_to_stop a.job in
  ( ((List.hd workers :: (if resumed then [ fill ] else []))
    @ if told then [ tell ] else []),
    outcome )

(* A job is withdrawn while a worker takes it. *)
let check_withdraw expect =
  Model.check "withdrawing a job" ~expect @@ fun () ->
  let pool = Job.create_pool ~workers:1 () in
  let workers = List.map fst (workers pool) in
  let a = job pool "a" nothing and answer = ref false in
  Job.submit a.job;
  let outcome () =
    if !answer <> (a.runs = 0) then failwith "both, or neither";
    if Atomic.get pool.unfinished <> 1 then failwith "miscounted";
    describe [ a ]
  in
  (workers @ [ (fun () -> answer := Job.withdraw a.job) ], outcome)

(* The pool ends. [a] was submitted before, and [b] comes meanwhile, perhaps from [a]. If there
   is no [a], the worker sleeps. If it does not [serve], it computes forever. *)
let check_end name ?(serve = true) ?(tell = false) ?(lose = false) ?a ?b expect
    =
  Model.check name ~expect @@ fun () ->
  Domains.count := 0;
  let pool = Job.create_pool ~workers:1 () in
  let workers = workers pool in
  let late = job pool "b" nothing in
  let submit () = Job.submit late.job in
  let early = job pool "a" (fun _ _ -> if b = Some `From_a then submit ()) in
  if a = Some () then Job.submit early.job;
  let jobs () =
    let is_submitted = b = Some `Beside || (b <> None && early.runs = 1) in
    (if a = Some () then [ early ] else [])
    @ if is_submitted then [ late ] else []
  in
  let end_ () =
    Job.leave pool;
    if tell then Job.tell_all_to_stop pool;
    if lose then Job.lose_all pool
  in
  let outcome () =
    if serve then begin
      if not (Promise.is_resolved (Job.drained pool)) then
        failwith "it was not drained";
      if not (List.for_all (fun (_, ended) -> !ended) workers) then
        failwith "a worker sleeps forever";
      if !Domains.count <> 0 then
        failwith "a worker that has ended counts as busy"
    end;
    if Mailbox.length pool.ready.queue > 1 then failwith "items are left";
    describe (jobs ())
  in
  let run = if serve then List.map fst workers else [] in
  let is_asleep = a = None in
  if is_asleep then List.iter (fun run -> run ()) run;
  ( ((end_ :: (if is_asleep then [] else run))
    @ if b = Some `Beside then [ submit ] else []),
    outcome )

let () =
  check_queue "a thread begins" ~asleep:0 ~starting:1 [ [ "a"; "b" ] ] [ "ab" ];
  check_queue "a thread sleeps" ~asleep:1 ~starting:0 [ [ "a" ]; [ "b" ] ]
    [ "ab"; "ba" ];
  check_queue "one sleeps, one begins" ~asleep:1 ~starting:1 [ [ "a" ] ] [ "a" ];
  check_queue "two sleep" ~asleep:2 ~starting:0 [ [ "a" ]; [ "b" ] ]
    [ "ab"; "ba" ];
  check_wait "a wait is resumed" ~told:false [ "resumed" ];
  check_wait "a wait is resumed, another worker" ~told:false ~second:true
    [ "resumed" ];
  check_wait "a wait is cancelled" ~resumed:false [ "cancelled" ];
  check_wait "a wait is resumed and cancelled" [ "cancelled"; "resumed" ];
  check_wait "a protected wait" ~protected:true [ "resumed" ];
  check_withdraw [ "a=cancelled"; "a=ran" ];
  check_end "the end" ~a:() [ "a=ran" ];
  check_end "the end, and a late job" ~b:`Beside [ "b=lost"; "b=ran" ];
  check_end "the end, from a job" ~a:() ~b:`From_a [ "a=ran b=ran" ];
  check_end "the end, told" ~tell:true ~a:() [ "a=cancelled"; "a=ran" ];
  check_end "the end, told, and from a job" ~tell:true ~a:() ~b:`From_a
    [ "a=cancelled"; "a=ran b=cancelled"; "a=ran b=ran" ];
  check_end "the end, lost" ~serve:false ~tell:true ~lose:true ~a:() ~b:`Beside
    [ "a=lost b=lost" ];
  check_end "the end, lost, and a worker" ~tell:true ~lose:true ~a:()
    [ "a=cancelled"; "a=lost"; "a=ran" ];
  Model.finish ()
