(* Async's only scheduler belongs to the thread that started it. *)
let hosts =
  Matrix.Absent
    { names = [ "Async" ]; reason = "in a program of its own: test_async" }
