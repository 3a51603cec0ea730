(* Blocking calls: threads that are started, that become idle, that end, and that can't be
   started. *)

let not_to_its_end = "an order not tried to its end"

type call = {
  mutable runs : int;
  mutable promise : unit Promise.t option;
  mutable raised : bool;
}

(* [callers] call at the same time. The first [fail] attempts to start a thread fail. With [busy],
   a thread has a call when the others come. With [over], its domain ends meanwhile. With [ends],
   no process waits for another one in any order. *)
let check name ?(ends = false) ?(most = 2) ?(fail = 0) ?(busy = false)
    ?(over = false) ~callers expect =
  let expect = if ends then expect else not_to_its_end :: expect in
  Model.check name ~expect @@ fun () ->
  Locks.start ~domains:(fun _ -> 0);
  Atomic.current := 0;
  let pool = { Blocking.name = None; most; states = Atomic.make [] } in
  let s = Blocking.here pool in
  let call c () =
    let f () = c.runs <- c.runs + 1 in
    match Blocking.start pool ~signals:false ~drop:ignore f with
    | promise, _ -> c.promise <- Some promise
    | exception Sys_error _ -> c.raised <- true
  in
  let new_call () = { runs = 0; promise = None; raised = false } in
  let first = if busy then [ new_call () ] else [] in
  let attempts_before = List.length first in
  let threads = if over then most + 1 else most in
  Locks.Thread.start ~most:threads ~fails_at:(fun n ->
      n >= attempts_before && n < attempts_before + fail);
  List.iter (fun c -> call c ()) first;
  let calls = List.init callers (fun _ -> new_call ()) in
  let end_domain () =
    let { Blocking.ends; states } = Locks.Domain.DLS.get Blocking.domains in
    Atomic.set ends true;
    List.iter (Blocking.end_idle ends) (Atomic.get states)
  in
  let actor name f =
    Actor.make name (fun () ->
        f ();
        "ended")
  in
  let thread n = actor "thread" (fun () -> Locks.Thread.run n) in
  let actors =
    List.init threads thread
    @ List.map (fun c -> actor "caller" (call c)) calls
    @ if over then [ actor "domain" end_domain ] else []
  in
  let outcome () =
    if Locks.could_go_on () then not_to_its_end
    else begin
      if Atomic.get s.uncomputed <> 0 then failwith "miscounted";
      if not (Queue.is_empty s.waiting) then failwith "a call is left";
      let describe c =
        match (c.runs, Option.map Promise.peek c.promise) with
        | 1, Some (Some (Ok ())) -> "ran"
        | 0, Some (Some (Error (Sys_error _))) -> "failed"
        | 0, None when c.raised -> "raised"
        | _ -> failwith "a call was lost"
      in
      first @ calls |> List.map describe |> List.sort compare
      |> String.concat " "
    end
  in
  (List.map (fun a () -> Actor.run a) actors, outcome)

let () =
  check "one calls" ~callers:1 [ "ran" ];
  check "two call" ~callers:2 [ "ran ran" ];
  check "two call, one thread" ~most:1 ~callers:2 [ "ran ran" ];
  check "one calls, no thread starts" ~ends:true ~most:1 ~fail:1 ~callers:1
    [ "raised" ];
  check "two call, no thread starts" ~fail:2 ~callers:2
    [ "failed raised"; "raised raised" ];
  check "two call, the first thread doesn't start" ~fail:1 ~callers:2
    [ "raised ran"; "ran ran" ];
  check "two call, the only thread doesn't start" ~most:1 ~fail:1 ~callers:2
    [ "failed raised"; "raised ran" ];
  check "a thread runs, another doesn't start" ~fail:1 ~busy:true ~callers:1
    [ "ran ran" ];
  check "a thread runs, and its domain ends" ~most:1 ~busy:true ~over:true
    ~callers:1 [ "ran ran" ];
  Model.finish ()
