open Concord
open Concord.Tools
open Concord_test_support
open Check
open Held

(* Checks the operation that a report names while [f ()] waits. *)
let operation expected name f ~release =
  while_waiting name f ~release (fun () ->
      Alcotest.(check string) expected expected (target name).operation)

let operations () =
  let mvar = Mvar.create_empty ~name:"mvar" () in
  operation "Mvar.take" "mvar"
    (fun () -> Mvar.take mvar)
    ~release:(fun () -> Mvar.put mvar ());
  let promise = Promise.create ~name:"promise" () in
  operation "Promise.await" "promise"
    (fun () -> Promise.await promise)
    ~release:(fun () -> Promise.fill promise ());
  let channel = Channel.create ~name:"channel" () in
  operation "Channel.receive" "channel"
    (fun () -> Channel.receive channel)
    ~release:(fun () -> Channel.send channel ());
  let mailbox = Mailbox.create ~name:"mailbox" () in
  operation "Mailbox.take" "mailbox"
    (fun () -> Mailbox.take mailbox)
    ~release:(fun () -> Mailbox.add mailbox ());
  let stream = Stream.create 1 in
  Debug.name stream "stream";
  operation "Stream.take" "stream"
    (fun () -> Stream.take stream)
    ~release:(fun () -> Stream.add stream ());
  let broadcast = Broadcast.create ~name:"broadcast" () in
  let subscription = Broadcast.subscribe broadcast in
  operation "Broadcast.receive" "broadcast"
    (fun () -> Broadcast.receive subscription)
    ~release:(fun () -> Broadcast.send broadcast ());
  let bvar = Bvar.create ~name:"bvar" () in
  operation "Bvar.wait" "bvar"
    (fun () -> Bvar.wait bvar)
    ~release:(fun () -> Bvar.broadcast bvar ());
  let latch = Latch.create ~name:"latch" 1 in
  operation "Latch.await" "latch"
    (fun () -> Latch.await latch)
    ~release:(fun () -> Latch.count_down latch);
  let rwlock = Rwlock.create ~name:"rwlock" () in
  Rwlock.read_lock rwlock;
  operation "Rwlock.write_lock" "rwlock"
    (fun () -> Rwlock.write rwlock ignore)
    ~release:(fun () -> Rwlock.read_unlock rwlock);
  let mutex = Mutex.create () in
  Debug.name mutex "mutex";
  Mutex.lock mutex;
  operation "Mutex.lock" "mutex"
    (fun () -> Mutex.protect mutex ignore)
    ~release:(fun () -> Mutex.unlock mutex);
  let begun = Promise.create () and leave = Promise.create () in
  let lazily =
    Lazy.from_fun (fun () ->
        Promise.fill begun ();
        Promise.await leave)
  in
  Debug.name lazily "lazy";
  let forcer = Thread.create Lazy.force lazily in
  Promise.await begun;
  operation "Lazy.force" "lazy"
    (fun () -> Lazy.force lazily)
    ~release:(fun () -> Promise.fill leave ());
  Thread.join forcer

let conditions () =
  let condition = Condition.create () and mutex = Mutex.create () in
  Debug.name condition "condition";
  let release () = Condition.broadcast condition in
  operation "Condition.wait" "condition" ~release (fun () ->
      Mutex.protect mutex (fun () -> Condition.wait condition mutex));
  operation "Condition.wait_no_mutex" "condition" ~release (fun () ->
      Condition.wait_no_mutex condition);
  let over = Atomic.make false in
  let release () =
    Atomic.set over true;
    Condition.broadcast condition
  in
  operation "Condition.loop_no_mutex" "condition" ~release (fun () ->
      Condition.loop_no_mutex condition (fun () ->
          if Atomic.get over then Some () else None))

let timeout () =
  let mvar = Mvar.create_empty ~name:"with a timeout" () in
  while_waiting "with a timeout"
    (fun () -> Event.select [ Mvar.take_evt mvar; Event.timeout 1e6 ])
    ~release:(fun () -> Mvar.put mvar ())
    (fun () ->
      let wait = List.hd (waits_in "with a timeout") in
      strings "both"
        [ "Event.timeout"; "Mvar.take" ]
        (List.sort compare
           (List.map (fun (p : Debug.target) -> p.operation) wait.targets)))

let made_at () =
  let mvar = Mvar.create_empty ~name:"made" () in
  while_waiting "made"
    (fun () -> Mvar.take mvar)
    ~release:(fun () -> Mvar.put mvar ())
    (fun () ->
      yes "the target of its creation"
        (match (target "made").made_at with
        | Some frames ->
            contains (Printexc.raw_backtrace_to_string frames) "test_names.ml"
        | None -> false))

let printed e f =
  match f () with
  | () -> Alcotest.fail "nothing was raised"
  | exception raised ->
      yes "the same constant" (raised == e);
      Printexc.to_string raised

let says what parts text =
  List.iter
    (fun part -> yes (what ^ ": " ^ part ^ " in " ^ text) (contains text part))
    parts

let exceptions () =
  let stream = Stream.create 1 in
  Debug.name stream "jobs";
  Stream.close stream;
  let text = printed Stream.Closed (fun () -> Stream.take stream) in
  says "take"
    [ "Concord.Stream.Closed (stream \"jobs\", created in"; "test_names.ml" ]
    text;
  let channel = Channel.create ~name:"orders" () in
  let told = ref "" in
  let receiver () =
    try Channel.receive channel with e -> told := Printexc.to_string e
  in
  while_waiting "orders" receiver
    ~release:(fun () -> Channel.close channel)
    ignore;
  says "resumed" [ "Concord.Channel.Closed (channel \"orders\"" ] !told;
  says "this thread's" [ "\"jobs\"" ] (Printexc.to_string Stream.Closed);
  (* After a wait, a choice doesn't know which structure was closed, so it must not name a
     wrong one. *)
  let other = Channel.create ~name:"others" () in
  let chooser () =
    let take () = try Stream.take stream with Stream.Closed -> () in
    take ();
    try Event.select [ Channel.receive_evt other; Event.never ]
    with e -> told := Printexc.to_string e
  in
  while_waiting "others" chooser ~release:(fun () -> Channel.close other) ignore;
  no "another one's name" (contains !told "jobs");
  let promise = Promise.create ~name:"answer" () in
  Promise.fill promise ();
  let text =
    printed Promise.Already_filled (fun () -> Promise.fill promise ())
  in
  says "fill" [ "Concord.Promise.Already_filled (promise \"answer\"" ] text;
  let self = ref (Lazy.from_val ()) in
  self := Lazy.from_fun (fun () -> Lazy.force !self);
  Debug.name !self "itself";
  let text = printed Lazy.Undefined (fun () -> Lazy.force !self) in
  says "force" [ "Undefined (lazy value \"itself\"" ] text;
  let rec stdlib = lazy (Lazy.force (Lazy.of_stdlib stdlib)) in
  ignore (stdlib : unit Stdlib.Lazy.t)

(* --- Looking up ---------------------------------------------------------------- *)

module Labels = Concord__diagnosis.Labels
module Identity = Concord__core__Identity

let called structure =
  Option.value (Labels.name (Identity.pointer structure)) ~default:"-"

(* The index of names follows structures that the collector moves. *)
let moved () =
  let old = Promise.create ~name:"old" () in
  let twice = Debug.named "first" (Mutex.create ())
  and none = Mutex.create () in
  let check what =
    strings what [ "old"; "second"; "-" ]
      [ called old; called twice; called none ]
  in
  Debug.name twice "second";
  check "at once";
  Gc.minor ();
  check "after a minor collection";
  let young = Promise.create ~name:"young" () in
  strings "another" [ "young" ] [ called young ];
  Gc.minor ();
  Gc.minor ();
  check "after two more";
  strings "another" [ "young" ] [ called young ];
  Gc.compact ();
  check "after a compaction";
  strings "another" [ "young" ] [ called young ]

(* A compaction moves values only if there are holes between them. *)
let compacted () =
  let made i = Promise.create ~name:(string_of_int i) () in
  let all = Array.init 20_000 made in
  Gc.full_major ();
  strings "before" [ "19900" ] [ called all.(19_900) ];
  let left = List.init 200 (fun i -> (100 * i, all.(100 * i))) in
  Array.fill all 0 20_000 all.(0);
  Gc.compact ();
  List.iter
    (fun (i, promise) -> strings "name" [ string_of_int i ] [ called promise ])
    left

(* A lookup takes O(log n) for n names. The words that it allocates stand for its time. *)
let many () =
  let words_of n =
    let all =
      List.init n (fun i -> Promise.create ~name:(string_of_int i) ())
    in
    let last = List.nth all (n / 2) in
    strings "found" [ string_of_int (n / 2) ] [ called last ];
    Gc.minor ();
    ignore (called last : string);
    let before = Gc.minor_words () in
    for _ = 1 to 10 do
      ignore (called last : string)
    done;
    let words = Gc.minor_words () -. before in
    ignore (Sys.opaque_identity all);
    words
  in
  let few = words_of 10 in
  let many = words_of 5_000 in
  if many > 3. *. few then
    Alcotest.failf "%.0f words for 10 names, %.0f for 5,000" few many

(* A program may name a lock after each request that takes it. Only the last name is kept. *)
let renamed () =
  let words_of n =
    Gc.full_major ();
    let others = List.length (Labels.all ()) in
    let lock = Rwlock.create ~name:"first" () in
    for i = 1 to n do
      Debug.name lock (Printf.sprintf "request %d" i)
    done;
    strings "the last" [ Printf.sprintf "request %d" n ] [ called lock ];
    Gc.minor ();
    ignore (called lock : string);
    let before = Gc.minor_words () in
    for _ = 1 to 10 do
      ignore (called lock : string)
    done;
    let words = Gc.minor_words () -. before in
    int "its first name, and its last" 2 (List.length (Labels.all ()) - others);
    ignore (Sys.opaque_identity lock);
    words
  in
  let few = words_of 10 in
  let many = words_of 5_000 in
  if many > 3. *. few then
    Alcotest.failf "%.0f words for 10 names, %.0f for 5,000" few many

let () =
  run "names"
    [
      ( "names",
        [
          test "operations" operations;
          test "conditions" conditions;
          test "timeout" timeout;
          test "made at" made_at;
          test "exceptions" exceptions;
          test "structures that move" moved;
          test "structures that a compaction moves" compacted;
          test "many" many;
          test "renamed" renamed;
        ] );
    ]
