(* Scenes of structures that hold one value. *)

open Concord
open Scene
open Kit

(* --- Mvar ------------------------------------------------------------------------------ *)

let box ?content ?waiting ?parts perform =
  let t =
    match content with Some v -> Mvar.create v | None -> Mvar.create_empty ()
  in
  let take () = Mvar.try_take t in
  let left t =
    let left = drain take in
    let put = flag (Mvar.try_put t 50) in
    left @ put @ none_or (take ())
  in
  around t ?waiting ?parts ~beside:Mvar.read ~waiters:Mvar.waiters ~left perform

let takes_box t = come (fun () -> Mvar.take t)
let reads_box t = come (fun () -> Mvar.read t)

let puts v t =
  come (fun () ->
      Mvar.put t v;
      0)

let modifies t = come (fun () -> Mvar.modify t (fun v -> (v + 10, v)))
let refuses_to_take = refuses_for Mvar.take_evt

let refuses_to_put v =
  refuses_for (fun t -> Event.wrap (Mvar.put_evt t v) (fun () -> 0))

let increment v = (v + 1, [ v ])

let boxes =
  let puts_now =
    [
      ("Mvar.put", silent (fun t -> Mvar.put t 5));
      ("Mvar.try_put", fun t -> flag (Mvar.try_put t 5));
    ]
    @ as_event "Mvar.put" (unit (fun t -> Mvar.put_evt t 5))
  and tries =
    [
      ("Mvar.try_take", fun t -> none_or (Mvar.try_take t));
      ("Mvar.try_read", fun t -> none_or (Mvar.try_read t));
    ]
  in
  let uses =
    [
      ("Mvar.take", fun t -> [ Mvar.take t ]);
      ("Mvar.read", fun t -> [ Mvar.read t ]);
      ("Mvar.swap", fun t -> [ Mvar.swap t 5 ]);
      ("Mvar.modify", fun t -> Mvar.modify t increment);
      ( "Mvar.modify, raising",
        fun t ->
          match Mvar.modify t (fun _ -> raise Boom) with
          | v -> v
          | exception Boom -> [] );
    ]
    @ tries
    @ as_event "Mvar.take" (number Mvar.take_evt)
    @ as_event "Mvar.read" (number Mvar.read_evt)
    @ as_event "Mvar.swap" (number (fun t -> Mvar.swap_evt t 5))
    @ as_event "Mvar.modify" (fun t -> Mvar.modify_evt t increment)
  in
  let takers = [ refuses_to_take; reads_box; takes_box; reads_box ] in
  let arrivals = [ reads_box; refuses_to_take; takes_box; puts 6 ] in
  let come_and_raise t =
    try
      Mvar.modify t (fun _ ->
          ignore (arrive arrivals t : int list);
          raise Boom)
    with Boom -> ()
  in
  in_state "empty" box (puts_now @ tries)
  @ in_state "full" (box ~content:1)
      (("Mvar.try_put", fun t -> flag (Mvar.try_put t 5)) :: uses)
  @ in_state "others come"
      (box ~content:1 ~parts:[ come_and_raise ])
      [
        ( "Mvar.modify",
          fun t -> Mvar.modify t (fun v -> (v + 1, arrive arrivals t)) );
      ]
  @ in_state "others wait to put"
      (box ~content:1 ~waiting:[ refuses_to_put 2; puts 3; puts 4 ])
      uses
  @ in_state "others wait to take" (box ~waiting:takers) puts_now
  @ in_state "others wait to modify and to take"
      (box ~waiting:(modifies :: takers))
      puts_now

(* --- Bvar ------------------------------------------------------------------------------ *)

let bvar ?waiting perform =
  let left t =
    let finish = come (fun () -> Bvar.wait t) in
    let signalled = flag (Bvar.signal t 50) in
    signalled @ [ finish () ]
  in
  around (Bvar.create ()) ?waiting ~waiters:Bvar.waiters ~left perform

let bvars =
  let waits t = come (fun () -> Bvar.wait t) in
  let refuses = refuses_for Bvar.wait_evt in
  let operations =
    [
      ("Bvar.signal", fun t -> flag (Bvar.signal t 5));
      ("Bvar.broadcast", silent (fun t -> Bvar.broadcast t 5));
      ("Bvar.broadcast_exn", silent (fun t -> Bvar.broadcast_exn t Not_found));
    ]
  in
  in_state "no task waits" bvar operations
  @ in_state "others wait"
      (bvar ~waiting:[ refuses; waits; refuses; waits; waits ])
      operations

(* --- Watch ----------------------------------------------------------------------------- *)

let watch ?waiting ?(closed = false) perform =
  let t = Watch.create 7 in
  let left t =
    let value, since = Watch.read t in
    if Watch.is_closed t then [ value; -1 ]
    else begin
      let finish = come (fun () -> fst (Watch.changed t ~since)) in
      Watch.set t 50;
      [ value; finish () ]
    end
  in
  if closed then Watch.close t;
  around t ?waiting ~waiters:Watch.waiters ~left perform

let watches =
  let since t = snd (Watch.read t) in
  let waits t =
    let since = since t in
    come (fun () -> fst (Watch.changed t ~since))
  and refuses =
    refuses_for (fun t -> Event.wrap (Watch.changed_evt t ~since:(since t)) fst)
  in
  let operations =
    [
      ( "Watch.set",
        fun t ->
          [
            or_closed (fun () ->
                Watch.set t 5;
                0);
          ] );
      ("Watch.close", silent Watch.close);
      ("Watch.get", fun t -> [ Watch.get t ]);
      ("Watch.read", fun t -> [ fst (Watch.read t) ]);
      ( "Watch.try_changed",
        fun t ->
          let since = since t in
          [
            or_closed (fun () ->
                match Watch.try_changed t ~since with
                | Some (v, _) -> v
                | None -> none);
          ] );
    ]
  in
  in_state "no task waits" watch operations
  @ in_state "closed" (watch ~closed:true) operations
  @ in_state "others wait"
      (watch ~waiting:[ refuses; waits; refuses; waits; waits ])
      operations

(* --- Promise ---------------------------------------------------------------------------------------- *)

let outcome t =
  match Promise.peek t with
  | None -> none
  | Some (Ok v) -> v
  | Some (Error _) -> closed

let awaits t = come (fun () -> Promise.await t)
let refuses_to_await = refuses_for Promise.await_evt

(* Dependants of a promise are functions that it calls and promises that are made from it. *)
let called t =
  let calls = ref 0 in
  Promise.on_resolve t (fun _ -> incr calls);
  fun () -> !calls

(* If a handler raises in the function, the new promise fails with its exception. *)
let mapped t =
  let mapped = Promise.map (fun v -> v + 100) t in
  fun () ->
    match Promise.peek mapped with
    | Some (Ok v) when v >= 100 -> 1
    | Some (Error Moments.Interrupt) -> 1
    | _ -> outcome mapped

let combined combine t =
  let combined = combine t in
  fun () -> match Promise.peek combined with None -> none | Some _ -> 1

let others = Promise.of_value 7

let dependants =
  [
    called;
    mapped;
    combined Promise.to_result;
    combined (fun t -> Promise.both others t);
    combined (fun t -> Promise.all [ others; t ]);
    combined (fun t -> Promise.first_filled [ Promise.create (); t ]);
  ]

let promise ?waiting ?resolved ?wake ?beside perform =
  let t = Promise.create () in
  Option.iter (Promise.fill t) resolved;
  let before t =
    let before = outcome t in
    ignore (Promise.try_fill t 50 : bool);
    [ before ]
  in
  around t ?waiting ?wake ?beside ~before perform ~waiters:Promise.waiters
    ~left:(fun t -> [ awaits t () ])

(* These scenes also check the made promise. It is resolved with the original, or it was
   never made. *)
let makers =
  let later make name =
    let perform made t =
      made := Some (make t);
      []
    in
    let case ?resolved state =
      {
        name = name ^ ", " ^ state;
        make =
          (fun () ->
            let made = ref None in
            let s = promise ?resolved (perform made) in
            let look () =
              let state = s.look () in
              state
              @
              match !made with
              | None -> [ none; none ]
              | Some f -> [ 1; f () ]
            in
            let forgotten () =
              ignore (s.perform () : int list);
              made := None
            in
            { s with look; parts = [ forgotten ] });
      }
    in
    [ case "unresolved"; case ~resolved:3 "resolved" ]
  in
  List.concat
    [
      later called "Promise.on_resolve";
      later mapped "Promise.map";
      later (combined Promise.to_result) "Promise.to_result";
      later (combined (fun t -> Promise.both others t)) "Promise.both";
      later (combined (fun t -> Promise.all [ others; t ])) "Promise.all";
      later
        (combined (fun t -> Promise.first_filled [ t ]))
        "Promise.first_filled";
      later
        (fun t ->
          let calls = ref 0 in
          let cancel = Promise.on_resolve_cancellable t (fun _ -> incr calls) in
          fun () -> !calls + if cancel () then 100 else 0)
        "Promise.on_resolve_cancellable";
    ]

let promises =
  let resolving =
    [
      ("Promise.fill", silent (fun t -> Promise.fill t 5));
      ("Promise.try_fill", fun t -> flag (Promise.try_fill t 5));
      ("Promise.fail", silent (fun t -> Promise.fail t Not_found));
      ("Promise.try_fail", fun t -> flag (Promise.try_fail t Not_found));
      ("Promise.resolve", silent (fun t -> Promise.resolve t (Ok 5)));
      ("Promise.try_resolve", fun t -> flag (Promise.try_resolve t (Ok 5)));
      ("Promise.fail_waiters", fun t -> [ Promise.fail_waiters t Not_found ]);
    ]
  and awaiting =
    let result = function Ok v -> [ v ] | Error _ -> [ closed ] in
    [
      ("Promise.await", fun t -> [ Promise.await t ]);
      ("Promise.await_result", fun t -> result (Promise.await_result t));
    ]
    @ as_event "Promise.await" (number Promise.await_evt)
    @ as_event "Promise.await_result" (fun t ->
        Event.wrap (Promise.await_result_evt t) result)
  in
  in_state "no task waits" promise resolving
  @ in_state "others wait"
      (promise
         ~waiting:([ awaits; refuses_to_await ] @ dependants @ [ awaits ]))
      resolving
  @ in_state "filled while it waits"
      (promise ~wake:(fun t -> Promise.fill t 5) ~beside:Promise.await)
      (unless_polled awaiting)
  @ in_state "filled" (promise ~resolved:5 ~beside:Promise.await) awaiting
  @ makers

(* --- Lazy ---------------------------------------------------------------------------------------------- *)

(* If a handler raises in the computation, or just before it, the value remembers the
   exception. If another handler raises before that, the computation runs again. *)
let lazy_value ?(forced = false) ?(waiting = []) perform =
  let computed = ref 0 and fails = ref false and this = ref None in
  let t =
    Lazy.from_fun (fun () ->
        incr computed;
        Moments.unwatched (fun () ->
            ignore (arrive waiting (Option.get !this) : int list));
        if !fails then raise Moments.Interrupt;
        5)
  in
  this := Some t;
  let force () =
    match Lazy.force t with v -> v | exception Moments.Interrupt -> closed
  in
  if forced then ignore (force () : int);
  let waiters () = Lazy.waiters t in
  let look () =
    (* One of them may have taken over the computation. *)
    let arrived = List.map (fun finish -> finish ()) !arrived in
    let v = force () in
    let waiters = waiters () in
    let again = v <> closed && !computed = 2 && Moments.was_raised_twice () in
    let computed = if v = closed || again then 1 else !computed in
    let failed = v = closed && List.for_all (Int.equal closed) arrived in
    waiters :: v :: computed :: (if failed then [] else arrived)
  in
  let fail () =
    fails := true;
    match perform t with _ -> () | exception Moments.Interrupt -> ()
  in
  scene (fun () -> perform t) ~parts:[ fail ] ~waiters ~look

let lazies =
  let forces_lazy t =
    come (fun () ->
        match Lazy.force t with v -> v | exception Moments.Interrupt -> closed)
  in
  let forcing =
    [
      ("Lazy.force", fun t -> [ Lazy.force t ]);
      ("Lazy.force_val", fun t -> [ Lazy.force_val t ]);
      ("Lazy.map", fun t -> [ Lazy.force (Lazy.map succ t) ]);
      ("Lazy.map_val", fun t -> [ Lazy.force (Lazy.map_val succ t) ]);
    ]
  in
  in_state "to compute" lazy_value forcing
  @ in_state "to compute, others come"
      (lazy_value ~waiting:[ forces_lazy; forces_lazy ])
      forcing
  @ in_state "forced" (lazy_value ~forced:true)
      (forcing @ as_event "Lazy.await" (number Lazy.await_evt))

let cases = List.concat [ boxes; watches; bvars; promises; lazies ]
