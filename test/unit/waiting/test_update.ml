(* Structure_kit.update while another task changes the state at the worst moment, between
   the read and the compare-and-set. *)

open Concord_test_support
open Check

let update = Concord.Tools.Structure_kit.update

let again () =
  let t = Atomic.make [ "first" ] in
  let calls = ref 0 in
  update t (fun state ->
      incr calls;
      if !calls = 1 then Atomic.set t ("other" :: state);
      "mine" :: state);
  int "calls" 2 !calls;
  strings "none is lost" [ "mine"; "other"; "first" ] (Atomic.get t)

(* If the function returns the same state, nothing is stored, so that state may be out of
   date. *)
let same () =
  let t = Atomic.make [ "first" ] in
  let calls = ref 0 in
  update t (fun state ->
      incr calls;
      Atomic.set t [ "other" ];
      state);
  int "calls" 1 !calls;
  strings "as the other left it" [ "other" ] (Atomic.get t)

let raising () =
  let t = Atomic.make [ "first" ] in
  (match update t (fun _ -> raise Exit) with
  | () -> no "raises" true
  | exception Exit -> ());
  strings "as before" [ "first" ] (Atomic.get t)

let () =
  run "Update"
    [
      ( "an atomic",
        [
          test "again if another task was faster" again;
          test "no change if the state stays the same" same;
          test "an exception leaves the state" raising;
        ] );
    ]
