(* Compares each structure's functions with its steps, performed in each of the driver's
   ways, and with a description over lists. The same CONCORD_SEED draws the same commands. *)

open Concord_test_support.Check

let () =
  Printf.printf "CONCORD_SEED=%d\n%!" Concord_test_support.Race.seed;
  let case i (Compared.Structure { name; _ } as structure) =
    test name (Compared.compared i structure)
  in
  run "steps"
    [
      ("locks", List.mapi case Locks.all);
      ("values", List.mapi (fun i -> case (100 + i)) Boxes.all);
      ("barriers", List.mapi (fun i -> case (200 + i)) Barriers.all);
      ("resources", List.mapi (fun i -> case (300 + i)) Resources.all);
      ("a handler raises at every allocation", Barriers.interrupted);
    ]
