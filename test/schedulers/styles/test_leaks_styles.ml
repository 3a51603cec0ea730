(* The detection of leaks, for threads of the styles. *)

open Concord_test_support
open Lost

let in_direct (module S : Concord_styles.Direct) wait =
  let was_told = ref false in
  S.spawn (fun () -> was_told := told wait);
  S.spawn (fun () -> collect_until was_told S.yield);
  S.start ();
  !was_told

(* The report must be about the leak instead of the deadlock, because a deadlock says less. *)
let alone (module S : Concord_styles.Direct) wait =
  let was_told = ref false in
  S.spawn (fun () -> was_told := told wait);
  S.start ();
  !was_told

let in_fifo (module S : Concord_styles.Direct) wait =
  Concord_fifo.run (fun () ->
      let was_told = ref false in
      S.spawn (fun () -> was_told := told wait);
      S.start ();
      !was_told)

let stopped (module S : Concord_styles.Direct) () =
  let ended = ref false in
  S.spawn (fun () ->
      try waits_in_vain () with Concord_styles.Ended -> ended := true);
  S.spawn (fun () ->
      S.yield ();
      S.stop ());
  S.start ();
  Check.yes "it is unwound" !ended

(* The putter uses the box, and so keeps the taker alive. *)
let exchanged (module S : Concord_styles.Direct) () =
  let got = ref 0 and box = S.make_mvar () in
  S.spawn (fun () -> got := S.take_mvar box);
  S.spawn (fun () ->
      S.yield ();
      Gc.full_major ();
      S.put_mvar box 1);
  S.start ();
  Check.int "taken" 1 !got

let exchanged_trampolined () =
  let open Concord_styles.Trampoline in
  let got = ref 0 in
  let box = make_mvar () in
  spawn (fun () -> take_mvar box >>= fun v -> got := v);
  spawn (fun () ->
      yield >>= fun () ->
      Gc.full_major ();
      put_mvar box 1 >>= ignore);
  start ();
  Check.int "taken" 1 !got

let from_a_domain () =
  let open Concord_styles.Trampoline in
  let got = ref 0 and box = make_mvar () in
  let domain =
    Domain.spawn (fun () ->
        for i = 1 to 10 do
          Gc.full_major ();
          Concord.Mvar.put box i
        done)
  in
  let rec take n =
    if n > 0 then (
      take_mvar box >>= fun v ->
      got := !got + v;
      take (n - 1))
  in
  spawn (fun () -> take 10);
  start ();
  Domain.join domain;
  Check.int "taken" 55 !got

(* An operation in an indirect style raises outside of any [try], so the set ends. *)
let turns = 100

module Trampolined (S : Concord_styles.Trampolined) = struct
  let[@inline never] takes_in_vain () =
    S.take_mvar (S.make_mvar ()) ignore;
    ignore (Sys.opaque_identity () : unit)

  let rec collect left =
    (try raise Exit with Exit -> ());
    Gc.full_major ();
    if left > 0 then S.(yield >>= fun () -> collect (left - 1))

  let spawn_in_vain () = S.spawn takes_in_vain
  let spawn_others () = S.spawn (fun () -> collect turns)

  let direct wait =
    let was_told = ref false in
    S.spawn (fun () -> S.direct (fun () -> was_told := told wait) ignore);
    spawn_others ();
    S.start ();
    !was_told
end

module Monadic (S : Concord_styles.Monadic) = struct
  let[@inline never] takes_in_vain () =
    S.(take_mvar (make_mvar ()) >>= fun () -> skip)

  let rec collect left =
    (try raise Exit with Exit -> ());
    Gc.full_major ();
    if left > 0 then S.(yield () >>= fun () -> collect (left - 1)) else S.skip

  let spawn_in_vain () = S.spawn takes_in_vain
  let spawn_others () = S.spawn (fun () -> collect turns)

  let direct wait =
    let was_told = ref false in
    S.spawn (fun () -> S.direct (fun () -> was_told := told wait));
    spawn_others ();
    S.start ();
    !was_told
end

module type Indirect = sig
  val spawn_in_vain : unit -> unit
  val spawn_others : unit -> unit
  val direct : (unit -> unit) -> bool
end

(* In the continuation monad the report shows no caller, because an operation isn't called
   there. It is a value that is performed. *)
let ends_the_set ~start ~shows_caller ~others (module S : Indirect) () =
  let was_told, report =
    with_report ~reports:1 (fun () ->
        S.spawn_in_vain ();
        if others then S.spawn_others ();
        told start)
  in
  Check.yes "the set gets the exception" was_told;
  Check.int "reports" 1 (count report gone);
  if shows_caller then
    Check.yes "the report shows the operation's caller"
      (Check.contains report "takes_in_vain")

let () =
  restart ();
  let open Concord_styles in
  let open Check in
  let directs : (string * (module Direct)) list =
    [ ("callcc", (module Callcc)); ("delimited", (module Delimited)) ]
  in
  let direct (name, style) =
    [
      test (name ^ ", others are ready") (found `Both (in_direct style));
      test (name ^ ", alone") (found `Both (alone style));
      test (name ^ ", in fifo") (found `Both (in_fifo style));
    ]
  in
  let indirect (name, style, start, shows_caller) =
    let module S = (val style : Indirect) in
    [
      test
        (name ^ ", others are ready")
        (ends_the_set ~start ~shows_caller ~others:true style);
      test (name ^ ", alone")
        (ends_the_set ~start ~shows_caller ~others:false style);
      test (name ^ ", direct") (found `Both S.direct);
    ]
  in
  let indirects =
    [
      ( "trampoline",
        (module Trampolined (Trampoline) : Indirect),
        Trampoline.start,
        true );
      ("events", (module Trampolined (Events) : Indirect), Events.start, true);
      ( "continuation",
        (module Monadic (Continuation) : Indirect),
        Continuation.start,
        false );
      ("promise", (module Monadic (Promise) : Indirect), Promise.start, true);
    ]
  in
  run "CONCORD_DEBUG=leaks, styles"
    [
      ("direct", List.concat_map direct directs);
      ("indirect", List.concat_map indirect indirects);
      ( "nothing to be found",
        List.concat_map
          (fun (name, style) ->
            [
              test (name ^ ", stopped") (nothing (stopped style));
              test (name ^ ", exchanged") (nothing (exchanged style));
            ])
          directs
        @ [
            test "trampoline, exchanged" (nothing exchanged_trampolined);
            test "trampoline, from a domain" (nothing from_a_domain);
          ] );
    ]
