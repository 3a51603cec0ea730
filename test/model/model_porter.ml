module P = Porter

(* All jobs are started on one domain. *)
let create () =
  let started = P.nothing_started () in
  P.create ~here:(fun () -> started) ~domains:(Atomic.make [ started ])

(* Jobs are posted to a porter that works, goes to sleep or sleeps. No job is lost, and the
   jobs of each process start in order. *)
let check name ~asleep posts expect =
  Model.check name ~expect @@ fun () ->
  let started = ref [] in
  let job name =
    let start () = started := name :: !started in
    P.job { P.start; fail = (fun e _ -> raise e) }
  in
  let porter = create () in
  let task = Model.task () in
  let serve () = Model.run task (fun () -> P.serve () porter) in
  if asleep then serve ();
  let post names () = List.iter (fun n -> P.post porter (job n)) names in
  let outcome () =
    (match Atomic.get porter.inbox with
    | { oldest_first = []; latest_first = []; posted; _ }
      when posted = porter.turns ->
        ()
    | _ -> failwith "the porter does not sleep at rest");
    let position n =
      match List.find_index (String.equal n) (List.rev !started) with
      | Some i -> i
      | None -> failwith "a job was lost"
    in
    let posted = List.concat posts in
    if List.length !started <> List.length posted then
      failwith "a job was started twice";
    if position "a" > position "b" then failwith "out of order";
    String.concat "" (List.rev !started)
  in
  ((if asleep then [] else [ serve ]) @ List.map post posts, outcome)

(* A signal handler raises once, in one of the participants. *)
let check_interrupted name interrupt jobs expect =
  Model.check name ~expect @@ fun () ->
  let started = ref [] in
  let porter = create () and task = Model.task () in
  let job name =
    let start () =
      if interrupt = `Start && name = "a" then raise Domainslib.Interrupted;
      started := name :: !started
    and fail _ _ = started := (name ^ "!") :: !started in
    P.job { P.start; fail }
  in
  (Domainslib.interrupt :=
     match interrupt with `Async when_ -> Some when_ | _ -> None);
  Model.run task (fun () -> P.serve () porter);
  if interrupt = `Wake then begin
    let inbox = Atomic.get porter.inbox and before = ref true in
    let wake outcome =
      if !before then begin
        before := false;
        raise Domainslib.Interrupted
      end;
      inbox.wake outcome
    in
    Atomic.set porter.inbox { inbox with wake }
  end;
  let post name () =
    try P.post porter (job name) with Domainslib.Interrupted -> ()
  in
  let outcome () =
    if List.length !started <> List.length jobs then
      failwith "a job was lost, or doubled";
    String.concat "" (List.rev !started)
  in
  (List.map post jobs, outcome)

let check_cancellable expect =
  Model.check "cancelling a job" ~expect @@ fun () ->
  let porter = create () in
  let task = Model.task () in
  Model.run task (fun () -> P.serve () porter);
  let ran = ref false and answer = ref false in
  let promise = Promise.create () in
  let job, cancel = P.cancellable promise (fun () -> ran := true) in
  P.post porter job;
  let outcome () =
    if !ran = !answer then failwith "both ran and was cancelled, or neither";
    match Promise.peek promise with
    | Some (Ok ()) -> "ran"
    | Some (Error P.Withdrawn) -> "cancelled"
    | Some (Error _) | None -> failwith "the promise is not resolved"
  in
  let queue = Queue.copy Model.queues.(0) in
  Queue.clear Model.queues.(0);
  ( [
      (fun () -> Queue.transfer queue Model.queues.(0));
      (fun () -> answer := cancel ());
    ],
    outcome )

(* A task waits until all jobs have ended. [jobs] exist when it begins, and each runs in a
   process. [later] more come meanwhile, and run. *)
let check_drain name ?(drainers = 1) ?(cancelled = false) ?(interrupted = false)
    ?(later = 0) ~jobs expect =
  Model.check name ~expect @@ fun () ->
  let porter = create () and ended = ref 0 and found = ref [] in
  let tasks = List.init drainers (fun _ -> Model.task ()) in
  let start () =
    if interrupted && !ended = 0 then raise Domainslib.Interrupted;
    incr ended
  and fail _ _ = incr ended in
  let post () = P.post porter (P.job { P.start; fail }) in
  for _ = 1 to jobs do
    post ()
  done;
  let drain task () =
    Model.run task (fun () ->
        P.drain porter;
        found := !ended :: !found)
  in
  let post_and_run () =
    post ();
    P.turn porter ()
  in
  let outcome () =
    if !ended <> jobs + later || not (P.is_drained porter) then
      failwith "not all jobs have ended";
    if List.length !found < drainers && not cancelled then
      failwith "it waits forever";
    if List.exists (fun n -> n < jobs) !found then failwith "too early";
    String.concat "," (List.map string_of_int !found)
  in
  ( (List.init jobs (fun _ -> P.turn porter)
    @ List.map drain tasks
    @ List.init later (fun _ -> post_and_run)
    @ if cancelled then [ (fun () -> Model.cancel (List.hd tasks)) ] else []),
    outcome )

(* The pool is given up, or was torn down. [a] was posted before, and [b] comes meanwhile.
   Without a pool, neither would ever run, so both must fail. *)
let check_lost name ~turns expect =
  Model.check name ~expect @@ fun () ->
  let porter = create () in
  let started = ref [] and failed = ref [] in
  let job name =
    let start () = started := name :: !started
    and fail _ _ = failed := name :: !failed in
    P.job { P.start; fail }
  in
  P.post porter (job "a");
  let outcome () =
    let has name = List.mem name !failed in
    if not (has "a" && has "b") then failwith "a job was lost without a failure";
    String.concat "" (List.sort String.compare !started)
  in
  ( (fun () -> P.lose porter)
    :: (fun () -> P.post porter (job "b"))
    :: List.init turns (fun _ () -> P.take_and_start porter (ref None)),
    outcome )

let () =
  check_lost "jobs are lost" ~turns:1 [ ""; "a" ];
  check_drain "drain" ~jobs:1 [ "1" ];
  check_drain "drain, and a job is interrupted" ~interrupted:true ~jobs:1
    [ "1" ];
  check_drain "drain is cancelled" ~cancelled:true ~jobs:1 [ ""; "1" ];
  check "the porter starts" ~asleep:false [ [ "a"; "b" ] ] [ "ab" ];
  check "the porter sleeps" ~asleep:true
    [ [ "a"; "b" ]; [ "c" ] ]
    [ "abc"; "acb"; "cab" ];
  check_interrupted "the poster is interrupted" `Wake [ "a" ] [ "a" ];
  check_interrupted "one poster of two is interrupted" `Wake [ "a"; "b" ]
    [ "ab"; "ba" ];
  check_interrupted "the porter is interrupted" (`Async `Before) [ "a"; "b" ]
    [ "ab"; "ba" ];
  check_interrupted "and was about to count" (`Async `After) [ "a"; "b" ]
    [ "ab"; "ba" ];
  check_interrupted "a job is interrupted" `Start [ "a"; "b" ] [ "a!b"; "ba!" ];
  check_cancellable [ "cancelled"; "ran" ];
  Model.finish ()
