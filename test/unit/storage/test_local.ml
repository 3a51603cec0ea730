(* Values that follow a task from host to host. *)

open Concord
open Concord_test_hosts
open Concord_test_support
open Check
open Storage_cases

let get = local.get
let is v = get () = v
let bind v f = local.bind (Some v) f

(* --- Hosts --------------------------------------------------------------------- *)

let in_thread f = Promise.await (Promise.in_thread f)
let in_domain f = Promise.await (Promise.in_domain f)
let in_fifo f = Concord_fifo.run f

let in_job f =
  Workers.with_workers ~domains:1 (fun workers -> Workers.run workers f)

let in_pool f =
  Attached_pools.with_pool (fun pool -> Concord_domainslib.run pool f)

let in_levels f = Concord_policies.Levels.run f
let in_eio f = Eio_main.run (fun _ -> f ())
let concord_lwt start f = Concord_lwt.run (fun () -> start f)
let lwt_main start f = Lwt_main.run (start f)

let hosts =
  [
    ("a thread", in_thread);
    ("a domain", in_domain);
    ("Concord_fifo", in_fifo);
    ("Workers", in_job);
    ("Domainslib", in_pool);
    ("Concord_policies", in_levels);
    ("Eio", in_eio);
    ("Concord_lwt.direct", concord_lwt Concord_lwt.direct);
    ("Lwt_direct", concord_lwt Lwt_direct.spawn);
  ]

let in_lwt_main =
  [
    ("Concord_lwt.direct in Lwt_main.run", lwt_main Concord_lwt.direct);
    ("Lwt_direct in Lwt_main.run", lwt_main Lwt_direct.spawn);
  ]

(* A signal may come to the main domain, so these run there. *)
let main_hosts =
  let elsewhere = [ "a domain"; "Workers"; "Domainslib" ] in
  List.filter (fun (name, _) -> not (List.mem name elsewhere)) hosts

let on hosts case =
  List.map (fun (name, host) -> test name (fun () -> host case)) hosts

let policies_inside =
  ( "Concord_policies.Fifo.run",
    fun fs ->
      Concord_policies.Fifo.run (fun () ->
          Scope.run (fun s -> fork_all (Scope.fork s) fs)) )

(* --- From task to task ----------------------------------------------------------- *)

let eventually promise = Promise.await promise

(* Each of these calls a function elsewhere, and returns its result. *)
let others pool workers eio lwt : (string * ((unit -> bool) -> bool)) list =
  [
    ("in_thread", fun f -> eventually (Promise.in_thread f));
    ("in_domain", fun f -> eventually (Promise.in_domain f));
    ("Workers.run", fun f -> Workers.run workers f);
    ("Workers.submit", fun f -> eventually (Workers.submit workers f));
    ( "Workers.run_stoppable",
      fun f -> Workers.run_stoppable workers (fun _ -> f ()) );
    ( "Workers.submit_stoppable",
      fun f ->
        eventually (fst (Workers.submit_stoppable workers (fun _ -> f ()))) );
    ("Concord_domainslib.run", fun f -> Concord_domainslib.run pool f);
    ( "Concord_domainslib.submit",
      fun f -> eventually (Concord_domainslib.submit pool f) );
    ("Concord_eio.call", fun f -> Concord_eio.call eio (fun () -> f ()));
    ( "Concord_lwt.call",
      fun f ->
        Concord_lwt.call lwt (fun () ->
            Lwt.bind (Lwt.pause ()) (fun () -> Concord_lwt.direct f)) );
    ( "Concord_lwt.post",
      fun f ->
        eventually
          (Concord_lwt.post (fun () ->
               Lwt.bind (Lwt.pause ()) (fun () -> Concord_lwt.direct f))) );
    ( "a snapshot",
      fun f ->
        let values = Local.snapshot () and result = Promise.create () in
        let run () = Promise.fill result (Local.with_snapshot values f) in
        Thread.join (Thread.create run ());
        Promise.await result );
    ("Tasks.both", fun f -> fst (Tasks.both f Tasks.yield));
    ("Concord_fifo.run", fun f -> Concord_fifo.run f);
  ]

let with_others f =
  Workers.with_workers ~domains:1 @@ fun workers ->
  Attached_pools.with_pool @@ fun pool ->
  Concord_eio.with_domain Eio_main.run (fun ~sw:_ _ -> ()) @@ fun eio ->
  Concord_lwt.with_domain (fun () -> Lwt.return_unit) @@ fun lwt ->
  f (others pool workers eio lwt)

(* Of each host, to each other one, and from there to all. *)
let follows () =
  with_others @@ fun others ->
  let all who v =
    List.iter
      (fun (name, call) ->
        let who = who ^ ", " ^ name in
        yes who
          (call (fun () ->
               let before = is v in
               Tasks.sleep 1e-5;
               before && is v
               && bind 100 (fun () ->
                   Tasks.yield ();
                   is (Some 100))
               && is v)))
      others
  in
  let case from () =
    all (from ^ ", unbound") None;
    bind 5 (fun () ->
        all from (Some 5);
        yes "still" (is (Some 5));
        List.iter
          (fun (name, call) ->
            yes (from ^ ", twice")
              (call (fun () ->
                   all (from ^ " by " ^ name) (Some 5);
                   true)))
          [ List.nth others 0; List.nth others 2; List.nth others 9 ];
        Local.without_binding key (fun () -> all (from ^ ", removed") None));
    yes (from ^ ", after") (is None)
  in
  let not_lwt = List.filteri (fun i _ -> i < 7) hosts in
  List.iter (fun (name, host) -> host (case name)) not_lwt

(* --- Loops inside of a binding ---------------------------------------------------- *)

(* The loop of [Eio_main.run] inside of a fiber doesn't see the fiber's values. *)
let inherited ?(but = "") outer () =
  outer @@ fun () ->
  bind 1 @@ fun () ->
  List.iter
    (fun (name, inner) ->
      inner (fun () ->
          yes (name ^ " inherits") (is (Some 1));
          bind 2 (fun () ->
              Tasks.sleep 1e-5;
              yes (name ^ ", bound") (is (Some 2)));
          Tasks.yield ();
          yes (name ^ ", unbound") (is (Some 1)));
      yes (name ^ ", back") (is (Some 1)))
    (List.filteri (fun i (name, _) -> i < 7 && name <> but) hosts)

let lwt_inherited () =
  bind 1 (fun () ->
      List.iter
        (fun (name, host) -> host (fun () -> yes name (is (Some 1))))
        hosts);
  yes "back" (is None)

(* --- Keys ------------------------------------------------------------------------- *)

let name : string Local.t = Local.create ()

let two_keys () =
  let both () = (get (), Local.get name) in
  bind 1 (fun () ->
      Local.with_binding name "a" (fun () ->
          yes "both" (both () = (Some 1, Some "a"));
          Local.without_binding key (fun () ->
              yes "one removed" (both () = (None, Some "a")));
          bind 2 (fun () ->
              yes "one bound again" (both () = (Some 2, Some "a"))));
      yes "one" (both () = (Some 1, None)));
  yes "none" (both () = (None, None));
  (match bind 1 (fun () -> raise Boom) with
  | () -> Alcotest.fail "nothing was raised"
  | exception Boom -> ());
  yes "after an exception" (both () = (None, None))

(* --- Callbacks --------------------------------------------------------------------- *)

let callbacks () =
  let seen = ref [] in
  let see _ = seen := get () :: !seen in
  let promise = Promise.create () in
  Promise.on_resolve promise see;
  bind 1 (fun () ->
      Promise.on_resolve promise see;
      ignore (Promise.map see promise : unit Promise.t));
  bind 2 (fun () ->
      Promise.fill promise ();
      yes "the caller's" (is (Some 2)));
  yes "those of the registration"
    (List.sort compare !seen = [ None; Some 1; Some 1 ])

(* A callback of Lwt may run on the stack of another task, which resolves the promise. *)
let callback_of_another () =
  let wrong = ref [] and calls = ref 0 in
  let check who expected =
    incr calls;
    if not (is expected) then wrong := who :: !wrong
  in
  let promise, waker = Lwt.wait () in
  let attach who expected =
    Lwt.bind promise (fun () ->
        check who expected;
        Lwt.bind (Lwt.pause ()) (fun () ->
            check (who ^ ", later") expected;
            Lwt.return_unit))
  in
  let first = attach "an unbound promise" None in
  let second = bind 1 (fun () -> attach "a bound promise" (Some 1)) in
  let wake () =
    bind 2 (fun () ->
        Tasks.yield ();
        ignore
          (Tasks.both Tasks.yield (fun () ->
               bind 3 (fun () ->
                   Lwt.wakeup waker ();
                   check "the task" (Some 3)))
            : unit * unit);
        check "its parent" (Some 2))
  in
  (first, second, wake, fun () -> (!calls, !wrong))

let lwt_callback start () =
  Concord_lwt.run (fun () ->
      let first, second, wake, result = callback_of_another () in
      Lwt.bind (start wake) (fun () ->
          Lwt.bind (Lwt.both first second) (fun _ ->
              let calls, wrong = result () in
              int "calls" 6 calls;
              strings "wrong" [] wrong;
              Lwt.return_unit)))

(* Without a task, the binding goes from promise to promise. *)
let lwt_promises () =
  Concord_lwt.run (fun () ->
      let open Lwt.Syntax in
      let go v =
        bind v (fun () ->
            let rec go n =
              let* () = Lwt.pause () in
              let* () = Lwt_unix.sleep 1e-5 in
              yes "its own" (is (Some v));
              if n = 0 then Lwt.return_unit else go (n - 1)
            in
            go 20)
      in
      let* () = Lwt.join (List.init 10 go) in
      yes "none" (is None);
      Lwt.return_unit)

(* A job of a loop may come when the loop has just run somebody's callback. *)
let stale () =
  Concord_lwt.with_domain (fun () -> Lwt.return_unit) @@ fun lwt ->
  for _ = 1 to 200 do
    bind 1 (fun () ->
        Concord_lwt.call lwt (fun () ->
            let promise, waker = Lwt.wait () in
            let seen = Lwt.bind promise (fun () -> Lwt.return (get ())) in
            Lwt.wakeup_later waker ();
            Lwt.bind seen (fun v ->
                yes "bound" (v = Some 1);
                Lwt.return_unit)));
    yes "unbound" (Concord_lwt.call lwt (fun () -> Lwt.return (is None)))
  done

let handlers () =
  let seen = ref None in
  Sys.set_signal Sys.sigusr1 (Signal_handle (fun _ -> seen := Some (get ())));
  bind 1 (fun () ->
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      while Option.is_none !seen do
        ignore (Sys.opaque_identity (ref 0) : int ref)
      done;
      yes "the task's, or none"
        (match !seen with Some (None | Some 1) -> true | _ -> false);
      yes "still" (is (Some 1)));
  let finalised = ref 0 in
  bind 1 (fun () ->
      for _ = 1 to 100 do
        Gc.finalise
          (fun _ -> if List.mem (get ()) [ None; Some 1 ] then incr finalised)
          (ref 0)
      done;
      Gc.full_major ();
      Gc.full_major ();
      yes "finalisers ran" (!finalised > 0);
      yes "still" (is (Some 1)))

(* --- A trace -------------------------------------------------------------------------- *)

(* As OpenTelemetry has it: a span knows its parent and its request. *)
module Trace = struct
  type span = { request : int; path : string list }

  let current : span Local.t = Local.create ()
  let spans : (int * string) list Atomic.t = Atomic.make []

  let rec record span =
    let before = Atomic.get spans in
    if not (Atomic.compare_and_set spans before (span :: before)) then
      record span

  let in_span name f =
    match Local.get current with
    | None ->
        record (0, name);
        f ()
    | Some { request; path } ->
        let path = name :: path in
        record (request, String.concat " < " path);
        Local.with_binding current { request; path } f

  let in_request request f = Local.with_binding current { request; path = [] } f
end

let trace () =
  let open Trace in
  Workers.with_workers ~domains:2 @@ fun workers ->
  Concord_lwt.with_domain (fun () -> Lwt.return_unit) @@ fun lwt ->
  let query () =
    Lwt.bind (Lwt.pause ()) (fun () ->
        in_span "lwt" (fun () ->
            Lwt.bind (Lwt.pause ()) (fun () ->
                in_span "row" (fun () -> Lwt.return_unit))))
  in
  let handle request =
    in_request request (fun () ->
        in_span "fiber" (fun () ->
            Workers.run workers (fun () ->
                in_span "job" (fun () ->
                    Tasks.iter
                      (fun part ->
                        in_span part (fun () ->
                            Concord_lwt.call lwt query;
                            Promise.await
                              (Promise.in_thread (fun () ->
                                   in_span "thread" ignore))))
                      [ "left"; "right" ]))))
  in
  let requests = List.init 50 succ in
  Eio_main.run (fun _ -> Eio.Fiber.List.iter handle requests);
  let expected request =
    let of_part part =
      let part = part ^ " < job < fiber" in
      [ part; "lwt < " ^ part; "row < lwt < " ^ part; "thread < " ^ part ]
    in
    List.map
      (fun span -> (request, span))
      (("fiber" :: "job < fiber" :: of_part "left") @ of_part "right")
  in
  yes "all spans"
    (List.sort compare (Atomic.get spans)
    = List.sort compare (List.concat_map expected requests))

(* --- Deadlines --------------------------------------------------------------------------- *)

let left_within a b =
  match Tasks.time_left () with
  | Some left -> a <= left && left <= b
  | None -> false

let deadlines () =
  yes "none" (Tasks.time_left () = None);
  let seen =
    Tasks.with_deadline 60. (fun () ->
        yes "it is seen" (left_within 40. 60.);
        ignore
          (Tasks.with_deadline 3600. (fun () ->
               yes "the earlier one counts" (left_within 40. 60.))
            : unit option);
        ignore
          (Tasks.with_deadline infinity (fun () ->
               yes "it is kept" (left_within 40. 60.))
            : unit option);
        ignore
          (Tasks.with_deadline 20. (fun () ->
               yes "an earlier one" (left_within 0. 20.))
            : unit option);
        yes "restored" (left_within 40. 60.);
        Tasks.map (fun _ -> left_within 30. 60.) [ 1; 2 ])
  in
  yes "in tasks" (seen = Some [ true; true ]);
  yes "none afterwards" (Tasks.time_left () = None);
  let never () = Event.sync Event.never in
  yes "over" (Tasks.with_deadline 0.001 never = None);
  yes "at once" (Tasks.with_deadline (-1.) never = None);
  yes "infinite"
    (Tasks.with_deadline infinity (fun () -> Tasks.time_left ()) = Some None);
  (* The inner one ends with the outer one, although nothing cancels it. *)
  let result = ref (Some ()) in
  let over =
    Tasks.with_deadline 0.002 (fun () ->
        Tasks.protect (fun () -> result := Tasks.with_deadline 60. never);
        Tasks.time_left ())
  in
  yes "the inner one" (!result = None);
  yes "it has passed" (over = None || over = Some (Some 0.));
  match Tasks.with_deadline nan ignore with
  | _ -> Alcotest.fail "nan"
  | exception Invalid_argument text -> yes text (contains text "with_deadline")

let deadline_follows () =
  with_others (fun others ->
      List.iter
        (fun (name, call) ->
          yes name (call (fun () -> Tasks.time_left () = None));
          ignore
            (Tasks.with_deadline 60. (fun () ->
                 yes name (call (fun () -> left_within 30. 60.)))
              : unit option))
        others)

(* --- Identity --------------------------------------------------------------------------- *)

(* Each task binds its number, and looks again and again after waits of all kinds. *)
let looks = Race.often 10_000

let identity () =
  let wrong = Atomic.make 0 and all = Atomic.make 0 in
  let mutex = Mutex.create () and stream = Stream.create 2 in
  let look v =
    Atomic.incr all;
    if not (is (Some v)) then Atomic.incr wrong
  in
  let task v =
    bind v (fun () ->
        for i = 1 to looks / 20 do
          (match (v + i) mod 5 with
          | 0 -> Tasks.yield ()
          | 1 -> Mutex.protect mutex Tasks.yield
          | 2 ->
              let other () = bind (-v) (fun () -> Stream.add stream v) in
              ignore
                (Tasks.both other (fun () -> ignore (Stream.take stream : int))
                  : unit * unit)
          | 3 -> Tasks.sleep 1e-6
          | _ ->
              let promise = Promise.create () in
              Promise.on_resolve promise (fun _ -> look v);
              bind (-v) (fun () -> Promise.fill promise ()));
          look v
        done)
  in
  Tasks.iter task (List.init 20 succ);
  int "wrong" 0 (Atomic.get wrong);
  yes "many" (Atomic.get all >= looks)

let () =
  let on_hosts =
    List.map
      (fun host -> suite kept ~also:[ fifo_inside; policies_inside ] host local)
      (hosts @ in_lwt_main)
  in
  run "Local"
    (on_hosts
    @ [
        ("from task to task", [ test "all ways" follows ]);
        ( "loops inside",
          [
            test "a thread" (inherited (fun f -> f ()));
            test "Concord_fifo" (inherited in_fifo);
            test "Eio" (inherited ~but:"Eio" in_eio);
            test "Workers" (inherited in_job);
            test "Lwt, in a thread" lwt_inherited;
          ] );
        ("two keys", on hosts two_keys);
        ("callbacks", on hosts callbacks);
        ( "callbacks of Lwt",
          [
            test "on the stack of direct" (lwt_callback Concord_lwt.direct);
            test "on the stack of Lwt_direct" (lwt_callback Lwt_direct.spawn);
            test "promises" lwt_promises;
            test "jobs" stale;
          ] );
        ("signal handlers and finalisers", on main_hosts handlers);
        ("a trace", [ test "through four hosts" trace ]);
        ("identity", on hosts identity);
        ("deadlines", on hosts deadlines);
        ("deadlines elsewhere", [ test "all ways" deadline_follows ]);
      ])
