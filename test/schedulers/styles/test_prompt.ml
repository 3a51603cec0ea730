(* Prompts alone, on which some styles are built. *)

open Concord_styles
open Concord_test_support
open Check
open Prompt

exception Boom

let[@inline never] explode () = if true then raise Boom
let many = if instrumented then 10_000 else 1_000_000
let used_twice = Effect.Continuation_already_resumed

let unhandled what f =
  match f () with
  | _ -> Alcotest.failf "%s: there is a prompt" what
  | exception Effect.Unhandled _ -> ()

let laws () =
  let p = new_prompt () in
  int "push_prompt p (fun () -> v)" 1 (push_prompt p (fun () -> 1));
  int "the continuation is dropped" 2
    (push_prompt p (fun () -> 1 + take_subcont p (fun _ -> 2)));
  int "... and pushed" 13
    (push_prompt p (fun () ->
         1 + take_subcont p (fun k -> 10 + push_subcont k (fun () -> 2))));
  int "with its prompt" 13
    (push_prompt p (fun () ->
         1
         + take_subcont p (fun k -> 10 + push_prompt_subcont p k (fun () -> 2))));
  int "shift0" 30 (push_prompt p (fun () -> 1 + shift0 p (fun k -> 10 * k 2)))

let is_removed () =
  let p = new_prompt () in
  unhandled "by take_subcont" (fun () ->
      push_prompt p (fun () ->
          take_subcont p (fun _ -> take_subcont p (fun _ -> 1))));
  unhandled "push_subcont pushes no prompt" (fun () ->
      push_prompt p (fun () ->
          take_subcont p (fun k ->
              push_subcont k (fun () -> take_subcont p (fun _ -> 1)))));
  unhandled "nor after it" (fun () ->
      push_prompt p (fun () ->
          let v = take_subcont p (fun k -> push_subcont k (fun () -> 1)) in
          v + take_subcont p (fun _ -> 1)));
  int "push_prompt_subcont pushes a prompt" 7
    (push_prompt p (fun () ->
         take_subcont p (fun k ->
             push_prompt_subcont p k (fun () -> take_subcont p (fun _ -> 7)))));
  unhandled "after the end" (fun () -> take_subcont p (fun _ -> 1));
  unhandled "another one" (fun () ->
      push_prompt p (fun () -> take_subcont (new_prompt ()) (fun _ -> 1)))

(* The innermost prompt counts. *)
let nested () =
  let p = new_prompt () in
  int "inner" 102
    (push_prompt p (fun () ->
         100 + push_prompt p (fun () -> 1 + take_subcont p (fun _ -> 2))));
  int "inner, then outer" 5
    (push_prompt p (fun () ->
         100
         + push_prompt p (fun () ->
             1 + take_subcont p (fun _ -> 10 + take_subcont p (fun _ -> 5)))));
  (* The part that was pushed without a prompt belongs to the outer one. *)
  int "a part of a part" 1211
    (push_prompt p (fun () ->
         1000
         + push_prompt p (fun () ->
             1
             + take_subcont p (fun k ->
                 10
                 + push_subcont k (fun () ->
                     take_subcont p (fun k' -> push_subcont k' (fun () -> 200)))))))

let several () =
  let p = new_prompt () and q = new_prompt () in
  int "over another prompt" 1
    (push_prompt p (fun () ->
         int_of_string
           (push_prompt q (fun () ->
                string_of_int (take_subcont p (fun _ -> 1))))));
  (* The other prompt is included in the part that is taken. *)
  let r = new_prompt () in
  int "taken with it" 15
    (push_prompt p (fun () ->
         10
         + push_prompt r (fun () ->
             let i = take_subcont p (fun k -> push_subcont k (fun () -> 4)) in
             100 + take_subcont r (fun _ -> i + 1))))

let under_another () =
  let p = new_prompt () and q = new_prompt () in
  let k =
    match
      push_prompt p (fun () -> `End (1 + take_subcont p (fun k -> `Kept k)))
    with
    | `Kept k -> k
    | `End _ -> Alcotest.fail "it has ended"
  in
  let value = function `End i -> i | `Kept _ -> Alcotest.fail "taken" in
  int "pushed elsewhere" 11
    (push_prompt q (fun () ->
         value
           (push_prompt_subcont p k (fun () -> take_subcont q (fun _ -> 11)))));
  let q = new_prompt () in
  let k =
    match
      push_prompt p (fun () -> `End (1 + take_subcont p (fun k -> `Kept k)))
    with
    | `Kept k -> k
    | `End _ -> Alcotest.fail "it has ended"
  in
  int "with another prompt" 12
    (value
       (push_prompt_subcont q k (fun () ->
            take_subcont q (fun k -> push_subcont k (fun () -> 11)))))

let exceptions () =
  let p = new_prompt () in
  raises "through a prompt" Boom (fun () -> push_prompt p explode);
  raises_at "explode" (fun () -> push_prompt (new_prompt ()) explode);
  raises "in take_subcont's function" Boom (fun () ->
      push_prompt p (fun () -> take_subcont p (fun _ -> raise Boom)));
  int "raised where it was taken" 9
    (push_prompt (new_prompt ()) (fun () ->
         let q = new_prompt () in
         push_prompt q (fun () ->
             try take_subcont q (fun k -> push_subcont k (fun () -> raise Boom))
             with Boom -> 9)));
  traced [ "finaliser" ] @@ fun say ->
  let q = new_prompt () in
  raises "finalisers of the pushed part" Boom (fun () ->
      push_prompt q (fun () ->
          Fun.protect
            ~finally:(fun () -> say "finaliser")
            (fun () ->
              take_subcont q (fun k -> push_subcont k (fun () -> raise Boom)))))

let once () =
  let p = new_prompt () in
  raises "push_subcont" used_twice (fun () ->
      push_prompt p (fun () ->
          take_subcont p (fun k ->
              push_subcont k ignore;
              push_subcont k ignore)));
  raises "push_prompt_subcont" used_twice (fun () ->
      push_prompt p (fun () ->
          take_subcont p (fun k ->
              push_prompt_subcont p k ignore;
              push_prompt_subcont p k ignore)));
  raises "shift0" used_twice (fun () ->
      push_prompt p (fun () ->
          shift0 p (fun k ->
              k ();
              k ())));
  (* After a failed use, the prompt stays inactive. *)
  unhandled "nothing is pushed" (fun () ->
      push_prompt p (fun () ->
          take_subcont p (fun k ->
              push_subcont k ignore;
              (try push_prompt_subcont p k ignore with _ -> ());
              take_subcont p ignore)))

type steps = End | Step of int * (unit -> steps)

let generator () =
  let p = new_prompt () in
  let steps () =
    push_prompt p (fun () ->
        for i = 1 to 3 do
          shift0 p (fun k -> Step (i, k))
        done;
        End)
  in
  let rec all = function End -> [] | Step (i, k) -> i :: all (k ()) in
  yes "generated" (all (steps ()) = [ 1; 2; 3 ])

let meanings () =
  let open struct
    type _ Effect.t += Get : int Effect.t | Fail : int Effect.t
  end in
  let meaning (type a) (e : a Effect.t) : (a, int) body option =
    match e with
    | Get -> Some (fun k -> k (Ok 20))
    | Fail -> Some (fun k -> k (Error Boom))
    | _ -> None
  in
  let p = new_prompt () in
  let f () =
    1
    + (try Effect.perform Fail with Boom -> 2)
    + Effect.perform Get
    + shift0 p (fun k -> k 300)
    + Effect.perform Get
  in
  int "meaning" 343 (push_prompt_with { meaning } p f);
  unhandled "without" (fun () -> push_prompt p f);
  int "the outer handler's" 20
    (push_prompt_with { meaning } p (fun () ->
         push_prompt (new_prompt ()) (fun () -> Effect.perform Get)))

let constant_stack () =
  let p = new_prompt () and count = ref 0 in
  push_prompt p (fun () ->
      for _ = 1 to many do
        shift0 p (fun k -> k ());
        incr count
      done);
  int "shift0" many !count;
  (* A scheduler below resumes them, as with the threads. *)
  let ready = Queue.create () in
  push_prompt p (fun () ->
      for _ = 1 to many do
        shift0 p (fun k -> Queue.push k ready);
        incr count
      done);
  let rec go () =
    match Queue.take_opt ready with
    | Some k ->
        k ();
        go ()
    | None -> ()
  in
  go ();
  int "by a scheduler" (2 * many) !count

let tests =
  [
    test "laws" laws;
    test "the prompt is removed" is_removed;
    test "a prompt in itself" nested;
    test "several prompts" several;
    test "pushed under another prompt" under_another;
    test "exceptions" exceptions;
    test "used once" once;
    test "a generator" generator;
    test "effects" meanings;
    test "constant stack" constant_stack;
  ]

let () = Check.run "Prompt" [ ("Prompt", tests) ]
