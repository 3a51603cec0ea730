(* The scenarios that follow from a description notice each fault of a structure, and none in a
   structure without a fault. *)

let notices ~noticed fault =
  let module Scenarios = Described.Make (Box.Described (struct
    let fault = fault
  end))
  in
  Model.failed := false;
  Scenarios.some (if noticed then 200 else 10);
  !Model.failed

let expect name fault ~noticed =
  if notices ~noticed fault <> noticed then begin
    Printf.printf "UNEXPECTED %s: %s\n" name
      (if noticed then "not noticed" else "noticed");
    exit 1
  end

let () =
  Model.silent := true;
  expect "none" Nothing ~noticed:false;
  List.iter
    (fun (name, fault) -> expect name fault ~noticed:true)
    [
      ("served out of order", Box.Last_first);
      ("a cancelled task is served", Refusal_ignored);
      ("a cancelled task stays", Withdrawn_stay);
      ("close ignores a task", Close_wakes_one);
      ("no wake-up", Put_wakes_nobody);
      ("a wake-up is lost", Enlists_too_late);
      ("a value is taken twice", Taken_twice);
    ]
