open Actor

let got = string_of_int
let choose name ts = make name (fun () -> Event.select ts)
let take box = Event.wrap (Mvar.take_evt box) got
let stream_take t = Event.wrap (Stream.take_evt t) got
let send c v = Event.wrap (Event.send c v) (fun () -> "sent")
let receive c = Event.wrap (Event.receive c) got
let put box v = Do (fun () -> if not (Mvar.try_put box v) then failwith "full")
let add t v = Do (fun () -> if not (Stream.try_add t v) then failwith "full")

(* The content of a structure, and the number of live waiters in its queues. *)
let box t =
  match Atomic.get t with
  | Mvar.Held _ -> failwith "held at rest"
  | Empty line -> "?" ^ got (live line.takers)
  | Full (v, putters, _) -> got v ^ "!" ^ got (live putters)

let stream t =
  let items = Stream.length t in
  got items ^ "?" ^ got (Stream.waiters t)

let channel c =
  match Atomic.get c with
  | Rendezvous.Closed -> "closed"
  | Open (senders, receivers) -> got (live senders) ^ "/" ^ got (live receivers)

let lock m =
  let s = Atomic.get m in
  let free = Permits.free_of s and first = Permits.first_of s in
  if (Permits.rare_of s).promised > 0 then "nudged"
  else if free > 0 then "unlocked"
  else if Waiters.is_empty first then "locked"
  else "locked?" ^ got (live first)

(* [make ()] returns the tasks that wait first, the processes, and functions that show the
   structures. *)
(* A process may draw [most] times. With four draws, two choices of two may start again once.
   With three, they then try only one alternative. *)
let check ?(seed = 0) ?(most = 4) name make expect =
  Model.check name ~expect @@ fun () ->
  Shuffle.seed := seed;
  Shuffle.most := most;
  let first, processes, shows = make () in
  let processes, actors = start first processes in
  ( processes,
    fun () ->
      let structures = List.map (fun show -> show ()) shows in
      String.concat " " (describe actors :: "|" :: structures) )

let two make_structure show scenario () =
  let a = make_structure () in
  let b = make_structure () in
  let first, processes = scenario a b in
  (first, processes, [ (fun () -> show a); (fun () -> show b) ])

let boxes scenario = two Mvar.create_empty box scenario
let streams scenario = two (fun () -> Stream.create 1) stream scenario
let channels scenario = two Event.new_channel channel scenario

let () =
  (* --- One of two --- *)
  check "a choice of two boxes waits and is cancelled, both are filled"
    ( boxes @@ fun a b ->
      let c = choose "c" [ take a; take b ] in
      ([ c ], [ put a 1; put b 2; Cancel c ]) )
    [ "c=1 | ?0 2!0"; "c=2 | 1!0 ?0"; "c=cancelled | 1!0 2!0" ];
  check "a choice of two boxes comes, both are filled"
    ( boxes @@ fun a b ->
      let c = choose "c" [ take a; take b ] in
      ([], [ Run c; put a 1; put b 2 ]) )
    [ "c=1 | ?0 2!0"; "c=2 | 1!0 ?0" ];
  check "a choice of two boxes comes and is cancelled, one is filled"
    ( boxes @@ fun a b ->
      let c = choose "c" [ take a; take b ] in
      ([], [ Run c; put a 1; Cancel c ]) )
    [ "c=1 | ?0 ?0"; "c=cancelled | 1!0 ?0" ];
  check "a choice and, behind it, a take wait, both are filled"
    ( boxes @@ fun a b ->
      let c = choose "c" [ take a; take b ] and t = choose "t" [ take a ] in
      ([ c; t ], [ put a 1; put b 2 ]) )
    [ "c=1 t=waits | ?1 2!0"; "c=2 t=1 | ?0 ?0" ];
  check "a choice of two streams waits and is cancelled, both are filled"
    ( streams @@ fun a b ->
      let c = choose "c" [ stream_take a; stream_take b ] in
      ([ c ], [ add a 1; add b 2; Cancel c ]) )
    [ "c=1 | 0?0 1?0"; "c=2 | 1?0 0?0"; "c=cancelled | 1?0 1?0" ];
  check "a choice of two streams comes, both are filled"
    ( streams @@ fun a b ->
      let c = choose "c" [ stream_take a; stream_take b ] in
      ([], [ Run c; add a 1; add b 2 ]) )
    [ "c=1 | 0?0 1?0"; "c=2 | 1?0 0?0" ];
  check "a choice to add to one of two streams comes, both are emptied"
    ( streams @@ fun a b ->
      Stream.add a 1;
      Stream.add b 1;
      let add t v = Event.wrap (Stream.add_evt t v) (fun () -> got v) in
      let c = choose "c" [ add a 2; add b 3 ] in
      let empty t = Do (fun () -> ignore (Stream.try_take t)) in
      ([], [ Run c; empty a; empty b ]) )
    [ "c=2 | 1?0 0?0"; "c=3 | 0?0 1?0" ];
  (* A choice that closes because it found another alternative ready passes its turn in the
     mutex's queue on. Otherwise the lock that it refused would be lost. *)
  check "a choice of a mutex and a box comes and is cancelled"
    (fun () ->
      let m = Mutex.create () and b = Mvar.create_empty () in
      Mutex.lock m;
      let locked = Event.wrap (Mutex.lock_evt m) (fun () -> "has") in
      let c = choose "c" [ locked; take b ] in
      ( [],
        [ Run c; Do (fun () -> Mutex.unlock m); put b 1 ],
        [ (fun () -> lock m); (fun () -> box b) ] ))
    [ "c=1 | unlocked ?0"; "c=has | locked 1!0" ];
  check "the same, it waits and is cancelled; its abort runs"
    (fun () ->
      let m = Mutex.create () and b = Mvar.create_empty () in
      Mutex.lock m;
      let aborted = ref "" in
      let abort () = aborted := "aborted" in
      let locked = Event.wrap (Mutex.lock_evt m) (fun () -> "has") in
      let c = choose "c" [ Event.wrap_abort locked abort; take b ] in
      ( [ c ],
        [ Do (fun () -> Mutex.unlock m); put b 1; Cancel c ],
        [ (fun () -> lock m); (fun () -> box b); (fun () -> !aborted) ] ))
    [
      "c=1 | unlocked ?0 aborted";
      "c=cancelled | unlocked 1!0 aborted";
      "c=has | locked 1!0 ";
    ];
  check "a choice of a channel and a box waits and is cancelled, close"
    (fun () ->
      let c = Event.new_channel () and b = Mvar.create_empty () in
      let a = choose "a" [ receive c; take b ] in
      ( [ a ],
        [ Do (fun () -> Rendezvous.close c); put b 1; Cancel a ],
        [ (fun () -> channel c); (fun () -> box b) ] ))
    [ "a=1 | closed ?0"; "a=cancelled | closed 1!0"; "a=closed | closed 1!0" ];
  check "a choice of a condition and a box comes, signal"
    (fun () ->
      let condition = Condition.create () and m = Mutex.create () in
      let b = Mvar.create_empty () in
      let wait =
        Event.wrap (Condition.wait_evt condition m) (fun () -> "signal")
      in
      let c =
        make "c" @@ fun () ->
        Mutex.lock m;
        let result = Event.select [ wait; take b ] in
        Mutex.unlock m;
        result
      in
      ( [],
        [ Run c; Do (fun () -> Condition.signal condition); put b 1 ],
        [ (fun () -> lock m); (fun () -> box b) ] ))
    [ "c=1 | unlocked ?0"; "c=signal | unlocked 1!0" ];
  (* If the choice has arrived at the barrier and then takes the other alternative, the last
     arrival must not pass alone. *)
  check "a choice of a barrier and a box comes, another arrives"
    (fun () ->
      let barrier = Barrier.create 2 and b = Mvar.create_empty () in
      let through = Event.wrap (Barrier.await_evt barrier) (fun () -> "ok") in
      let c = choose "c" [ through; take b ] in
      let a = choose "a" [ through ] in
      ( [],
        [ Run c; Run a; put b 1 ],
        [ (fun () -> got (Barrier.waiters barrier)); (fun () -> box b) ] ))
    [ "c=1 a=waits | 1 ?0"; "c=ok a=ok | 0 1!0" ];
  (* The box is filled, so the choice closes, and then emptied, so the choice starts again.
     What it refused meanwhile must not be lost. *)
  let fill_and_empty b =
    Do
      (fun () ->
        if not (Mvar.try_put b 1) then failwith "full";
        ignore (Mvar.try_take b))
  in
  check "a choice of a barrier and a box comes, the box is for a moment full"
    (fun () ->
      let barrier = Barrier.create 2 and b = Mvar.create_empty () in
      let through = Event.wrap (Barrier.await_evt barrier) (fun () -> "ok") in
      let c = choose "c" [ take b; through ] in
      let a = choose "a" [ through ] in
      ( [],
        [ Run c; Run a; fill_and_empty b ],
        [ (fun () -> got (Barrier.waiters barrier)); (fun () -> box b) ] ))
    [ "c=1 a=waits | 1 ?0"; "c=ok a=ok | 0 ?0" ];
  check "a choice of a condition and a box waits for a state"
    (fun () ->
      let condition = Condition.create () and m = Mutex.create () in
      let b = Mvar.create_empty () and ready = ref false in
      let wait = Event.wrap (Condition.wait_evt condition m) (fun () -> "") in
      let c =
        make "c" @@ fun () ->
        Mutex.lock m;
        let rec loop () =
          if !ready then "ready"
          else
            match Event.select [ take b; wait ] with
            | "" -> loop ()
            | taken -> taken
        in
        let result = loop () in
        Mutex.unlock m;
        result
      in
      let signal =
        make "s" @@ fun () ->
        Mutex.lock m;
        ready := true;
        Mutex.unlock m;
        Condition.signal condition;
        "ok"
      in
      ( [],
        [ Run c; Run signal; fill_and_empty b ],
        [ (fun () -> lock m); (fun () -> box b) ] ))
    [ "c=1 s=ok | unlocked ?0"; "c=ready s=ok | unlocked ?0" ];
  (* --- Choices that meet choices --- *)
  check "a choice meets others that do not choose"
    ( channels @@ fun c d ->
      let a = choose "a" [ send c 1; receive d ] in
      ( [ a ],
        [
          Run (choose "r" [ receive c ]);
          Run (choose "s" [ send d 2 ]);
          Cancel a;
        ] ) )
    [
      "a=2 r=waits s=sent | 0/1 0/0";
      "a=cancelled r=waits s=waits | 0/1 1/0";
      "a=sent r=1 s=waits | 0/0 1/0";
    ];
  let comes seed expect =
    check ~seed "a choice comes where others wait that do not choose"
      ( channels @@ fun c d ->
        let a = choose "a" [ send c 1; receive d ] in
        let r = choose "r" [ receive c ] and s = choose "s" [ send d 2 ] in
        ([ r; s ], [ Run a; Cancel r ]) )
      expect
  in
  (* The seed decides which alternative the choice of two tries first. A choice of one draws
     nothing. *)
  comes 0 [ "r=cancelled s=sent a=2 | 0/0 0/0" ];
  comes 1 [ "r=1 s=waits a=sent | 0/0 1/0"; "r=cancelled s=sent a=2 | 0/0 0/0" ];
  let swap seed most =
    check ~seed ~most "two swap"
      ( channels @@ fun c d ->
        let a = choose "a" [ send c 1; receive d ] in
        let b = choose "b" [ receive c; send d 2 ] in
        ([], [ Run a; Run b ]) )
      [ "a=2 b=sent | 0/0 0/0"; "a=sent b=1 | 0/0 0/0" ]
  in
  swap 0 3;
  swap 1 4;
  let waits_to_swap seed met =
    check ~seed "one waits to swap and is cancelled, another comes"
      ( channels @@ fun c d ->
        let a = choose "a" [ send c 1; receive d ] in
        let b = choose "b" [ receive c; send d 2 ] in
        ([ a ], [ Run b; Cancel a ]) )
      [ "a=cancelled b=waits | 0/1 1/0"; met ]
  in
  waits_to_swap 0 "a=sent b=1 | 0/0 0/0";
  waits_to_swap 1 "a=2 b=sent | 0/0 0/0";
  check "one waits to swap, two others come"
    ( channels @@ fun c d ->
      let a = choose "a" [ send c 1; receive d ] in
      let b = choose "b" [ receive c; send d 2 ] in
      let b' = choose "b'" [ send d 3; receive c ] in
      ([ a ], [ Run b; Run b' ]) )
    [ "a=3 b=waits b'=sent | 0/1 1/0"; "a=sent b=1 b'=waits | 0/1 1/0" ];
  check "three in a ring, two come"
    (fun () ->
      let c = Event.new_channel () and d = Event.new_channel () in
      let e = Event.new_channel () in
      let a1 = choose "a" [ send c 1; receive e ] in
      let b1 = choose "b" [ send d 2; receive c ] in
      let f1 = choose "f" [ send e 3; receive d ] in
      ( [ a1 ],
        [ Run b1; Run f1 ],
        [ (fun () -> channel c); (fun () -> channel d); (fun () -> channel e) ]
      ))
    [ "a=3 b=waits f=sent | 0/1 1/0 0/0"; "a=sent b=1 f=waits | 0/0 0/1 1/0" ];
  check "both directions of one channel, two choices"
    (fun () ->
      let c = Event.new_channel () in
      let a = choose "a" [ send c 1; receive c ] in
      let b = choose "b" [ send c 2; receive c ] in
      ([], [ Run a; Run b ], [ (fun () -> channel c) ]))
    [ "a=2 b=sent | 0/0"; "a=sent b=1 | 0/0" ];
  check "both directions of one channel, a choice alone is cancelled"
    (fun () ->
      let c = Event.new_channel () in
      let a = choose "a" [ send c 1; receive c ] in
      ([], [ Run a; Cancel a ], [ (fun () -> channel c) ]))
    [ "a=cancelled | 0/0"; "a=waits | 1/1" ];
  check "both directions of one channel, and a task that receives"
    (fun () ->
      let c = Event.new_channel () in
      let a = choose "a" [ send c 1; receive c ] in
      ( [ a ],
        [ Run (choose "r" [ receive c ]); Cancel a ],
        [ (fun () -> channel c) ] ))
    [ "a=cancelled r=waits | 0/1"; "a=sent r=1 | 0/0" ];
  Model.finish ()
