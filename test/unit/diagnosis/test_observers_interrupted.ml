(* Signal handlers that raise while the diagnosis notes a wait. No resumer and no value may be lost,
   whatever CONCORD_DEBUG says. *)

open Concord.Tools
open Concord_test_support
open Concord__diagnosis
module Late = Concord__core__Late
module Target = Concord__core__Target

let who = Concord__core__Who_is.this_thread ()
let ask () = who
let box = ref 0
let target = Target.make "take" box (fun _ -> [])

(* Allocated before, because an allocation may raise. *)
let ok = Ok 1
let found = Some 42

(* Allocates in C, so [Exit] is raised at the next point where OCaml looks for signals, even if that
   is the beginning of a function. *)
let pend () = ignore (Sys.opaque_identity (Bytes.create 8) : bytes)

(* The structure's side. It keeps the resumer, or has a value. *)
type side = {
  mutable entered : bool;
  mutable resumer : int Concord_suspend.resumer;
  mutable was_called : bool;
}

let refuse _ = false
let make () = { entered = false; resumer = refuse; was_called = false }

let block side answer resumer =
  side.resumer <- resumer;
  side.entered <- true;
  pend ();
  answer

let hosts side _ =
  side.was_called <- true;
  true

(* The next wait would raise it. *)
let drop_late () = try Late.raise_kept () with Exit -> ()

(* --- A wait with a stack ------------------------------------------------------------ *)

type during = {
  during :
    (((int, exn) result -> bool) -> int option) ->
    ((((int, exn) result -> bool) -> int option) -> int) ->
    int;
}

let a_wait { during } () =
  let side = make () and woken = ref false and value = ref 0 in
  let resumer = hosts side in
  let suspend block =
    let answer = block resumer in
    pend ();
    woken := Option.is_none answer && side.resumer ok;
    pend ();
    42
  in
  let block = block side None in
  let wait () = value := during block suspend
  and check what =
    drop_late ();
    Check.yes ("the value is kept: " ^ what) (!value = 42 || not side.entered);
    Check.yes
      ("the resumer is called: " ^ what)
      ((!woken && side.was_called) || not side.entered)
  in
  (wait, check)

(* --- An operation without one --------------------------------------------------------- *)

type operation = {
  operation :
    (((int, exn) result -> bool) -> int option) ->
    ((int, exn) result -> bool) ->
    int option;
}

let an_operation { operation } answer () =
  let side = make () and woken = ref false and returned = ref false in
  let resumer = hosts side in
  let block = operation (block side answer) in
  let perform () =
    pend ();
    (match block resumer with Some _ | None -> returned := true);
    pend ();
    if Option.is_none answer then woken := side.resumer ok
  and check what =
    drop_late ();
    Check.yes ("the answer is kept: " ^ what) (!returned || not side.entered);
    Check.yes
      ("the resumer is called: " ^ what)
      (Option.is_some answer || (!woken && side.was_called) || not side.entered)
  in
  (perform, check)

(* --- Waits that are counted ------------------------------------------------------------ *)

(* The operations of the cases above never end, so the number doesn't begin at 0. *)
let counted () =
  List.fold_left
    (fun sum { Measures.waiting_now; _ } -> sum + waiting_now)
    0 (Measures.all_waits ())

let no_more ~than what =
  drop_late ();
  Check.int ("no wait is counted: " ^ what) than (counted ())

let a_counted_wait () =
  let before = counted () in
  let suspend block =
    ignore (block refuse : int option);
    pend ();
    42
  in
  let wait () =
    ignore (Measures.during [ target; target ] suspend (fun _ -> None) : int);
    pend ()
  in
  (wait, no_more ~than:before)

(* The operation may end before its caller has counted it. *)
let a_counted_operation ~ends_at_once () =
  let side = make () and ended = ref ignore and before = counted () in
  let block resumer =
    side.resumer <- resumer;
    if ends_at_once then !ended ();
    pend ();
    None
  in
  let block, over = Measures.operation target block in
  ended := over;
  let perform () =
    pend ();
    ignore (block refuse : int option);
    pend ();
    over ()
  and check what =
    over ();
    no_more ~than:before what
  in
  (perform, check)

(* --- All ------------------------------------------------------------------------------- *)

let waits =
  [
    ( "waits",
      {
        during =
          (fun block suspend -> Waits.during ~who [ target ] suspend block);
      } );
    ( "trace",
      {
        during =
          (fun block suspend ->
            Tracing.during ~who ~ask [ target ] suspend block);
      } );
    ( "metrics",
      {
        during = (fun block suspend -> Measures.during [ target ] suspend block);
      } );
    ( "leaks",
      {
        during =
          (fun block suspend ->
            suspend (fun resumer ->
                block
                  (Leak_guards.guard
                     (fun () -> Printexc.get_callstack 1)
                     resumer)));
      } );
  ]

let operations =
  let of_pair f = { operation = (fun block -> fst (f block)) } in
  let traced =
    of_pair (fun block -> Tracing.operation ~host:"lwt" ~ask target block)
  in
  [
    ( "waits",
      of_pair (fun block -> Waits.operation ~host:"lwt" target block),
      None );
    ("trace", traced, None);
    ("trace, a value is there", traced, found);
    ("metrics", of_pair (fun block -> Measures.operation target block), None);
  ]

(* A trace takes a stack at each wait. That of a thread is short. *)
let in_a_thread f () =
  let result = ref (Ok ()) in
  let run () = try f () with e -> result := Error e in
  Thread.join (Thread.create run ());
  Result.iter_error raise !result

let test what make =
  Interrupting.only
    (Check.test what (in_a_thread (fun () -> Interrupting.all_of make)))

let () =
  Trace.start ();
  Check.run "Observers, interrupted"
    [
      ( "a wait",
        List.concat_map (fun (name, wait) -> test name (a_wait wait)) waits );
      ( "an operation without a stack",
        List.concat_map
          (fun (name, operation, answer) ->
            test name (an_operation operation answer))
          operations );
      ( "the number of waiting tasks",
        test "a wait" a_counted_wait
        @ test "an operation" (a_counted_operation ~ends_at_once:false)
        @ test "it ends at once" (a_counted_operation ~ends_at_once:true) );
    ]
