module P = Concord_domainslib

(* Jobs are posted to a porter that works, goes to sleep or sleeps. None is lost,
   and those of one process start in order. *)
let check name ~asleep posts expect =
  Model.check name ~expect @@ fun () ->
  let started = ref [] in
  let job name () = started := name :: !started in
  let porter = Atomic.make (P.Jobs []) in
  let task = Model.task () in
  let serve () = Model.run task (fun () -> P.serve () porter) in
  if asleep then serve ();
  let post names () = List.iter (fun n -> P.post porter (job n)) names in
  let outcome () =
    (match Atomic.get porter with
    | P.Idle _ -> ()
    | Jobs _ -> failwith "the porter does not sleep at rest");
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

let check_cancellable expect =
  Model.check "cancelling a job" ~expect @@ fun () ->
  let porter = Atomic.make (P.Jobs []) in
  P.Porters.reset P.porters;
  P.Porters.replace P.porters () porter;
  let task = Model.task () in
  Model.run task (fun () -> P.serve () porter);
  let ran = ref false and answer = ref false in
  let promise, cancel = P.submit_cancellable () (fun () -> ran := true) in
  let outcome () =
    if !ran = !answer then failwith "both ran and was cancelled, or neither";
    match Promise.peek promise with
    | Some (Ok ()) -> "ran"
    | Some (Error P.Cancelled) -> "cancelled"
    | Some (Error _) | None -> failwith "the promise is not resolved"
  in
  let queue = Queue.copy Model.queues.(0) in
  Queue.clear Model.queues.(0);
  ( [
      (fun () -> Queue.transfer queue Model.queues.(0));
      (fun () -> answer := cancel ());
    ],
    outcome )

let () =
  check "the porter starts" ~asleep:false [ [ "a"; "b" ] ] [ "ab" ];
  check "the porter sleeps" ~asleep:true
    [ [ "a"; "b" ]; [ "c" ] ]
    [ "abc"; "acb"; "cab" ];
  check_cancellable [ "cancelled"; "ran" ];
  Model.finish ()
