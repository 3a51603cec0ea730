open Concord
open Concord_generator
open Concord_test_support
open Check

let ints = Alcotest.(check (list int))
let next_is what expected g = Alcotest.(check (option int)) what expected g

(* 1 to [n]; says when it ends, in whatever way. *)
let count ?(say = ignore) n yield =
  Fun.protect
    (fun () ->
      for i = 1 to n do
        yield i
      done)
    ~finally:(fun () -> say "unwound")

(* --- Elements ----------------------------------------------------------------- *)

let elements () =
  let g = Generator.of_iter (count 3) in
  for i = 1 to 3 do
    next_is "element" (Some i) (Generator.next g)
  done;
  for _ = 1 to 3 do
    next_is "the end, for ever" None (Generator.next g)
  done

let nothing () =
  next_is "empty" None (Generator.next (Generator.of_iter ignore))

(* The traversal runs when it is asked, and no further. *)
let on_demand () =
  traced [ "asked"; "1"; "got"; "asked"; "2"; "got" ] @@ fun say ->
  let g =
    Generator.of_iter (fun yield ->
        say "1";
        yield 1;
        say "2";
        yield 2;
        say "3")
  in
  for _ = 1 to 2 do
    say "asked";
    ignore (Generator.next g : int option);
    say "got"
  done

exception Failed

let[@inline never] raise_it () = raise Failed

let failure () =
  let g =
    Generator.of_iter (fun yield ->
        yield 1;
        raise_it ())
  in
  next_is "before" (Some 1) (Generator.next g);
  raises_at "raise_it" (fun () -> Generator.next g);
  next_is "it has ended" None (Generator.next g)

let slides () =
  let module Lists = MkGen (struct
    type 'a t = 'a list

    let iter = List.iter
  end) in
  let next = Lists.gen [ 1; 2; 3 ] in
  List.iter
    (fun expected -> next_is "list" expected (next ()))
    [ Some 1; Some 2; Some 3; None; None ];
  let next = Tree.gen (Tree.make 2) in
  List.iter
    (fun expected -> next_is "tree" expected (next ()))
    [ Some 1; Some 2; Some 1; None; None ]

(* As on the slides. At the end the last continuation is still there. *)
let slides_gen (type a) iter : unit -> a option =
  let open Effect.Deep in
  let module M = struct
    type _ Effect.t += Yield : a -> unit Effect.t
  end in
  let rec step =
    ref (fun () ->
        match_with
          (fun () -> iter (fun v -> Effect.perform (M.Yield v)))
          ()
          {
            retc = (fun () -> None);
            exnc = raise;
            effc =
              (fun (type b) (e : b Effect.t) ->
                match e with
                | M.Yield v ->
                    Some
                      (fun (k : (b, _) continuation) ->
                        (step := fun () -> continue k ());
                        Some v)
                | _ -> None);
          })
  in
  fun () -> !step ()

let slides_fault () =
  let next = slides_gen (count 1) in
  next_is "element" (Some 1) (next ());
  next_is "the end" None (next ());
  raises "the slides' own, after the end" Effect.Continuation_already_resumed
    next

(* One generator's elements are not those of another, although it runs inside. *)
let nested () =
  let outer =
    Generator.of_iter (fun yield_outer ->
        let inner =
          Generator.of_iter (fun yield_inner ->
              yield_inner 1;
              yield_outer 10;
              yield_inner 2)
        in
        Generator.iter (fun i -> yield_outer (100 + i)) inner)
  in
  ints "both" [ 101; 10; 102 ] (Generator.to_list outer)

(* --- The end -------------------------------------------------------------------- *)

let closed ~ahead () =
  traced [ "unwound"; "closed" ] @@ fun say ->
  let g = Generator.of_iter ~ahead (count ~say 10) in
  next_is "first" (Some 1) (Generator.next g);
  Generator.close g;
  say "closed";
  next_is "after close" None (Generator.next g);
  Generator.close g

let closed_before () =
  traced [] @@ fun say ->
  let g = Generator.of_iter (count ~say 10) in
  Generator.close g;
  next_is "after close" None (Generator.next g)

let with_iter () =
  traced [ "unwound"; "unwound" ] @@ fun say ->
  next_is "first" (Some 1) (Generator.with_iter (count ~say 3) Generator.next);
  raises "f's" Failed (fun () ->
      Generator.with_iter (count ~say 3) (fun g ->
          ignore (Generator.next g : int option);
          raise Failed))

let catches_closed ~ahead () =
  let g =
    Generator.of_iter ~ahead (fun yield ->
        try yield 1 with Generator.Closed -> yield 2)
  in
  next_is "first" (Some 1) (Generator.next g);
  match Generator.close g with
  | () -> Alcotest.fail "it was closed"
  | exception Invalid_argument text ->
      yes text (contains text "Generator.close")

let closing_fails ~ahead () =
  let g =
    Generator.of_iter ~ahead (fun yield ->
        Fun.protect (fun () -> yield 1) ~finally:(fun () -> raise Failed))
  in
  ignore (Generator.next g : int option);
  raises "the finaliser's" (Fun.Finally_raised Failed) (fun () ->
      Generator.close g);
  next_is "it has ended" None (Generator.next g)

let refused what f =
  match f () with
  | (_ : int option) -> Alcotest.failf "%s: not refused" what
  | exception Invalid_argument text ->
      yes text (contains text "is already running")

let in_itself () =
  let g = ref (Generator.of_list []) in
  g :=
    Generator.of_iter (fun yield ->
        refused "in itself" (fun () -> Generator.next !g);
        yield 1);
  next_is "it goes on" (Some 1) (Generator.next !g)

(* Dropped half-way: what it refers to is freed with its stack. *)
let dropped () =
  let freed = ref false in
  let drop () =
    let big = Bytes.create 100 in
    Gc.finalise_last (fun () -> freed := true) big;
    let g =
      Generator.of_iter (fun yield ->
          yield 1;
          ignore (Sys.opaque_identity big : bytes))
    in
    next_is "first" (Some 1) (Generator.next g)
  in
  (Sys.opaque_identity drop) ();
  Gc.full_major ();
  Gc.full_major ();
  yes "freed" !freed

(* --- Other tasks ------------------------------------------------------------------ *)

let waits_inside () =
  let box = Mvar.create_empty () in
  Concord_fifo.run @@ fun () ->
  let g =
    Generator.of_iter (fun yield ->
        for _ = 1 to 3 do
          yield (Mvar.take box)
        done)
  in
  let asked = Concord_fifo.fork_promise (fun () -> Generator.to_list g) in
  refused "while another task waits in it" (fun () -> Generator.next g);
  for i = 1 to 3 do
    Mvar.put box i
  done;
  ints "what it waited for" [ 1; 2; 3 ] (Promise.await asked)

let cancelled_inside () =
  traced [ "unwound"; "cancelled" ] @@ fun say ->
  Concord_fifo.run @@ fun () ->
  let g =
    Generator.of_iter (fun (_ : int -> unit) ->
        Fun.protect
          (fun () -> Promise.await (Promise.create ()))
          ~finally:(fun () -> say "unwound"))
  in
  let task =
    Concord_fifo.fork (fun () ->
        try ignore (Generator.next g : int option)
        with Concord_fifo.Cancelled as e ->
          say "cancelled";
          raise e)
  in
  Concord_fifo.cancel task;
  Concord_fifo.join task;
  next_is "it has ended" None (Generator.next g)

let on_another_domain () =
  let g = Generator.of_iter (count 4) in
  next_is "here" (Some 1) (Generator.next g);
  next_is "there" (Some 2) (in_domain (fun () -> Generator.next g));
  next_is "here again" (Some 3) (Generator.next g);
  ints "there again" [ 4 ] (in_domain (fun () -> Generator.to_list g))

(* Two domains at once: each element is given once, or the call is refused. *)
let two_domains () =
  let n = 20_000 in
  let g = Generator.of_iter (count n) in
  let work () =
    let rec go sum =
      match Generator.next g with
      | None -> sum
      | Some i -> go (sum + i)
      | exception Invalid_argument _ -> go sum
    in
    go 0
  in
  let join = domain work in
  let mine = work () in
  int "each element once" (n * (n + 1) / 2) (mine + join ())

(* Whichever comes first; the traversal is unwound once. *)
let close_races () =
  for _ = 1 to 500 do
    let unwound = Atomic.make 0 in
    let say _ = Atomic.incr unwound in
    let g = Generator.of_iter (count ~say 1_000_000) in
    ignore (Generator.next g : int option);
    let join =
      domain (fun () ->
          let rec go () =
            match Generator.next g with
            | Some _ -> go ()
            | None -> ()
            | exception Invalid_argument _ -> go ()
          in
          go ())
    in
    let rec close () =
      try Generator.close g with Invalid_argument _ -> close ()
    in
    close ();
    join ();
    int "unwound" 1 (Atomic.get unwound)
  done

(* --- Running ahead ------------------------------------------------------------------ *)

let ahead () =
  for size = 1 to 6 do
    for n = 0 to 12 do
      ints "the same elements" (List.init n succ)
        (Generator.to_list (Generator.of_iter ~ahead:size (count n)))
    done
  done

let ahead_of_consumer () =
  traced [ "1"; "2"; "got"; "got"; "3"; "got" ] @@ fun say ->
  let g =
    Generator.of_iter ~ahead:2 (fun yield ->
        for i = 1 to 3 do
          say (string_of_int i);
          yield i
        done)
  in
  for _ = 1 to 3 do
    ignore (Generator.next g : int option);
    say "got"
  done

let ahead_failure () =
  let g =
    Generator.of_iter ~ahead:4 (fun yield ->
        yield 1;
        yield 2;
        raise_it ())
  in
  next_is "before" (Some 1) (Generator.next g);
  next_is "before" (Some 2) (Generator.next g);
  raises_at "raise_it" (fun () -> Generator.next g);
  next_is "it has ended" None (Generator.next g)

let closed_before_failure () =
  let g =
    Generator.of_iter ~ahead:4 (fun yield ->
        yield 1;
        raise_it ())
  in
  next_is "before" (Some 1) (Generator.next g);
  Generator.close g;
  next_is "closed" None (Generator.next g)

(* What was taken is not kept. *)
let ahead_frees () =
  let freed = ref 0 in
  let g =
    Generator.of_iter ~ahead:2 (fun yield ->
        for i = 1 to 3 do
          let element = Bytes.make 100 (Char.chr i) in
          Gc.finalise_last (fun () -> incr freed) element;
          yield element
        done)
  in
  let take () = ignore (Generator.next g : bytes option) in
  for _ = 1 to 4 do
    (Sys.opaque_identity take) ()
  done;
  Gc.full_major ();
  int "freed" 3 !freed;
  next_is "the end" None (Option.map Bytes.length (Generator.next g))

let negative () =
  match Generator.of_iter ~ahead:(-1) ignore with
  | (_ : int Generator.t) -> Alcotest.fail "not refused"
  | exception Invalid_argument text -> yes text (contains text "ahead")

(* --- Sequences ------------------------------------------------------------------------ *)

let sequences () =
  ints "of_list" [ 1; 2; 3 ] Generator.(to_list (of_list [ 1; 2; 3 ]));
  let g = Generator.of_seq (Seq.ints 5) in
  next_is "of_seq" (Some 5) (Generator.next g);
  next_is "of_seq" (Some 6) (Generator.next g);
  Generator.close g;
  next_is "closed" None (Generator.next g);
  let g = Generator.of_iter (count 5) in
  next_is "first" (Some 1) (Generator.next g);
  let seq = Generator.to_seq g in
  ints "the rest" [ 2; 3; 4; 5 ] (List.of_seq seq);
  raises "twice" Seq.Forced_twice (fun () -> List.of_seq seq);
  let g = Generator.of_seq (fun () -> raise Failed) in
  raises "a node's" Failed (fun () -> Generator.next g);
  next_is "it has ended" None (Generator.next g)

let iter_closes () =
  traced [ "1"; "2"; "unwound" ] @@ fun say ->
  raises "f's" Failed (fun () ->
      Generator.iter
        (fun i ->
          say (string_of_int i);
          if i = 2 then raise Failed)
        (Generator.of_iter (count ~say 5)))

let zip a b () =
  traced [ "unwound"; "unwound" ] @@ fun say ->
  let g = Generator.(zip (of_iter (count ~say a)) (of_iter (count ~say b))) in
  Alcotest.(check (list (pair int int)))
    "zip"
    [ (1, 1); (2, 2) ]
    (Generator.to_list g);
  Alcotest.(check (option (pair int int))) "the end" None (Generator.next g)

let zip_closed () =
  traced [ "unwound"; "unwound" ] @@ fun say ->
  let g = Generator.(zip (of_iter (count ~say 5)) (of_iter (count ~say 5))) in
  ignore (Generator.next g : (int * int) option);
  Generator.close g

let equal () =
  let same a b =
    Generator.(equal Int.equal (of_iter (count a)) (of_iter (count b)))
  in
  yes "same" (same 3 3);
  no "shorter" (same 2 3);
  no "longer" (same 3 2);
  yes "empty" (same 0 0)

let same_fringe () =
  let open Tree in
  let left = Node (Node (Leaf, 1, Leaf), 2, Leaf)
  and right = Node (Leaf, 1, Node (Leaf, 2, Leaf)) in
  yes "other shape" (same_fringe Int.equal left right);
  no "other value"
    (same_fringe Int.equal left (Node (Leaf, 1, Node (Leaf, 3, Leaf))));
  traced [ "1 1"; "2 3" ] @@ fun say ->
  let eq a b =
    say (Printf.sprintf "%d %d" a b);
    a = b
  in
  no "no further than the first difference"
    (same_fringe eq
       (Node (right, 5, Leaf))
       (Node (Leaf, 1, Node (Leaf, 3, right))))

let million () =
  let g = Generator.of_iter (count 1_000_000) in
  let sum = ref 0 in
  Generator.iter (fun i -> sum := !sum + i) g;
  int "sum" (1_000_000 * 1_000_001 / 2) !sum

let printed_closed () =
  named "Generator" "Concord_generator.Generator.Closed" Generator.Closed

let () =
  run "Generators"
    [
      ( "elements",
        [
          test "one by one" elements;
          test "none" nothing;
          test "on demand" on_demand;
          test "failure" failure;
          test "as on the slides" slides;
          test "the slides' own resumes twice" slides_fault;
          test "one in another" nested;
          test "a million" million;
        ] );
      ( "the end",
        [
          test "close" (closed ~ahead:0);
          test "close, ahead" (closed ~ahead:4);
          test "close before the beginning" closed_before;
          test "with_iter" with_iter;
          test "a traversal that catches Closed" (catches_closed ~ahead:0);
          test "the same, ahead" (catches_closed ~ahead:1);
          test "a finaliser that raises" (closing_fails ~ahead:0);
          test "the same, ahead" (closing_fails ~ahead:1);
          test "next in itself" in_itself;
          test "dropped" dropped;
          test "how Closed is printed" printed_closed;
        ] );
      ( "tasks",
        [
          test "waits inside" waits_inside;
          test "cancelled inside" cancelled_inside;
          test "on another domain" on_another_domain;
          test "two domains at once" two_domains;
          test "close against next" close_races;
        ] );
      ( "ahead",
        [
          test "elements" ahead;
          test "how far" ahead_of_consumer;
          test "failure" ahead_failure;
          test "closed before a failure" closed_before_failure;
          test "frees" ahead_frees;
          test "negative" negative;
        ] );
      ( "several",
        [
          test "sequences and lists" sequences;
          test "iter closes" iter_closes;
          test "zip" (zip 2 5);
          test "zip, the other way" (zip 5 2);
          test "zip, closed" zip_closed;
          test "equal" equal;
          test "same fringe" same_fringe;
        ] );
    ]
