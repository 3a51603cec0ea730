(* Concord_lwt.with_domain: a loop of Lwt on a domain of its own. *)

open Concord
open Concord_test_support
open Check
open Lwt.Syntax

let with_domain = Concord_lwt.with_domain
let call = Concord_lwt.call
let here () = (Domain.self () :> int)

exception Boom

let[@inline never] culprit () = if true then raise Boom
let nothing () = Lwt.return_unit

let hosts =
  [
    Basic_hosts.threads;
    Basic_hosts.fifo;
    Basic_hosts.lazy_fifo;
    Eio_hosts.fibers;
    Domainslib_hosts.pool;
  ]

let on_each f =
  List.map (fun (host : Test_host.t) -> test host.name (fun () -> f host)) hosts

(* [create], calls and [close] are in one domain, in this order. *)
let whole (host : Test_host.t) =
  host.run @@ fun _ ->
  traced [ "create"; "called with 6"; "f ends"; "close 6" ] @@ fun say ->
  let caller = here () and loop = ref (-1) in
  let create () =
    loop := here ();
    let+ () = Lwt.pause () in
    say "create";
    6
  and close n =
    let+ () = Lwt.pause () in
    yes "closed in the loop's domain" (here () = !loop);
    say (Printf.sprintf "close %d" n)
  in
  let double n =
    let+ () = Lwt.pause () in
    yes "called in the loop's domain" (here () = !loop && !loop <> caller);
    say (Printf.sprintf "called with %d" n);
    2 * n
  in
  let f loop =
    let twelve = call loop double in
    say "f ends";
    twelve
  in
  int "the result" 12 (with_domain ~close create f)

(* Another task does what each part of it waits for. *)
let others_run (host : Test_host.t) =
  let creating = Promise.create ()
  and created = Promise.create ()
  and closing = Promise.create ()
  and closed = Promise.create () in
  let pass here next =
    Promise.fill here ();
    Concord_lwt.Promise.await next
  in
  Test_host.run_all host
    [
      (fun () ->
        with_domain
          ~close:(fun () -> pass closing closed)
          (fun () -> pass creating created)
          ignore);
      (fun () ->
        Promise.await creating;
        Promise.fill created ();
        Promise.await closing;
        Promise.fill closed ());
    ]

let again () =
  for n = 1 to 20 do
    int "the value" n
      (with_domain (fun () -> Lwt.return n) (fun loop -> call loop Lwt.return))
  done

(* --- Failures ------------------------------------------------------------------ *)

let create_fails (host : Test_host.t) =
  host.run @@ fun _ ->
  let close _ = Alcotest.fail "closed" and f _ = Alcotest.fail "called" in
  let fails create () = with_domain ~close create f in
  let at_once = fails (fun () -> Lwt.return (culprit ()))
  and later = fails (fun () -> Lwt.map culprit (Lwt.pause ())) in
  raises "at once" Boom at_once;
  raises_at "culprit" at_once;
  raises "later" Boom later;
  raises_at "culprit" later

let f_raises (host : Test_host.t) =
  host.run @@ fun _ ->
  let closed = ref false in
  let close () =
    closed := true;
    Lwt.fail Not_found
  in
  raises "f" Boom (fun () -> with_domain ~close nothing (fun _ -> culprit ()));
  yes "closed" !closed

let close_fails () =
  let close () = Lwt.map culprit (Lwt.pause ()) in
  raises "close" Boom (fun () -> with_domain ~close nothing ignore);
  raises_at "culprit" (fun () -> with_domain ~close nothing ignore)

(* An exception that leaves the loop, as that of a signal handler. *)
let loop_dies () =
  let die () =
    let hook = ref None in
    let raise_once () =
      Option.iter Lwt_main.Enter_iter_hooks.remove !hook;
      culprit ()
    in
    hook := Some (Lwt_main.Enter_iter_hooks.add_last raise_once);
    fst (Lwt.wait ())
  in
  raises "f returns" Boom (fun () ->
      with_domain nothing (fun loop ->
          raises "call" Concord_lwt.No_loop (fun () -> call loop die);
          raises "later" Concord_lwt.No_loop (fun () -> call loop Lwt.return)));
  raises "f raises No_loop" Boom (fun () ->
      with_domain nothing (fun loop -> call loop die));
  raises "f raises something else" Exit (fun () ->
      with_domain nothing (fun loop ->
          try call loop die with Concord_lwt.No_loop -> raise Exit))

let another_loop () =
  let refused () =
    match with_domain nothing (fun _ -> Alcotest.fail "called") with
    | () -> Alcotest.fail "it returned"
    | exception Failure message ->
        yes "says why" (contains message "Lwt has only one loop")
  in
  let try_in run =
    run (fun () ->
        let* () = Lwt.pause () in
        let* () = Concord_lwt.direct refused in
        (* This loop still has its jobs. *)
        let* n =
          Concord_lwt.Promise.await (Concord_lwt.post (fun () -> Lwt.return 1))
        in
        int "a job" 1 n;
        Lwt.return_unit)
  in
  try_in Concord_lwt.run;
  try_in (fun f -> Lwt_main.run (f ()));
  with_domain nothing (fun loop ->
      refused ();
      call loop Lwt.return)

let bad_grace () =
  List.iter
    (fun (grace, shown) ->
      raises "grace"
        (Invalid_argument
           (Printf.sprintf
              "Concord_lwt.with_domain: grace must be at least 0, but is %s"
              shown))
        (fun () ->
          with_domain ~grace (fun () -> Alcotest.fail "created") ignore))
    [ (-1., "-1"); (Float.nan, "nan") ]

(* --- The end --------------------------------------------------------------------- *)

(* Jobs of [f], and those that they post, have ended before the value is closed. *)
let waits_for_jobs grace () =
  traced [ "inner"; "close" ] @@ fun say ->
  let close () = Lwt.return (say "close") in
  let gate = Promise.create () in
  let outer () =
    let* () = Concord_lwt.Promise.await gate in
    let* () = Lwt.pause () in
    let inner () =
      let+ () = Lwt_unix.sleep 0.001 in
      say "inner"
    in
    ignore (Concord_lwt.post inner : unit Promise.t);
    Lwt.return 1
  in
  let job =
    with_domain ?grace ~close nothing (fun loop ->
        let job = Concord_lwt.post outer in
        call loop Lwt.return;
        Promise.fill gate ();
        job)
  in
  int "its value" 1 (Promise.await job)

let cancels_jobs () =
  traced [ "unwound"; "close" ] @@ fun say ->
  let close () = Lwt.return (say "close") in
  let cancellable () =
    Lwt.finalize
      (fun () -> fst (Lwt.task ()))
      (fun () ->
        let+ () = Lwt.pause () in
        say "unwound")
  in
  let job =
    with_domain ~grace:1. ~close nothing (fun loop ->
        let job = Concord_lwt.post cancellable in
        call loop Lwt.return;
        job)
  in
  raises "its promise" Lwt.Canceled (fun () -> Promise.await job)

let leaves_jobs () =
  let never, _ = Lwt.wait () in
  let job =
    with_domain ~grace:0. nothing (fun loop ->
        let job = Concord_lwt.post (fun () -> never) in
        call loop Lwt.return;
        job)
  in
  raises "its promise" Concord_lwt.No_loop (fun () -> Promise.await job)

(* A loop that has ended is not another one. *)
let after_the_end () =
  let old = with_domain nothing Fun.id in
  let refused () =
    raises "ended" Concord_lwt.No_loop (fun () ->
        call old (fun () -> Alcotest.fail "called"))
  in
  refused ();
  with_domain nothing (fun loop ->
      refused ();
      call loop Lwt.return)

(* --- Cancellation ------------------------------------------------------------------ *)

let cancelling =
  List.filter (fun (h : Test_host.t) -> Option.is_some h.cancel) hosts

let on_each_cancelling f =
  List.map
    (fun (host : Test_host.t) ->
      test host.name (fun () -> host.run (fun _ -> f (Option.get host.cancel))))
    cancelling

let cancelled_in_create cancel =
  let creating = Promise.create () and cancelled = ref false in
  let create () =
    let never, _ = Lwt.task () in
    Lwt.on_cancel never (fun () -> cancelled := true);
    Promise.fill creating ();
    never
  and close () = Alcotest.fail "closed"
  and f _ = Alcotest.fail "called" in
  cancel
    (fun () -> with_domain ~close create f)
    ~after:(fun () -> Promise.await creating);
  yes "its promise was cancelled" !cancelled

(* [create] takes no notice. *)
let created_after_all cancel =
  let creating = Promise.create () and closed = ref 0 in
  let create () =
    Promise.fill creating ();
    Lwt.catch
      (fun () -> fst (Lwt.task ()))
      (fun _ -> Lwt.map (fun () -> 5) (Lwt.pause ()))
  and close n =
    closed := n;
    Lwt.return_unit
  and f _ = Alcotest.fail "called" in
  cancel
    (fun () -> with_domain ~close create f)
    ~after:(fun () -> Promise.await creating);
  int "closed" 5 !closed

let cancelled_in_f cancel =
  let inside = Promise.create () and closed = ref false in
  let close () =
    let+ () = Lwt.pause () in
    closed := true
  in
  cancel
    (fun () ->
      with_domain ~close nothing (fun _ ->
          Promise.fill inside ();
          Promise.await (Promise.create ())))
    ~after:(fun () -> Promise.await inside);
  yes "closed" !closed

(* A domain can't end before its threads, and Lwt keeps the threads of [Lwt_preemptive]. *)
let detached () =
  for n = 1 to 3 do
    int "detached" (2 * n)
      (with_domain nothing (fun loop ->
           call loop (fun () -> Lwt_preemptive.detach (fun n -> 2 * n) n)))
  done;
  int "no thread is left" 0 (Lwt_preemptive.nbthreads ());
  let _, most = Lwt_preemptive.get_bounds () in
  yes "there may be some again" (most > 0)

let detached_before_failure () =
  let create () =
    let+ () = Lwt_preemptive.detach ignore () in
    culprit ()
  in
  raises "create" Boom (fun () -> with_domain create ignore)

(* The call ends before the thread does. *)
let busy_thread () =
  let may_end = Promise.create () and has_begun = Promise.create () in
  let blocks () =
    Promise.fill has_begun ();
    Promise.await may_end
  in
  with_domain ~grace:0.05 nothing (fun _ ->
      ignore
        (Concord_lwt.post (fun () -> Lwt_preemptive.detach blocks ())
          : unit Promise.t);
      Promise.await has_begun);
  no "ended" (Promise.is_resolved may_end);
  Promise.fill may_end ();
  (* The next tests need the loop. *)
  eventually "the domain that was left has ended" (fun () ->
      match with_domain nothing ignore with
      | () -> true
      | exception Failure _ -> false)

let () =
  Check.run "Concord_lwt.with_domain"
    [
      ("the whole", on_each whole);
      ("others run meanwhile", on_each others_run);
      ("create fails", on_each create_fails);
      ("f raises", on_each f_raises);
      ( "other failures",
        [
          test "twenty, one after the other" again;
          test "close" close_fails;
          test "the loop" loop_dies;
          test "another loop" another_loop;
          test "grace" bad_grace;
        ] );
      ( "the end",
        [
          test "waits for jobs" (waits_for_jobs None);
          test "waits for jobs, without a bound"
            (waits_for_jobs (Some Float.infinity));
          test "cancels jobs" cancels_jobs;
          test "leaves jobs" leaves_jobs;
          test "after the end" after_the_end;
          test "ends threads of Lwt_preemptive" detached;
          test "ends them after a failure" detached_before_failure;
          test "leaves a thread that is busy" busy_thread;
        ] );
      ("cancelled in create", on_each_cancelling cancelled_in_create);
      ("created after all", on_each_cancelling created_after_all);
      ("cancelled in f", on_each_cancelling cancelled_in_f);
    ]
