(* [Event.loop] and [Event.prefer]. *)

open Actor

let got = string_of_int
let take box = Event.wrap (Mvar.take_evt box) got
let send c v = Event.wrap (Event.send c v) (fun () -> "sent")
let receive c = Event.wrap (Event.receive c) got
let put box v = Do (fun () -> if not (Mvar.try_put box v) then failwith "full")

let box t =
  match Atomic.get t with
  | Mvar.Held _ -> failwith "held at rest"
  | Empty line -> "?" ^ got (live line.takers)
  | Full (v, putters, _) -> got v ^ "!" ^ got (live putters)

let channel c =
  match Atomic.get c with
  | Rendezvous.Closed -> "closed"
  | Open (senders, receivers) -> got (live senders) ^ "/" ^ got (live receivers)

(* [performed] keeps what the loop has performed, even if the loop is cancelled afterwards. *)
let loop name ~rounds performed ts =
  make name @@ fun () ->
  let left = ref rounds in
  Event.loop ts (fun v ->
      performed := !performed ^ v;
      decr left;
      if !left = 0 then Some !performed else None)

let check ?(most = 4) name make expect =
  Model.check name ~expect @@ fun () ->
  Shuffle.seed := 0;
  Shuffle.most := most;
  let first, processes, shows = make () in
  let processes, actors = start first processes in
  ( processes,
    fun () ->
      let structures = List.map (fun show -> show ()) shows in
      String.concat " " (describe actors :: "|" :: structures) )

let boxes scenario () =
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let performed = ref "" in
  let first, processes = scenario a b performed in
  ( first,
    processes,
    [ (fun () -> box a); (fun () -> box b); (fun () -> "(" ^ !performed ^ ")") ]
  )

let () =
  check "a loop of two boxes comes, both are filled"
    ( boxes @@ fun a b performed ->
      let l = loop "l" ~rounds:2 performed [ take a; take b ] in
      ([], [ Run l; put a 1; put b 2 ]) )
    [ "l=12 | ?0 ?0 (12)"; "l=21 | ?0 ?0 (21)" ];
  check "a loop of two boxes waits and is cancelled, both are filled"
    ( boxes @@ fun a b performed ->
      let l = loop "l" ~rounds:2 performed [ take a; take b ] in
      ([ l ], [ put a 1; put b 2; Cancel l ]) )
    [
      "l=12 | ?0 ?0 (12)";
      "l=21 | ?0 ?0 (21)";
      "l=cancelled | 1!0 2!0 ()";
      "l=cancelled | 1!0 ?0 (2)";
      "l=cancelled | ?0 2!0 (1)";
    ];
  (* Between its rounds the loop is in no queue, so another task takes what comes. *)
  check "a loop waits, another one comes, both boxes are filled"
    ( boxes @@ fun a b performed ->
      let l = loop "l" ~rounds:2 performed [ take a; take b ] in
      let t = make "t" (fun () -> got (Mvar.take a)) in
      ([ l ], [ Run t; put a 1; put b 2 ]) )
    [
      "l=12 t=waits | ?1 ?0 (12)";
      "l=21 t=waits | ?1 ?0 (21)";
      "l=waits t=1 | ?1 ?1 (2)";
    ];
  check "one prefers the first of two boxes, both are filled"
    ( boxes @@ fun a b _ ->
      let p =
        make "p" (fun () -> Event.sync (Event.prefer [ take a; take b ]))
      in
      ([], [ Run p; put a 1; put b 2; Cancel p ]) )
    [ "p=1 | ?0 2!0 ()"; "p=2 | 1!0 ?0 ()"; "p=cancelled | 1!0 2!0 ()" ];
  check "the same, the second is filled first"
    ( boxes @@ fun a b _ ->
      let p =
        make "p" (fun () -> Event.sync (Event.prefer [ take a; take b ]))
      in
      let both () =
        ignore (Mvar.try_put a 1 : bool);
        ignore (Mvar.try_put b 2 : bool)
      in
      ([], [ Run p; Do both ]) )
    [ "p=1 | ?0 2!0 ()"; "p=2 | 1!0 ?0 ()" ];
  (* Both loops close, and start again. *)
  check ~most:3 "two loops swap"
    (fun () ->
      let c = Event.new_channel () and d = Event.new_channel () in
      let performed = ref "" and performed' = ref "" in
      let a = loop "a" ~rounds:1 performed [ send c 1; receive d ] in
      let b = loop "b" ~rounds:1 performed' [ receive c; send d 2 ] in
      ([], [ Run a; Run b ], [ (fun () -> channel c); (fun () -> channel d) ]))
    [ "a=2 b=sent | 0/0 0/0"; "a=sent b=1 | 0/0 0/0" ];
  Model.finish ()
