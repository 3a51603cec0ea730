(* Values of domains, also of those whose numbers share a place in the table. *)

open Concord.Host_kit
open Concord_test_support
open Check

let this () = (Domain.self () :> int)
let numbers () = Domain_local.make (fun () -> ref (this ()))
let is_own t own = Domain_local.get t == own && !own = this ()

let one_after_the_other () =
  let t = numbers () in
  let own = Domain_local.get t in
  let has_its_own () = is_own t (Domain_local.get t) in
  for _ = 1 to 10 do
    yes "that of another domain" (Domain.join (Domain.spawn has_its_own))
  done;
  yes "that of this domain" (is_own t own)

(* So many domains are spawned until one has the place of this one. *)
let places = 64

(* Each has its turns, and says whether its value was the same in all. *)
let has_the_same t turn ~first =
  let own = Domain_local.get t in
  List.for_all
    (fun i ->
      eventually "the other's turn" (fun () ->
          Atomic.get turn = (2 * i) + Bool.to_int (not first));
      let same = is_own t own in
      Atomic.incr turn;
      same)
    (List.init 10 Fun.id)

(* Neither waits for the other one, except at the start. *)
let has_the_same_at_once t begun ~first:_ =
  Atomic.incr begun;
  eventually ~pause:Domain.cpu_relax "the other's start" (fun () ->
      Atomic.get begun = 2);
  let own = Domain_local.get t in
  List.for_all (fun _ -> is_own t own) (List.init 1_000 Fun.id)

let rec in_one_place has_the_same () =
  let t = numbers () and shared = Atomic.make 0 in
  let other () = (this (), has_the_same t shared ~first:false) in
  let domain = Domain.spawn other in
  yes "that of this domain" (has_the_same t shared ~first:true);
  let number, same = Domain.join domain in
  yes "that of the other domain" same;
  if (number - this ()) mod places <> 0 then in_one_place has_the_same ()

(* What a domain had is not kept by the table once the domain has ended. *)
let forgotten () =
  let t = numbers () and kept = Weak.create 1 in
  in_domain (fun () -> Weak.set kept 0 (Some (Domain_local.get t)));
  Gc.full_major ();
  no "kept" (Weak.check kept 0);
  (* the table is still there *)
  yes "that of this domain" (is_own t (Domain_local.get t))

let () =
  run "Domain_local"
    [
      ( "values",
        [
          test "of domains one after the other" one_after_the_other;
          test "of two that have one place" (in_one_place has_the_same);
          test "of two that have one place, at once"
            (in_one_place has_the_same_at_once);
          test "of a domain that has ended" forgotten;
        ] );
    ]
