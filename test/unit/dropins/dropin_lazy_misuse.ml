(* Exceptions of lazy values, among them [Undefined] for a value that needs itself. *)

let say fmt = Printf.printf (fmt ^^ "\n")

let outcome t =
  match Lazy.force t with
  | v -> string_of_int v
  | exception Lazy.Undefined -> "Undefined"
  | exception e -> Printexc.to_string e

let report name t =
  let first = outcome t in
  let second = outcome t in
  say "%s: %s, then %s; is_val: %b" name first second (Lazy.is_val t)

let counted () =
  let runs = ref 0 in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        failwith (Printf.sprintf "failure %d" !runs))
  in
  report "a failure" t;
  report "what needs it" (Lazy.map succ t);
  report "what would be mapped" (Lazy.map_val succ t);
  say "it was computed %d time(s)" !runs

let tie f =
  let t = ref (Lazy.from_val 0) in
  t := Lazy.from_fun (fun () -> f !t);
  !t

let cycles () =
  report "itself" (tie (fun t -> Lazy.force t + 1));
  report "by map" (tie (fun t -> Lazy.force (Lazy.map succ t)));
  report "by force_val" (tie (fun t -> Lazy.force_val t));
  report "caught" (tie (fun t -> try Lazy.force t with Lazy.Undefined -> 7));
  let a = ref (Lazy.from_val 0) in
  let b = Lazy.from_fun (fun () -> Lazy.force !a) in
  a := Lazy.from_fun (fun () -> Lazy.force b);
  report "one of two" !a;
  report "the other" b;
  say "Stdlib's: %b" (Lazy.Undefined = Stdlib.Lazy.Undefined)

(* An exception leaves the computation, and the code around it as well. *)
let unwinding () =
  let t = Lazy.from_fun (fun () -> raise Exit) in
  let u =
    Lazy.from_fun (fun () ->
        Fun.protect
          (fun () -> Lazy.force t)
          ~finally:(fun () -> say "  finally"))
  in
  report "unwound" u;
  let v = Lazy.from_fun (fun () -> try Lazy.force u with Exit -> 3) in
  report "handled" v

let () =
  counted ();
  cycles ();
  unwinding ()
