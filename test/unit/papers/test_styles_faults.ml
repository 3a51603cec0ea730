(* The faults of the promise monad as it was published. Each check must fail on that code
   and hold for ours. *)

open Concord_test_support
open Check

exception Boom

module type IMPLEMENTATION = sig
  type 'a t

  val ( >>= ) : 'a t -> ('a -> 'b t) -> 'b t
  val return : 'a -> 'a t
  val spawn : (unit -> unit t) -> unit
  val yield : unit -> unit t
  val halt : unit -> unit t
  val start : unit -> unit
  val stop : unit -> unit t

  type 'a mvar

  val make_mvar : unit -> 'a mvar
  val put_mvar : 'a mvar -> 'a -> unit t
  val take_mvar : 'a mvar -> 'a t
end

(* The checks return the recorded words, the last of which tells how [start] ended. *)
module Checks (I : IMPLEMENTATION) = struct
  open I

  let said f =
    let said = ref [] in
    let say s = said := s :: !said in
    f say;
    List.rev !said

  let says say s () =
    say s;
    return ()

  let start say =
    match start () with
    | () -> say "end"
    | exception Failure s -> say ("failure: " ^ s)
    | exception Boom -> say "boom"
    | exception Concord_styles.Deadlock n ->
        say (Printf.sprintf "deadlock: %d" n)
    | exception _ -> say "another exception"

  let order () =
    said @@ fun say ->
    List.iter (fun s -> spawn (says say s)) [ "a"; "b"; "c" ];
    start say

  let halts () =
    said @@ fun say ->
    spawn (fun () -> halt () >>= says say "after halt");
    start say

  let survive_stop () =
    said @@ fun say ->
    let rec thread n () =
      say (string_of_int n);
      if n = 3 then stop () else yield () >>= thread (n + 1)
    in
    (* Both begin with [yield] in this order. *)
    spawn (fun () -> yield () >>= thread 1);
    spawn (fun () -> yield () >>= thread 1);
    start say;
    spawn (says say "next");
    start say

  let before_start () =
    said @@ fun say ->
    start say;
    spawn (says say "spawned");
    say "start";
    start say

  let stops_at_once () =
    said @@ fun say ->
    spawn (fun () ->
        say "stops";
        stop ());
    start say

  let raises_at_once () =
    said @@ fun say ->
    spawn (fun () ->
        say "raises";
        raise Boom);
    spawn (fun () ->
        say "raises";
        raise Boom);
    start say;
    start say

  let survive_exceptions () =
    said @@ fun say ->
    spawn (fun () ->
        yield () >>= fun () ->
        yield () >>= fun () -> raise Boom);
    spawn (fun () ->
        yield () >>= fun () ->
        yield () >>= fun () -> yield () >>= says say "survived");
    start say;
    start say

  let two_readers () =
    said @@ fun say ->
    let m = make_mvar () in
    let reader name () =
      take_mvar m >>= fun i ->
      say (name ^ string_of_int i);
      return ()
    in
    spawn (fun () -> yield () >>= reader "a");
    spawn (fun () -> yield () >>= fun () -> yield () >>= reader "b");
    spawn (fun () ->
        yield () >>= fun () ->
        yield () >>= fun () ->
        yield () >>= fun () ->
        put_mvar m 1 >>= fun () -> put_mvar m 2);
    start say

  let two_writers () =
    said @@ fun say ->
    let m = make_mvar () in
    List.iter (fun i -> spawn (fun () -> put_mvar m i)) [ 1; 1; 1 ];
    spawn (fun () ->
        yield () >>= fun () ->
        take_mvar m >>= fun i ->
        say (string_of_int i);
        take_mvar m >>= fun i ->
        say (string_of_int i);
        take_mvar m >>= fun i ->
        say (string_of_int i);
        return ());
    start say

  let all =
    [
      ("threads start in the order of spawn", order);
      ("halt ends", halts);
      ("no thread survives stop", survive_stop);
      ("nothing runs before start, again", before_start);
      ("stop, at once", stops_at_once);
      ("an exception, at once", raises_at_once);
      ("no thread survives an exception", survive_exceptions);
      ("two readers", two_readers);
      ("two writers", two_writers);
    ]
end

(* The results for the published code and for ours, in the order of [all]. *)
let expected =
  [
    ([ "c"; "b"; "a"; "end" ], [ "a"; "b"; "c"; "end" ]);
    ([ "after halt"; "end" ], [ "end" ]);
    ( [ "1"; "1"; "2"; "2"; "3"; "end"; "next"; "failure: fulfill" ],
      [ "1"; "1"; "2"; "2"; "3"; "end"; "next"; "end" ] );
    ( [ "end"; "spawned"; "start"; "failure: fulfill" ],
      [ "end"; "start"; "spawned"; "end" ] );
    ([ "stops"; "another exception" ], [ "stops"; "end" ]);
    ([ "raises"; "boom"; "failure: fulfill" ], [ "raises"; "boom"; "end" ]);
    ([ "boom"; "failure: fulfill" ], [ "boom"; "end" ]);
    ([ "b1"; "end" ], [ "a1"; "b2"; "end" ]);
    ([ "failure: put_mvar" ], [ "1"; "1"; "1"; "end" ]);
  ]

let check (i, (name, (theirs, ours))) =
  test name (fun () ->
      let module Fresh = Promise_monad.Make () in
      let module Published = Checks (Fresh) in
      let module Ours = Checks (Concord_styles.Promise) in
      strings "as published" theirs ((snd (List.nth Published.all i)) ());
      strings "ours" ours ((snd (List.nth Ours.all i)) ()))

(* [start] returns although a thread waits forever, and doesn't raise. *)
let deadlock () =
  let module Published = Promise_monad.Make () in
  Published.(spawn (fun () -> take_mvar (make_mvar ())));
  Published.start ()

(* Threads that could still run stay in the queue after [stop]. They would run at the next
   [start], but that fails, because it starts all over. *)
let survivors () =
  let module Published = Promise_monad.Make () in
  traced [ "survived" ] @@ fun say ->
  let open Published in
  spawn (fun () ->
      yield () >>= fun () ->
      say "survived";
      return ());
  spawn (fun () -> yield () >>= fun () -> return ());
  spawn (fun () -> yield () >>= stop);
  start ();
  int "left in the queue" 2 (Queue.length ready);
  Queue.iter (fun f -> f ()) ready

let () =
  let module Names = Checks (Concord_styles.Promise) in
  run "Faults in the promise monad"
    [
      ( "both",
        List.mapi
          (fun i (name, _) -> check (i, (name, List.nth expected i)))
          Names.all );
      ( "as published",
        [
          test "a deadlock is not reported" deadlock;
          test "threads survive stop" survivors;
        ] );
    ]
