(* When a program starts, the library checks what it assumes about the compiler's
   representation of values. Each check must pass here, and must fail where it should. *)

module Identity = Concord__core__Identity

(* --- Closures --------------------------------------------------------------- *)

let check ?(same_code = Identity.same_code)
    ?(is_closed_over = Identity.is_closed_over) () =
  Identity.check ~same_code ~is_closed_over

(* Runs the check as if closures were represented in another way. *)
let fails check () =
  match check () with
  | () -> Alcotest.fail "an unknown representation passes"
  | exception Failure message ->
      let is_ours = String.starts_with ~prefix:"Concord: this compiler" in
      Alcotest.(check bool) "a clear message" true (is_ours message)

let all_the_same _ _ = true
let none_the_same _ _ = false
let by_identity f g = f == g

(* --- Erased slots ----------------------------------------------------------- *)

type 'a slot = { mutable value : 'a; index : int }

(* A slot of any type may hold nothing, and the collector must be able to scan it. *)
let erased () =
  let floats = { value = 1.5; index = 0 } in
  let strings = { value = String.make 10 'a'; index = 1 } in
  floats.value <- Identity.nothing ();
  strings.value <- Identity.nothing ();
  Gc.compact ();
  Alcotest.(check int) "the slots are there" 1 (floats.index + strings.index);
  Alcotest.(check bool) "an integer" true (Identity.is_immediate strings.value)

let () =
  let test name f = Alcotest.test_case name `Quick f in
  Alcotest.run "Layout"
    [
      ( "closures",
        [
          test "the compiler's" check;
          test "all the same" (fails (check ~same_code:all_the_same));
          test "none the same" (fails (check ~same_code:none_the_same));
          test "by identity" (fails (check ~same_code:by_identity));
          test "over everything" (fails (check ~is_closed_over:all_the_same));
          test "over nothing" (fails (check ~is_closed_over:none_the_same));
        ] );
      ("slots", [ test "erased" erased ]);
    ]
