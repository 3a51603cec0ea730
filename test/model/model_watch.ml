(* Watches. The scenarios below say which versions one task sees, one after the other. *)

open Actor

let first = 0

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

let live_in t = live (Atomic.get t).Watch.waiters

let at_rest t actors () =
  all_queued actors [ live_in t ];
  describe actors ^ " " ^ string_of_int (Watch.get t)

let check name make expect =
  Model.check name ~expect @@ fun () ->
  let t = Watch.create 0 in
  let first, processes = make t in
  let processes, actors = start first processes in
  (processes, at_rest t actors)

module Described_watch = Described.Make (Values.Of_watch)

let () =
  Described_watch.some 30 ~at_rest:(fun { watch; _ } ->
      ignore (live_in watch : int));
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
  Model.finish ()
