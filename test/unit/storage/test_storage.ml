(* The values that each library keeps for its current task, in tasks that Concord starts. *)

open Concord_test_hosts
open Concord_test_support
open Check
open Storage_cases
open Values

(* --- Other values --------------------------------------------------------- *)

(* These belong to a domain and not to a task, so the tasks of one thread share them. *)
let domain_key : int option Domain.DLS.key = Domain.DLS.new_key (fun () -> None)

let domain =
  let get () = Domain.DLS.get domain_key in
  let bind v f =
    let before = get () in
    Domain.DLS.set domain_key v;
    Fun.protect f ~finally:(fun () -> Domain.DLS.set domain_key before)
  in
  { bind; get; inherited = true }

(* --- Hosts --------------------------------------------------------------------- *)

let concord_lwt start f = Concord_lwt.run (fun () -> start f)

(* The code of [direct] begins before the loop. *)
let lwt_main start f = Lwt_main.run (start f)

let in_pool f =
  Attached_pools.with_pool (fun pool -> Concord_domainslib.run pool f)

let with_policy (type p) (module P : Concord_policies.S with type priority = p)
    fs =
  P.run (fun () ->
      Concord.Scope.run (fun s -> fork_all (Concord.Scope.fork s) fs))

let inside =
  [
    fifo_inside;
    ("Concord_policies.Fifo.run", with_policy (module Concord_policies.Fifo));
    ("Concord_policies.Levels.run", with_policy (module Concord_policies.Levels));
  ]

(* [main] ends before a task that it has forked in another context, and has changed its own. *)
let main_ends_first start () =
  let sees who v = Alcotest.(check (option int)) who (Some v) (lwt.get ()) in
  let child () =
    Concord.Tasks.yield ();
    sees "the child" 1
  in
  let main () =
    lwt.bind (Some 1) (fun () -> ignore (Concord_fifo.fork child));
    Lwt_direct.Storage.set lwt_key 2
  in
  concord_lwt start (fun () ->
      lwt.bind (Some 7) (fun () ->
          Concord_fifo.run main;
          sees "the caller" 2))

(* --- A random server ------------------------------------------------------------- *)

(* Each handler binds its user, and does things in a random order. *)
let server start () =
  let random = Race.random 0 in
  let below n = Random.State.int random n in
  let mutex = Concord.Mutex.create () and stream = Concord.Stream.create 3 in
  let open Concord in
  let bind v f = Lwt.with_value lwt_key (Some v) f in
  let wrong = ref 0 and answers = ref 0 in
  let check v = if Lwt.get lwt_key <> Some v then incr wrong in
  let rec act depth v =
    match below 10 with
    | 0 -> Tasks.sleep (float_of_int (below 5) *. 1e-4)
    | 1 -> Tasks.yield ()
    | 2 -> Mutex.protect mutex Tasks.yield
    | 3 ->
        ignore
          (Tasks.both
             (fun () -> Stream.add stream 1)
             (fun () -> Stream.take stream)
            : unit * int)
    | 4 ->
        let sleep v () =
          bind v (fun () ->
              Tasks.sleep (float_of_int (below 3) *. 1e-4);
              check v)
        in
        Tasks.first (sleep (-1)) (sleep (-2))
    | 5 -> (
        try
          Scope.run (fun scope ->
              Scope.fork scope (fun () ->
                  Tasks.yield ();
                  check v;
                  raise Boom);
              bind (-3) (fun () -> Event.sync Event.never))
        with Boom -> ())
    | 6 ->
        let paused =
          bind (-4) (fun () ->
              Lwt.bind (Lwt.pause ()) (fun () ->
                  check (-4);
                  Lwt.return ()))
        in
        Promise.await (Concord_lwt.of_lwt paused)
    | 7 when depth < 3 ->
        let user = below 1000 in
        bind user (fun () ->
            act (depth + 1) user;
            check user)
    | 8 when depth < 3 ->
        Tasks.iter
          (fun user ->
            check v;
            bind user (fun () -> act (depth + 1) user))
          [ 1; 2; 3 ]
    | _ ->
        ignore
          (Tasks.with_timeout 1e-4 (fun () ->
               bind (-5) (fun () -> Event.sync Event.never))
            : unit option)
  in
  let answer user =
    bind user (fun () ->
        for _ = 1 to 5 do
          act 0 user;
          check user
        done);
    incr answers
  in
  let users = List.init 40 succ in
  let serve () =
    start (fun () ->
        for _ = 1 to Race.often 5 do
          Tasks.iter answer users;
          if Lwt.get lwt_key <> None then incr wrong
        done)
  in
  Concord_lwt.run (fun () -> Lwt.join (List.init 4 (fun _ -> serve ())));
  Alcotest.(check int)
    (Printf.sprintf "wrong users, CONCORD_SEED=%d" Race.seed)
    0 !wrong

(* --- Signal handlers that raise ---------------------------------------------------- *)

exception Handler

(* A library's value, which a handler may interrupt when it is saved or restored. *)
let current = ref None
let is_on = ref false
let moments = ref 0
let raise_at = ref 0

let moment () =
  incr moments;
  if !moments = !raise_at then raise Handler

let () =
  let save () =
    moment ();
    let saved = !current in
    fun () ->
      moment ();
      current := saved
  in
  Concord.Private.Context.add (fun () -> if !is_on then Some save else None)

let bind v f =
  let before = !current in
  current := v;
  Fun.protect f ~finally:(fun () -> current := before)

let interrupted () =
  let open Concord in
  let check v = Alcotest.(check (option int)) "its own" v !current in
  let rec at n =
    moments := 0;
    raise_at := n;
    let task v =
      bind (Some v) (fun () ->
          for _ = 1 to 3 do
            Tasks.yield ();
            check (Some v)
          done)
    in
    let run () =
      Concord_fifo.run (fun () ->
          let over = Promise.create () in
          let last () = Promise.await over in
          bind (Some 1) (fun () -> ignore (Concord_fifo.fork last));
          Tasks.iter task [ 2; 3 ];
          Promise.fill over ())
    in
    bind (Some 7) (fun () ->
        (match run () with () -> () | exception Handler -> ());
        check (Some 7));
    if !moments >= n then at (n + 1) else n
  in
  is_on := true;
  let tried =
    Fun.protect
      (fun () -> at 1)
      ~finally:(fun () ->
        is_on := false;
        raise_at := 0)
  in
  yes "it was interrupted often" (tried > 20)

let () =
  run "Values of the host's tasks"
    [
      suite kept ("Eio", in_eio) eio;
      suite kept ~also:inside
        ("Concord_lwt.direct", concord_lwt Concord_lwt.direct)
        lwt;
      suite kept ~also:inside
        ("Concord_lwt.direct in Lwt_main.run", lwt_main Concord_lwt.direct)
        lwt;
      suite kept ~also:inside ("Lwt_direct", concord_lwt Lwt_direct.spawn) lwt;
      suite kept ~also:inside
        ("Lwt_direct in Lwt_main.run", lwt_main Lwt_direct.spawn)
        lwt;
      suite shared ("Domain.DLS, in a thread", fun f -> f ()) domain;
      suite shared ("Domain.DLS, in a pool", in_pool) domain;
      ( "a server",
        [
          test "Concord_lwt.direct" (server Concord_lwt.direct);
          test "Lwt_direct" (server Lwt_direct.spawn);
        ] );
      ( "the first task ends before others",
        [
          test "Concord_lwt.direct" (main_ends_first Concord_lwt.direct);
          test "Lwt_direct" (main_ends_first Lwt_direct.spawn);
        ] );
      ("signal handlers", [ test "while values change" interrupted ]);
    ]
