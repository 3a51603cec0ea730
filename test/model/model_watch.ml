open Actor

let first = 0

let changed name t =
  make name (fun () -> string_of_int (fst (Watch.changed t ~since:first)))

let sync_changed name t =
  make name @@ fun () ->
  string_of_int (fst (Event.sync (Watch.changed_evt t ~since:first)))

(* All values that it sees, up to [last]. *)
let follow name ~last t =
  make name @@ fun () ->
  let rec go since =
    let v, since = Watch.changed t ~since in
    if v = last then string_of_int v else string_of_int v ^ "," ^ go since
  in
  go first

(* All values that it sees, up to the end. *)
let follow_all name t =
  make name @@ fun () ->
  let rec go since =
    match Watch.changed t ~since with
    | v, since -> string_of_int v ^ "," ^ go since
    | exception Watch.Closed -> "end"
  in
  go first

let sets name t v =
  make name @@ fun () ->
  Watch.set t v;
  "ok"

let at_rest t actors () =
  let s = Atomic.get t in
  all_queued actors [ live s.Watch.waiters ];
  describe actors ^ " " ^ string_of_int s.value

let check name make expect =
  Model.check name ~expect @@ fun () ->
  let t = Watch.create 0 in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

module Described_watch = Described.Make (Values.Of_watch)

let () =
  Described_watch.some 20;
  let cancellations what serve ~served ~rest =
    Cancellations.check what ~service:All
      [ ("", fun _ -> changed); (", an event", fun _ -> sync_changed) ]
      ~create:(fun () -> Watch.create 0)
      ~serve ~served
      ~rest:(fun _ -> rest)
      ~at_rest
  in
  cancellations "set" (fun t -> Watch.set t 1) ~served:"1" ~rest:" 1";
  cancellations "close" Watch.close ~served:"closed" ~rest:" 0";
  let twice t =
    Do
      (fun () ->
        Watch.set t 1;
        Watch.set t 2)
  in
  check "one follows two changes"
    (fun t -> ([], [ Run (follow "a" ~last:2 t); twice t ]))
    [ "a=1,2 2"; "a=2 2" ];
  check "one follows a change and the end"
    (fun t ->
      let both () =
        Watch.set t 1;
        Watch.close t
      in
      ([], [ Run (follow_all "a" t); Do both ]))
    [ "a=1,end 1" ];
  check "two set, one closes"
    (fun t ->
      ( [ follow_all "a" t ],
        [ Run (sets "b" t 1); Do (fun () -> Watch.close t) ] ))
    [ "a=1,end b=ok 1"; "a=end b=closed 0" ];
  Model.finish ()
