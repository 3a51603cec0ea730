(* The values that a library keeps for its current task, such as those of [Lwt.key], in tasks
   that Concord starts on that library. Each way to start tasks meets each way to switch between
   them. *)

open Concord
open Concord_test_support.Check

type storage = {
  bind : 'a. int option -> (unit -> 'a) -> 'a;
      (** Runs a function with this value. *)
  get : unit -> int option;
  inherited : bool;  (** A new task begins with the value of its parent. *)
}

exception Boom

let key : int Local.t = Local.create ()

let local =
  {
    bind =
      (fun v f ->
        match v with
        | Some v -> Local.with_binding key v f
        | None -> Local.without_binding key f);
    get = (fun () -> Local.get key);
    inherited = true;
  }

(* --- Ways to switch ---------------------------------------------------------- *)

let others f = ignore (Tasks.both f Tasks.yield : unit * unit)

(* Each of them suspends the calling task at least once. Tasks that do the same meanwhile share
   [meeting]. *)
type meeting = {
  mutex : Mutex.t;
  stream : int Stream.t;
  semaphore : Semaphore.Counting.t;
}

let meeting () =
  {
    mutex = Mutex.create ();
    stream = Stream.create 1;
    semaphore = Semaphore.Counting.make 1;
  }

let switches =
  [
    ("yield", fun _ -> Tasks.yield ());
    ("sleep", fun _ -> Tasks.sleep 0.0002);
    ("a mutex", fun m -> Mutex.protect m.mutex Tasks.yield);
    ( "a semaphore",
      fun m -> Semaphore.Counting.with_permit m.semaphore Tasks.yield );
    ( "a stream",
      fun m ->
        Stream.add m.stream 1;
        Tasks.yield ();
        ignore (Stream.take m.stream : int) );
    ( "an mvar",
      fun _ ->
        let box = Mvar.create_empty () in
        others (fun () -> Mvar.put box ());
        Mvar.take box );
    ( "a choice",
      fun _ ->
        Event.select [ Event.never; Event.timeout 0.0002; Event.timeout 60. ] );
    ("a thread", fun _ -> Promise.await (Promise.in_thread Thread.yield));
    ( "a timeout",
      fun _ ->
        ignore
          (Tasks.with_timeout 0.0002 (fun () -> Event.sync Event.never)
            : unit option) );
    ( "a cancelled task",
      fun _ ->
        Tasks.first Tasks.yield (fun () ->
            try Event.sync Event.never with e -> raise e) );
    ( "a failure",
      fun _ ->
        match
          Tasks.both
            (fun () ->
              Tasks.yield ();
              raise Boom)
            (fun () -> Event.sync Event.never)
        with
        | (_ : unit * unit) -> assert false
        | exception Boom -> () );
    ("protected", fun _ -> Tasks.protect Tasks.yield);
  ]

(* --- Ways to start ----------------------------------------------------------- *)

let ignoring f = ignore (f () : unit list)

let fork_all fork fs =
  match fs with
  | [] -> ()
  | last :: rest ->
      List.iter fork rest;
      last ()

(* Each calls all functions at once, and returns when they have ended. *)
let starts =
  [
    ( "both",
      function
      | [ f; g; h ] ->
          ignore
            (Tasks.both f (fun () -> Tasks.both g h) : unit * (unit * unit))
      | _ -> assert false );
    ("all", fun fs -> ignoring (fun () -> Tasks.all fs));
    ( "first",
      fun fs ->
        (* The last one to end ends the call, so the others aren't cancelled. *)
        let latch = Latch.create (List.length fs) in
        Tasks.any
          (List.map
             (fun f () ->
               f ();
               Latch.count_down latch;
               Latch.await latch)
             fs) );
    ("map", fun fs -> ignoring (fun () -> Tasks.map (fun f -> f ()) fs));
    ("iter, two at a time", fun fs -> Tasks.iter ~max_tasks:2 (fun f -> f ()) fs);
    ( "with_timeout",
      fun fs ->
        ignoring (fun () ->
            Option.get (Tasks.with_timeout 60. (fun () -> Tasks.all fs))) );
    ("fork", fun fs -> Scope.run (fun s -> fork_all (Scope.fork s) fs));
    ( "fork_promise",
      fun fs ->
        Scope.run (fun s ->
            List.map (Scope.fork_promise s) fs |> List.iter Promise.await) );
    ( "nested",
      fun fs ->
        ignoring (fun () ->
            Tasks.map
              (fun f ->
                snd (Tasks.both Tasks.yield (fun () -> Tasks.all [ f ])))
              fs
            |> List.concat) );
  ]

(* Another scheduler, which runs in the calling task. *)
let fifo_inside =
  ( "Concord_fifo.run",
    fun fs ->
      Concord_fifo.run (fun () ->
          fork_all (fun f -> ignore (Concord_fifo.fork f)) fs) )

(* --- One case ---------------------------------------------------------------- *)

let text = function None -> "none" | Some v -> string_of_int v

(* What the tasks saw, if it isn't what they had bound. *)
let wrong storage start switch =
  let wrong = ref [] in
  let check who expected =
    let seen = storage.get () in
    if seen <> expected then
      wrong :=
        Printf.sprintf "%s saw %s instead of %s" who (text seen) (text expected)
        :: !wrong
  in
  let m = meeting () in
  let look who expected =
    switch m;
    check who expected;
    switch m;
    check who expected
  in
  let task v () =
    let who = "a task that bound " ^ text (Some v) in
    storage.bind (Some v) (fun () ->
        look who (Some v);
        storage.bind (Some (-v)) (fun () -> look who (Some (-v)));
        (try
           storage.bind None (fun () ->
               look who None;
               raise Boom)
         with Boom -> ());
        check who (Some v))
  and other () =
    if storage.inherited then look "a task that bound nothing" (Some 7)
    else look "a task that bound nothing" (storage.get ())
  in
  let before = storage.get () in
  storage.bind (Some 7) (fun () ->
      start [ task 1; other; task 2 ];
      check "the caller" (Some 7);
      (match start [ task 1; (fun () -> raise Boom); task 2 ] with
      | () -> wrong := "nothing was raised" :: !wrong
      | exception Boom -> ());
      check "the caller, after a failure" (Some 7));
  check "the caller, at the end" before;
  List.rev !wrong

let wrong_by storage start (name, switch) =
  List.map
    (fun w -> Printf.sprintf "%s: %s" name w)
    (wrong storage start switch)

let kept storage host start () =
  let found = ref [ "it did not run" ] in
  host (fun () -> found := List.concat_map (wrong_by storage start) switches);
  strings "wrong values" [] !found

(* Where Concord can't switch the values. A case fails if this is no longer so. One way to switch
   is enough to see it. *)
let shared storage host start () =
  let found = ref [] in
  host (fun () -> found := wrong_by storage start (List.hd switches));
  yes "tasks see the values of others" (!found <> [])

let suite ?(also = []) case (name, host) storage =
  ( name,
    List.map
      (fun (start, run) -> test start (case storage host run))
      (starts @ also) )
