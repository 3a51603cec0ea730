(* The operators that the styles are built on, by themselves. *)

open Concord_styles
open Concord_test_support
open Check

exception Boom

let[@inline never] explode () = if true then raise Boom
let many = if instrumented then 10_000 else 1_000_000
let used_twice = Effect.Continuation_already_resumed

(* --- Continuations ------------------------------------------------------------- *)

module Continuations = struct
  open Cont

  let in_run f =
    let result = ref None in
    run (fun () -> result := Some (f ()));
    Option.get !result

  let returns () = int "callcc" 3 (in_run (fun () -> callcc (fun _ -> 3)))

  let throws () =
    traced [ "finaliser" ] @@ fun say ->
    int "callcc" 3
      (in_run (fun () ->
           1
           + callcc (fun k ->
               Fun.protect
                 ~finally:(fun () -> say "finaliser")
                 (fun () -> 10 * throw k 2))))

  let escapes () =
    let find p l =
      callcc (fun found ->
          List.iter (fun x -> if p x then throw found (Some x)) l;
          None)
    in
    yes "found"
      (in_run (fun () -> find (fun x -> x > 2) [ 1; 2; 3; 4 ]) = Some 3);
    yes "not found" (in_run (fun () -> find (fun x -> x > 9) [ 1; 2 ]) = None);
    int "to the outer one" 5
      (in_run (fun () ->
           callcc (fun outer -> 1 + callcc (fun _ -> throw outer 5))))

  let exceptions () =
    raises "run" Boom (fun () -> run explode);
    raises_at "explode" (fun () -> run explode);
    raises "after callcc" Boom (fun () ->
        run (fun () ->
            callcc (fun _ -> ());
            explode ()));
    raises "throw_exn" Boom (fun () ->
        run (fun () -> callcc (fun k -> throw_exn k Boom)));
    int "caught around callcc" 1
      (in_run (fun () ->
           try callcc (fun k -> throw_exn k Boom) with Boom -> 1));
    int "raised in callcc" 1
      (in_run (fun () -> try callcc (fun _ -> raise Boom) with Boom -> 1))

  let once () =
    let kept = ref None in
    raises "the second time" used_twice (fun () ->
        run (fun () ->
            callcc (fun k -> kept := Some k);
            throw (Option.get !kept) ()));
    raises "after run" used_twice (fun () ->
        run (fun () -> throw (Option.get !kept) ()))

  let outside () =
    match callcc (fun _ -> ()) with
    | () -> Alcotest.fail "not refused"
    | exception Invalid_argument text ->
        yes "it says what to do" (contains text "Cont.run")

  let fresh_ones () =
    traced [ "a"; "b" ] @@ fun say ->
    run (fun () ->
        say "a";
        throw (fresh (fun () -> say "b")) ());
    raises "with an exception" Boom (fun () ->
        run (fun () -> throw_exn (fresh ignore) Boom))

  (* Two that go on where the other one stopped. *)
  let coroutines () =
    traced [ "a0"; "b0"; "a1"; "b1"; "a2"; "b2" ] @@ fun say ->
    let other = ref None in
    let switch () =
      callcc (fun k ->
          let next = Option.get !other in
          other := Some k;
          throw next ())
    in
    let side name () =
      for i = 0 to 2 do
        say (Printf.sprintf "%s%d" name i);
        switch ()
      done
    in
    run (fun () ->
        other := Some (fresh (side "b"));
        side "a" ())

  let constant_stack () =
    let count = ref 0 in
    let rec go n k =
      if n > 0 then
        callcc (fun k' ->
            incr count;
            throw
              (fresh (fun () ->
                   go (n - 1) k;
                   throw k' ()))
              ())
      else throw k ()
    in
    run (fun () ->
        callcc (fun k ->
            for _ = 1 to many do
              callcc (fun k ->
                  incr count;
                  throw k ())
            done;
            throw k ()));
    run (fun () -> callcc (fun k -> go 1000 k));
    int "count" (many + 1000) !count

  let tests =
    [
      test "it returns" returns;
      test "throw" throws;
      test "escapes" escapes;
      test "exceptions" exceptions;
      test "used once" once;
      test "outside of run" outside;
      test "fresh" fresh_ones;
      test "coroutines" coroutines;
      test "constant stack" constant_stack;
    ]
end

(* --- Prompts --------------------------------------------------------------------- *)

module Prompts = struct
  open Prompt

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
           + take_subcont p (fun k ->
               10 + push_prompt_subcont p k (fun () -> 2))));
    int "shift0" 30 (push_prompt p (fun () -> 1 + shift0 p (fun k -> 10 * k 2)))

  let is_removed () =
    let p = new_prompt () in
    unhandled "by take_subcont" (fun () ->
        push_prompt p (fun () ->
            take_subcont p (fun _ -> take_subcont p (fun _ -> 1))));
    unhandled "push_subcont pushes none" (fun () ->
        push_prompt p (fun () ->
            take_subcont p (fun k ->
                push_subcont k (fun () -> take_subcont p (fun _ -> 1)))));
    unhandled "nor after it" (fun () ->
        push_prompt p (fun () ->
            let v = take_subcont p (fun k -> push_subcont k (fun () -> 1)) in
            v + take_subcont p (fun _ -> 1)));
    int "push_prompt_subcont pushes one" 7
      (push_prompt p (fun () ->
           take_subcont p (fun k ->
               push_prompt_subcont p k (fun () -> take_subcont p (fun _ -> 7)))));
    unhandled "after the end" (fun () -> take_subcont p (fun _ -> 1));
    unhandled "another one" (fun () ->
        push_prompt p (fun () -> take_subcont (new_prompt ()) (fun _ -> 1)))

  (* The last one is meant. *)
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
    (* what was pushed without a prompt belongs to the outer one *)
    int "a part of a part" 1211
      (push_prompt p (fun () ->
           1000
           + push_prompt p (fun () ->
               1
               + take_subcont p (fun k ->
                   10
                   + push_subcont k (fun () ->
                       take_subcont p (fun k' ->
                           push_subcont k' (fun () -> 200)))))))

  let several () =
    let p = new_prompt () and q = new_prompt () in
    int "over another prompt" 1
      (push_prompt p (fun () ->
           int_of_string
             (push_prompt q (fun () ->
                  string_of_int (take_subcont p (fun _ -> 1))))));
    (* the other prompt is part of what is taken *)
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
               try
                 take_subcont q (fun k -> push_subcont k (fun () -> raise Boom))
               with Boom -> 9)));
    traced [ "finaliser" ] @@ fun say ->
    let q = new_prompt () in
    raises "finalisers of what is pushed" Boom (fun () ->
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
    (* a failed use does not wake the prompt *)
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
    (* by a scheduler below, as the threads *)
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
end

(* --- Event queues -------------------------------------------------------------------- *)

module Queues = struct
  open Equeue

  let verdicts () =
    traced [ "reject 1"; "accept 1"; "reject 2"; "accept 2" ] @@ fun say ->
    let t = create () in
    let e = event t in
    let on e name verdict =
      on e (fun i ->
          say (Printf.sprintf "%s %d" name i);
          verdict)
    in
    on e "reject" Reject;
    on e "accept" Accept;
    on e "not asked" Accept;
    add e 1;
    add e 2;
    run t

  let terminated () =
    traced [ "a1"; "b2"; "b3" ] @@ fun say ->
    let t = create () in
    let e = event t in
    let handler name verdict i =
      say (Printf.sprintf "%s%d" name i);
      verdict
    in
    on e (handler "a" Terminate);
    on e (handler "b" Accept);
    List.iter (add e) [ 1; 2; 3 ];
    run t

  let one_shot () =
    traced [ "a1"; "b2"; "c3" ] @@ fun say ->
    let t = create () in
    let e = event t in
    let handler name i = say (Printf.sprintf "%s%d" name i) in
    once e (handler "a");
    once e (handler "b");
    List.iter (add e) [ 1; 2; 3; 4 ];
    once e (handler "c");
    run t;
    (* the fourth one was dropped *)
    run t

  let in_order () =
    traced [ "1"; "a"; "2" ] @@ fun say ->
    let t = create () in
    let numbers = event t and letters = event t in
    on numbers (fun i ->
        say (string_of_int i);
        Accept);
    on letters (fun c ->
        say (String.make 1 c);
        Accept);
    add numbers 1;
    add letters 'a';
    add numbers 2;
    run t

  let any () =
    traced [ "own"; "any reject"; "any number 2"; "any again" ] @@ fun say ->
    let t = create () in
    let numbers : int event = event t and letters = event t in
    on_any t
      {
        handle =
          (fun (type a) (e : a event) (v : a) : verdict ->
            match same e numbers with
            | Some Equal ->
                say (Printf.sprintf "any number %d" v);
                Terminate
            | None ->
                say "any reject";
                Reject);
      };
    on letters (fun c ->
        if c = 'a' then begin
          say "own";
          Accept
        end
        else Reject);
    add letters 'a';
    add letters 'b';
    add numbers 2;
    run t;
    on_any t
      {
        handle =
          (fun _ _ ->
            say "any again";
            Accept);
      };
    add numbers 3;
    run t

  let source () =
    traced [ "3"; "2"; "1" ] @@ fun say ->
    let left = ref 3 and e = ref None in
    let source _ =
      if !left > 0 then begin
        add (Option.get !e) !left;
        decr left
      end
    in
    let t = create ~source () in
    e := Some (event t);
    on (Option.get !e) (fun i ->
        say (string_of_int i);
        Accept);
    run t

  (* Who comes while an event is presented is not asked about it. *)
  let added_meanwhile () =
    traced [ "a1"; "a2"; "b2" ] @@ fun say ->
    let t = create () in
    let e = event t in
    let first = ref true in
    on e (fun i ->
        say (Printf.sprintf "a%d" i);
        if !first then begin
          first := false;
          on e (fun i ->
              say (Printf.sprintf "b%d" i);
              Accept)
        end;
        Reject);
    add e 1;
    add e 2;
    run t

  let re_entrant () =
    traced [ "1 begins"; "2 begins"; "2 ends"; "1 ends"; "3 begins"; "3 ends" ]
    @@ fun say ->
    let t = create () in
    let e = event t in
    on e (fun i ->
        say (Printf.sprintf "%d begins" i);
        if i = 1 then begin
          add e 2;
          run t;
          add e 3
        end;
        say (Printf.sprintf "%d ends" i);
        Accept);
    add e 1;
    run t

  (* Removed in a run within, it is not asked any more. *)
  let removed_meanwhile () =
    traced [ "a1"; "a2"; "b2" ] @@ fun say ->
    let t = create () in
    let e = event t in
    on e (fun i ->
        say (Printf.sprintf "a%d" i);
        if i = 1 then begin
          add e 2;
          run t
        end;
        Reject);
    once e (fun i -> say (Printf.sprintf "b%d" i));
    add e 1;
    run t

  let exceptions () =
    traced [ "1"; "3"; "once 1" ] @@ fun say ->
    let t = create () in
    let e = event t in
    on e (fun i ->
        if i = 2 then explode ();
        say (string_of_int i);
        Accept);
    List.iter (add e) [ 1; 2; 3 ];
    raises "run" Boom (fun () -> run t);
    run t;
    let e = event t in
    once e (fun i ->
        say (Printf.sprintf "once %d" i);
        explode ());
    add e 1;
    add e 2;
    raises "once" Boom (fun () -> run t);
    run t

  let cleared () =
    traced [ "2" ] @@ fun say ->
    let t = create () in
    let e = event t in
    on_any t
      {
        handle =
          (fun _ _ ->
            say "any";
            Accept);
      };
    on e (fun i ->
        say (string_of_int i);
        Reject);
    add e 1;
    clear t;
    add e 2;
    run t

  (* A handler that was removed is garbage, although the event is not. *)
  let what_is_removed_is_garbage () =
    let t = create () and kept = Weak.create 2 in
    let e = event t in
    let[@inline never] add_handlers () =
      let a = ref 0 and b = ref 0 in
      Weak.set kept 0 (Some a);
      Weak.set kept 1 (Some b);
      once e (fun () -> incr a);
      on e (fun () ->
          incr b;
          Terminate);
      add e ();
      add e ();
      run t
    in
    add_handlers ();
    Gc.full_major ();
    no "once" (Weak.check kept 0);
    no "terminated" (Weak.check kept 1);
    add e ()

  let seconds f =
    let before = Sys.time () in
    f ();
    Sys.time () -. before

  (* Handlers of other events cost nothing. *)
  let is_found_at_once () =
    let n = 100_000 in
    let t = create () and count = ref 0 in
    let events = Array.init n (fun _ -> event t) in
    Array.iter
      (fun e ->
        on e (fun () ->
            incr count;
            Accept))
      events;
    let time =
      seconds (fun () ->
          for _ = 1 to 3 do
            Array.iter (fun e -> add e ()) events
          done;
          run t)
    in
    int "told" (3 * n) !count;
    yes (Printf.sprintf "%.2f s" time) (instrumented || time < 5.)

  (* As many wait for one event as it will happen: each is told once. *)
  let many_of_one_event () =
    let n = 50_000 in
    let t = create () and sum = ref 0 in
    let e = event t in
    let time =
      seconds (fun () ->
          for i = 1 to n do
            once e (fun j -> if i = j then incr sum)
          done;
          for i = 1 to n do
            add e i
          done;
          run t)
    in
    int "in order" n !sum;
    yes (Printf.sprintf "%.2f s" time) (instrumented || time < 5.)

  let what_is_not_used_is_garbage () =
    let t = create () and kept = Weak.create 1 in
    let[@inline never] make () =
      let e = event t and big = ref 0 in
      Weak.set kept 0 (Some big);
      on e (fun () ->
          incr big;
          Accept);
      add e ();
      run t
    in
    make ();
    Gc.full_major ();
    no "kept" (Weak.check kept 0);
    ignore (Sys.opaque_identity t : Equeue.t)

  let tests =
    [
      test "reject, accept" verdicts;
      test "terminate" terminated;
      test "once" one_shot;
      test "events in order, of different types" in_order;
      test "handlers of any event" any;
      test "a source" source;
      test "handlers that are added meanwhile" added_meanwhile;
      test "handlers that are removed meanwhile" removed_meanwhile;
      test "run in a handler" re_entrant;
      test "exceptions" exceptions;
      test "clear" cleared;
      test "100,000 other events" is_found_at_once;
      test "50,000 handlers of one event" many_of_one_event;
      test "what is not used is garbage" what_is_not_used_is_garbage;
      test "what is removed is garbage" what_is_removed_is_garbage;
    ]
end

let () =
  run "Operators"
    [
      ("Cont", Continuations.tests);
      ("Prompt", Prompts.tests);
      ("Equeue", Queues.tests);
    ]
