(* Concord_eio.with_domain, which runs a loop of Eio on its own domain. *)

open Concord
open Concord_test_support
open Check

let call = Concord_eio.call

let with_domain ?grace create f =
  Concord_eio.with_domain ?grace Eio_main.run create f

let nothing ~sw:_ _ = ()
let clock ~sw:_ env = Eio.Stdenv.clock env
let here () = (Domain.self () :> int)
let forever () = Eio.Fiber.await_cancel ()

exception Boom

let[@inline never] culprit () = if true then raise Boom

let hosts =
  [
    Basic_hosts.threads;
    Basic_hosts.fifo;
    Basic_hosts.lazy_fifo;
    Eio_hosts.fibers;
    Domainslib_hosts.pool;
  ]

let on_each f =
  List.map
    (fun (host : Test_host.t) ->
      test host.name (fun () -> host.run (fun _ -> f ())))
    hosts

let on_each_cancelling f =
  List.filter_map
    (fun (host : Test_host.t) ->
      Option.map
        (fun cancel -> test host.name (fun () -> host.run (fun _ -> f cancel)))
        host.cancel)
    hosts

let whole () =
  traced [ "create"; "called with 6"; "f ends"; "released" ] @@ fun say ->
  let caller = here () and loop = ref (-1) in
  let create ~sw env =
    loop := here ();
    Eio.Switch.on_release sw (fun () ->
        yes "released in the loop's domain" (here () = !loop);
        say "released");
    Eio.Time.sleep (Eio.Stdenv.clock env) 0.001;
    say "create";
    6
  and double n =
    Eio.Fiber.yield ();
    yes "called in the loop's domain" (here () = !loop && !loop <> caller);
    say (Printf.sprintf "called with %d" n);
    2 * n
  in
  let f loop =
    let twelve = call loop double in
    say "f ends";
    twelve
  in
  int "the result" 12 (with_domain create f)

(* Each call waits for the others. *)
let at_once () =
  with_domain nothing @@ fun loop ->
  let all = Latch.create 20 in
  let one () =
    call loop (fun () ->
        Latch.count_down all;
        Latch.await all)
  in
  Tasks.iter one (List.init 20 ignore)

(* A job of one loop calls another one, and that one calls the first. *)
let there_and_back () =
  with_domain nothing @@ fun a ->
  with_domain nothing @@ fun b ->
  let back () =
    call a (fun () ->
        Eio.Fiber.yield ();
        here ())
  in
  yes "the same domain"
    (call a (fun () -> (here (), call b back)) |> fun (x, y) -> x = y);
  int "its own loop" 3 (call a (fun () -> call a (fun () -> 3)))

(* --- Failures ---------------------------------------------------------------- *)

let create_fails () =
  let fails () =
    with_domain (fun ~sw:_ _ -> culprit ()) (fun _ -> Alcotest.fail "called")
  in
  raises "create" Boom fails;
  raises_at "culprit" fails

let f_raises () =
  let released = ref false in
  let create ~sw _ = Eio.Switch.on_release sw (fun () -> released := true) in
  raises "f" Boom (fun () -> with_domain create (fun _ -> culprit ()));
  yes "released" !released

let call_raises () =
  with_domain nothing @@ fun loop ->
  let raise_there () =
    call loop (fun () ->
        Eio.Fiber.yield ();
        culprit ())
  in
  raises "call" Boom raise_there;
  raises_at "culprit" raise_there;
  int "the loop goes on" 3 (call loop (fun () -> 3))

(* A fiber that [create] has forked fails. *)
let loop_dies () =
  let create ~sw _ =
    let die, now = Eio.Promise.create () in
    Eio.Fiber.fork ~sw (fun () ->
        Eio.Promise.await die;
        culprit ());
    now
  in
  let kill now =
    Eio.Promise.resolve now ();
    forever ()
  in
  raises "f returns" Boom (fun () ->
      with_domain create (fun loop ->
          raises "call" Concord_eio.No_loop (fun () -> call loop kill);
          raises "later" Concord_eio.No_loop (fun () -> call loop ignore)));
  raises "f raises No_loop" Boom (fun () ->
      with_domain create (fun loop -> call loop kill));
  raises "f raises something else" Exit (fun () ->
      with_domain create (fun loop ->
          try call loop kill with Concord_eio.No_loop -> raise Exit))

(* The function that runs the loop fails by itself. *)
let run_fails () =
  raises "before" Boom (fun () ->
      Concord_eio.with_domain
        (fun (_ : unit -> unit) -> culprit ())
        nothing ignore);
  raises "afterwards" Boom (fun () ->
      Concord_eio.with_domain
        (fun main ->
          Eio_main.run main;
          culprit ())
        nothing ignore)

let bad_grace () =
  List.iter
    (fun (grace, shown) ->
      raises "grace"
        (Invalid_argument
           (Printf.sprintf
              "Concord_eio.with_domain: grace must be at least 0, but is %s"
              shown))
        (fun () ->
          with_domain ~grace (fun ~sw:_ _ -> Alcotest.fail "created") ignore))
    [ (-1., "-1"); (Float.nan, "nan") ]

(* --- The end ------------------------------------------------------------------- *)

(* A thread calls [f] in the loop, and [with_domain] ends once it has begun. *)
let left ?grace create f =
  let outcome = Promise.create () and begun = Promise.create () in
  with_domain ?grace create (fun loop ->
      ignore
        (Thread.create
           (fun () ->
             Promise.fill outcome
               (match
                  call loop (fun v ->
                      Promise.fill begun ();
                      f loop v)
                with
               | v -> Ok v
               | exception e -> Error e))
           ()
          : Thread.t);
      Promise.await begun);
  outcome

let fails_with e outcome =
  match Promise.await outcome with
  | Ok _ -> Alcotest.fail "it returned"
  | Error e' -> raises "the call" e (fun () -> raise e')

(* A call that runs has ended before the value is released, and so have those that it makes. *)
let waits_for_calls grace () =
  traced [ "inner"; "released" ] @@ fun say ->
  let create ~sw env =
    Eio.Switch.on_release sw (fun () -> say "released");
    Eio.Stdenv.clock env
  in
  let outer loop clock =
    Eio.Time.sleep clock 0.001;
    call loop (fun clock ->
        Eio.Time.sleep clock 0.001;
        say "inner";
        1)
  in
  match Promise.await (left ?grace create outer) with
  | Ok n -> int "its value" 1 n
  | Error e -> raise e

let cancels_calls () =
  traced [ "unwound"; "released" ] @@ fun say ->
  let create ~sw _ = Eio.Switch.on_release sw (fun () -> say "released") in
  let f _ () =
    Fun.protect forever ~finally:(fun () ->
        Eio.Cancel.protect Eio.Fiber.yield;
        say "unwound")
  in
  fails_with Concord_eio.No_loop (left ~grace:0.05 create f)

let leaves_calls () =
  let may_end = Promise.create () and ended = Promise.create () in
  let f _ () =
    Eio.Cancel.protect (fun () -> Promise.await may_end);
    Promise.fill ended ()
  in
  fails_with Concord_eio.No_loop (left ~grace:0.05 nothing f);
  Promise.fill may_end ();
  Promise.await ended

let ends_fibers () =
  let unwound = ref false in
  let create ~sw _ =
    Eio.Fiber.fork ~sw (fun () ->
        Fun.protect forever ~finally:(fun () -> unwound := true))
  in
  with_domain create ignore;
  yes "unwound" !unwound

let fiber_fails_at_the_end () =
  let create ~sw _ =
    Eio.Fiber.fork ~sw (fun () ->
        try forever () with Eio.Cancel.Cancelled _ -> culprit ())
  in
  raises "the fiber's exception alone" Boom (fun () ->
      with_domain create ignore)

let after_the_end () =
  let old = with_domain nothing Fun.id in
  let refused () =
    raises "ended" Concord_eio.No_loop (fun () ->
        call old (fun () -> Alcotest.fail "called"))
  in
  refused ();
  with_domain nothing (fun loop ->
      refused ();
      call loop refused)

(* Threads call until they are refused. Meanwhile [f] returns, or a fiber of [create] fails. *)
let races_with_end ~fails () =
  let create ~sw _ =
    let die, now = Eio.Promise.create () in
    Eio.Fiber.fork ~sw (fun () ->
        Eio.Promise.await die;
        culprit ());
    now
  and calls loop () =
    match
      while true do
        call loop (fun _ -> Eio.Fiber.yield ())
      done
    with
    | () -> ()
    | exception Concord_eio.No_loop -> ()
  in
  for _ = 1 to Race.often 200 do
    let joins = ref [] in
    let f loop =
      joins := List.init 3 (fun _ -> thread (calls loop));
      if fails then call loop (fun now -> Eio.Promise.resolve now ())
      else call loop ignore
    in
    (match with_domain create f with
    | () -> ()
    | exception (Boom | Concord_eio.No_loop) -> yes "fails" fails);
    List.iter (fun join -> join ()) !joins
  done

type _ Effect.t += Abandon : unit Effect.t

(* A handler around the loop drops all fibers, so none of them is cancelled. *)
let abandoned () =
  let run main =
    Effect.Deep.try_with Eio_main.run main
      {
        effc =
          (fun (type a) (e : a Effect.t) ->
            match e with
            | Abandon ->
                Some
                  (fun (_ : (a, unit) Effect.Deep.continuation) -> raise Boom)
            | _ -> None);
      }
  in
  let call_abandons loop = call loop (fun () -> Effect.perform Abandon) in
  let both loop =
    let begun = Promise.create () in
    let waits () =
      Promise.fill begun ();
      forever ()
    in
    let join =
      thread (fun () ->
          raises "the call that waits" Concord_eio.No_loop (fun () ->
              call loop waits))
    in
    Promise.await begun;
    raises "the call that ends the loop" Concord_eio.No_loop (fun () ->
        call_abandons loop);
    join ()
  in
  raises "the loop" Boom (fun () -> Concord_eio.with_domain run nothing both)

(* A call that comes at the end and never returns has no more time than the others. *)
let late_calls () =
  for _ = 1 to Race.often 100 do
    let leaving = Atomic.make false in
    let late loop () =
      raises "late" Concord_eio.No_loop (fun () ->
          while not (Atomic.get leaving) do
            call loop Eio.Fiber.yield
          done;
          call loop forever)
    in
    let joins =
      with_domain ~grace:0.01 nothing (fun loop ->
          let joins = List.init 2 (fun _ -> thread (late loop)) in
          call loop ignore;
          Atomic.set leaving true;
          joins)
    in
    List.iter (fun join -> join ()) joins
  done

(* --- Cancellation ---------------------------------------------------------------- *)

let cancelled_in_create cancel =
  let creating = Promise.create () and unwound = ref false in
  let create ~sw:_ _ =
    Fun.protect
      (fun () ->
        Promise.fill creating ();
        forever ())
      ~finally:(fun () -> unwound := true)
  and f _ = Alcotest.fail "called" in
  cancel
    (fun () -> with_domain create f)
    ~after:(fun () -> Promise.await creating);
  yes "unwound" !unwound

(* [create] ignores the cancellation. *)
let created_after_all cancel =
  let creating = Promise.create () and released = ref false in
  let create ~sw _ =
    Eio.Switch.on_release sw (fun () -> released := true);
    Promise.fill creating ();
    try forever () with Eio.Cancel.Cancelled _ -> ()
  and f _ = Alcotest.fail "called" in
  cancel
    (fun () -> with_domain create f)
    ~after:(fun () -> Promise.await creating);
  yes "released" !released

let cancelled_in_call cancel =
  with_domain nothing @@ fun loop ->
  let calling = Promise.create () and unwound = ref false in
  let f () =
    Fun.protect
      (fun () ->
        Promise.fill calling ();
        forever ())
      ~finally:(fun () ->
        Eio.Cancel.protect Eio.Fiber.yield;
        unwound := true)
  in
  cancel (fun () -> call loop f) ~after:(fun () -> Promise.await calling);
  yes "unwound" !unwound;
  int "the loop goes on" 3 (call loop (fun () -> 3))

(* The loop is busy, so the function never begins. Then no call is left when [with_domain]
   ends. *)
let cancelled_before_call cancel =
  with_domain ~grace:infinity nothing @@ fun loop ->
  let busy = Promise.create () and go_on = Promise.create () in
  let blocks () =
    Promise.fill busy ();
    (* This thread's domain has no other task. *)
    in_thread (fun () -> Promise.await go_on)
  in
  let join = thread (fun () -> call loop blocks) in
  Promise.await busy;
  let coming = Promise.create () in
  cancel
    (fun () ->
      Promise.fill coming ();
      call loop (fun () -> Alcotest.fail "called"))
    ~after:(fun () -> Promise.await coming);
  Promise.fill go_on ();
  join ();
  call loop ignore

(* Whatever the moment of a time limit, the fiber has ended when the call has. *)
let time_limits () =
  with_domain clock @@ fun loop ->
  let running = Atomic.make 0 in
  let sleep clock =
    Atomic.incr running;
    Fun.protect
      (fun () -> Eio.Time.sleep clock (Random.float 0.001))
      ~finally:(fun () -> Atomic.decr running)
  in
  for _ = 1 to Race.often 300 do
    ignore
      (Tasks.with_timeout (Random.float 0.001) (fun () -> call loop sleep)
        : unit option);
    int "running" 0 (Atomic.get running)
  done

let () =
  Check.run "Concord_eio.with_domain"
    [
      ("the whole", on_each whole);
      ("calls at once", on_each at_once);
      ("there and back", on_each there_and_back);
      ("create fails", on_each create_fails);
      ("f raises", on_each f_raises);
      ("a call raises", on_each call_raises);
      ("the loop fails", on_each loop_dies);
      ( "other failures",
        [
          test "the function that runs the loop" run_fails;
          test "grace" bad_grace;
        ] );
      ( "the end",
        [
          test "waits for calls" (waits_for_calls None);
          test "waits for calls, without a bound"
            (waits_for_calls (Some Float.infinity));
          test "cancels calls" cancels_calls;
          test "leaves calls" leaves_calls;
          test "ends what create has forked" ends_fibers;
          test "a fiber of create fails at the end" fiber_fails_at_the_end;
          test "after the end" after_the_end;
          test "the loop leaves its fibers behind" abandoned;
          test "calls race with it" (races_with_end ~fails:false);
          test "late calls" late_calls;
          test "calls race with a failure" (races_with_end ~fails:true);
        ] );
      ("cancelled in create", on_each_cancelling cancelled_in_create);
      ("created after all", on_each_cancelling created_after_all);
      ("cancelled in a call", on_each_cancelling cancelled_in_call);
      ("cancelled before a call", on_each_cancelling cancelled_before_call);
      ("time limits", on_each time_limits);
    ]
