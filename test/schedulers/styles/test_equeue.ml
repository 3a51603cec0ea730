(* Event queues alone, on which some styles are built. *)

open Concord_styles
open Concord_test_support
open Check
open Equeue

exception Boom

let[@inline never] explode () = if true then raise Boom

let verdicts () =
  traced [ "reject 1"; "accept 1"; "reject 2"; "accept 2" ] @@ fun say ->
  let t = create () in
  let e = event t in
  let on e name verdict =
    on e (fun i ->
        say (Printf.sprintf "%s %d" name i);
        verdict)
  in
  on e "reject" Reject;
  on e "accept" Accept;
  on e "not asked" Accept;
  add e 1;
  add e 2;
  run t

let terminated () =
  traced [ "a1"; "b2"; "b3" ] @@ fun say ->
  let t = create () in
  let e = event t in
  let handler name verdict i =
    say (Printf.sprintf "%s%d" name i);
    verdict
  in
  on e (handler "a" Terminate);
  on e (handler "b" Accept);
  List.iter (add e) [ 1; 2; 3 ];
  run t

let one_shot () =
  traced [ "a1"; "b2"; "c3" ] @@ fun say ->
  let t = create () in
  let e = event t in
  let handler name i = say (Printf.sprintf "%s%d" name i) in
  once e (handler "a");
  once e (handler "b");
  List.iter (add e) [ 1; 2; 3; 4 ];
  once e (handler "c");
  run t;
  (* The fourth event was dropped. *)
  run t

let in_order () =
  traced [ "1"; "a"; "2" ] @@ fun say ->
  let t = create () in
  let numbers = event t and letters = event t in
  on numbers (fun i ->
      say (string_of_int i);
      Accept);
  on letters (fun c ->
      say (String.make 1 c);
      Accept);
  add numbers 1;
  add letters 'a';
  add numbers 2;
  run t

let any () =
  traced [ "own"; "any reject"; "any number 2"; "any again" ] @@ fun say ->
  let t = create () in
  let numbers : int event = event t and letters = event t in
  on_any t
    {
      handle =
        (fun (type a) (e : a event) (v : a) : verdict ->
          match same e numbers with
          | Some Equal ->
              say (Printf.sprintf "any number %d" v);
              Terminate
          | None ->
              say "any reject";
              Reject);
    };
  on letters (fun c ->
      if c = 'a' then begin
        say "own";
        Accept
      end
      else Reject);
  add letters 'a';
  add letters 'b';
  add numbers 2;
  run t;
  on_any t
    {
      handle =
        (fun _ _ ->
          say "any again";
          Accept);
    };
  add numbers 3;
  run t

let source () =
  traced [ "3"; "2"; "1" ] @@ fun say ->
  let left = ref 3 and e = ref None in
  let source _ =
    if !left > 0 then begin
      add (Option.get !e) !left;
      decr left
    end
  in
  let t = create ~source () in
  e := Some (event t);
  on (Option.get !e) (fun i ->
      say (string_of_int i);
      Accept);
  run t

(* A handler that is added while an event is presented isn't called for it. *)
let added_meanwhile () =
  traced [ "a1"; "a2"; "b2" ] @@ fun say ->
  let t = create () in
  let e = event t in
  let first = ref true in
  on e (fun i ->
      say (Printf.sprintf "a%d" i);
      if !first then begin
        first := false;
        on e (fun i ->
            say (Printf.sprintf "b%d" i);
            Accept)
      end;
      Reject);
  add e 1;
  add e 2;
  run t

let re_entrant () =
  traced [ "1 begins"; "2 begins"; "2 ends"; "1 ends"; "3 begins"; "3 ends" ]
  @@ fun say ->
  let t = create () in
  let e = event t in
  on e (fun i ->
      say (Printf.sprintf "%d begins" i);
      if i = 1 then begin
        add e 2;
        run t;
        add e 3
      end;
      say (Printf.sprintf "%d ends" i);
      Accept);
  add e 1;
  run t

(* A handler that is removed in a nested run isn't called again. *)
let removed_meanwhile () =
  traced [ "a1"; "a2"; "b2" ] @@ fun say ->
  let t = create () in
  let e = event t in
  on e (fun i ->
      say (Printf.sprintf "a%d" i);
      if i = 1 then begin
        add e 2;
        run t
      end;
      Reject);
  once e (fun i -> say (Printf.sprintf "b%d" i));
  add e 1;
  run t

let exceptions () =
  traced [ "1"; "3"; "once 1" ] @@ fun say ->
  let t = create () in
  let e = event t in
  on e (fun i ->
      if i = 2 then explode ();
      say (string_of_int i);
      Accept);
  List.iter (add e) [ 1; 2; 3 ];
  raises "run" Boom (fun () -> run t);
  run t;
  let e = event t in
  once e (fun i ->
      say (Printf.sprintf "once %d" i);
      explode ());
  add e 1;
  add e 2;
  raises "once" Boom (fun () -> run t);
  run t

let cleared () =
  traced [ "2" ] @@ fun say ->
  let t = create () in
  let e = event t in
  on_any t
    {
      handle =
        (fun _ _ ->
          say "any";
          Accept);
    };
  on e (fun i ->
      say (string_of_int i);
      Reject);
  add e 1;
  clear t;
  add e 2;
  run t

(* A removed handler is garbage, although the event isn't. *)
let what_is_removed_is_garbage () =
  let t = create () and kept = Weak.create 2 in
  let e = event t in
  let[@inline never] add_handlers () =
    let a = ref 0 and b = ref 0 in
    Weak.set kept 0 (Some a);
    Weak.set kept 1 (Some b);
    once e (fun () -> incr a);
    on e (fun () ->
        incr b;
        Terminate);
    add e ();
    add e ();
    run t
  in
  add_handlers ();
  Gc.full_major ();
  no "once" (Weak.check kept 0);
  no "terminated" (Weak.check kept 1);
  add e ()

let seconds f =
  let before = Sys.time () in
  f ();
  Sys.time () -. before

(* Handlers of other events cost nothing. *)
let is_found_at_once () =
  let n = 100_000 in
  let t = create () and count = ref 0 in
  let events = Array.init n (fun _ -> event t) in
  Array.iter
    (fun e ->
      on e (fun () ->
          incr count;
          Accept))
    events;
  let time =
    seconds (fun () ->
        for _ = 1 to 3 do
          Array.iter (fun e -> add e ()) events
        done;
        run t)
  in
  int "told" (3 * n) !count;
  yes (Printf.sprintf "%.2f s" time) (instrumented || time < 5.)

(* As many handlers wait for one event as it will happen times. Each is called once. *)
let many_of_one_event () =
  let n = 50_000 in
  let t = create () and sum = ref 0 in
  let e = event t in
  let time =
    seconds (fun () ->
        for i = 1 to n do
          once e (fun j -> if i = j then incr sum)
        done;
        for i = 1 to n do
          add e i
        done;
        run t)
  in
  int "in order" n !sum;
  yes (Printf.sprintf "%.2f s" time) (instrumented || time < 5.)

let what_is_not_used_is_garbage () =
  let t = create () and kept = Weak.create 1 in
  let[@inline never] make () =
    let e = event t and big = ref 0 in
    Weak.set kept 0 (Some big);
    on e (fun () ->
        incr big;
        Accept);
    add e ();
    run t
  in
  make ();
  Gc.full_major ();
  no "kept" (Weak.check kept 0);
  ignore (Sys.opaque_identity t : Equeue.t)

let tests =
  [
    test "reject, accept" verdicts;
    test "terminate" terminated;
    test "once" one_shot;
    test "events in order, of different types" in_order;
    test "handlers of any event" any;
    test "a source" source;
    test "handlers that are added meanwhile" added_meanwhile;
    test "handlers that are removed meanwhile" removed_meanwhile;
    test "run in a handler" re_entrant;
    test "exceptions" exceptions;
    test "clear" cleared;
    test "100,000 other events" is_found_at_once;
    test "50,000 handlers of one event" many_of_one_event;
    test "unused events and handlers are garbage" what_is_not_used_is_garbage;
    test "removed handlers are garbage" what_is_removed_is_garbage;
  ]

let () = Check.run "Equeue" [ ("Equeue", tests) ]
