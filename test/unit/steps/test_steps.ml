(* Compares each structure's functions with its steps, performed in each of the driver's
   ways, and some with a description over lists. The same
   CONCORD_SEED draws the same commands. *)

open Concord_test_support.Check

let () =
  Printf.printf "CONCORD_SEED=%d\n%!" Concord_test_support.Race.seed;
  let case i (Compared.Structure { name; _ } as structure) =
    test name (Compared.compared i structure)
  in
  (* In the commands of this seed, a task that had come in vain withdraws while it is the first
     of those that stand aside. *)
  let found =
    let structure = List.nth Locks.all 8 in
    [ test "withdrawn" (Compared.compared ~seed:15068162 8 structure) ]
  in
  run "steps"
    [
      ("a seed that has found a fault", found);
      ("locks", List.mapi case Locks.all);
      ("values", List.mapi (fun i -> case (100 + i)) Boxes.all);
      ("barriers", List.mapi (fun i -> case (200 + i)) Barriers.all);
      ("a handler raises at every allocation", Barriers.interrupted);
    ]
