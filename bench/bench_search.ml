open Case

(* --- The puzzle ----------------------------------------------------------- *)

(* The puzzle is which of these numbers have this total. The search tree has a level for each
   number, which is either taken or left out. *)

let levels = 24
let first_levels = 6
let subtrees = 1 lsl first_levels

(* Between two pauses the search visits 1024 leaves, in about 5 us. *)
let levels_without_pause = 10

type puzzle = { numbers : int array; answer : int; total : int }

let sum numbers chosen =
  let total = ref 0 in
  Array.iteri
    (fun i number ->
      if chosen land (1 lsl i) <> 0 then total := !total + number)
    numbers;
  !total

(* The answer is in the middle of the subtree in the middle. So it is found after half of the
   work, both if searchers take turns and if they search one subtree after the other. There is
   only one answer, because the numbers have 50 bits. *)
let puzzle =
  let random = Random.State.make [| 2026 |] in
  let number _ =
    Int64.to_int (Random.State.bits64 random) land ((1 lsl 50) - 1)
  in
  let numbers = Array.init levels number in
  let left_out = 0 and middle = first_levels in
  let answer = ref (Random.State.bits random land ((1 lsl levels) - 1)) in
  for i = 0 to middle + 4 do
    let bit = 1 lsl i in
    if i = left_out || i = middle then answer := !answer land lnot bit
    else answer := !answer lor bit
  done;
  { numbers; answer = !answer; total = sum numbers !answer }

let none = -1

(* Returns the numbers to take in the subtree below this node, or [none] if it has no
   answer. *)
let rec search pause level chosen total =
  if level = levels then if total = puzzle.total then chosen else none
  else begin
    if level = levels - levels_without_pause then pause ();
    let next = level + 1 in
    let found =
      search pause next
        (chosen lor (1 lsl level))
        (total + Array.unsafe_get puzzle.numbers level)
    in
    if found <> none then found else search pause next chosen total
  end

(* Subtrees are numbered in the order of the search, which first takes a number and then leaves
   it out. *)
let search_subtree pause number =
  let chosen = ref 0 in
  for level = 0 to first_levels - 1 do
    if number land (1 lsl (first_levels - 1 - level)) = 0 then
      chosen := !chosen lor (1 lsl level)
  done;
  search pause first_levels !chosen (sum puzzle.numbers !chosen)

let check found =
  if found <> puzzle.answer then failwith "the search found a wrong answer"

(* One operation is a whole search. *)
let repeated search n =
  let start = Meter.now () in
  for _ = 1 to n do
    check (search ())
  done;
  Meter.ns_since start

(* --- Two domains ---------------------------------------------------------- *)

(* Each half has every other subtree. *)
let half first = List.init (subtrees / 2) (fun i -> first + (2 * i))

let on_two_domains f =
  let other = Domain.spawn (fun () -> f (half 0)) in
  let found = f (half 1) in
  Int.max found (Domain.join other)

let first_found search =
  List.fold_left
    (fun found subtree -> if found <> none then found else search subtree)
    none

(* --- One searcher on each domain ------------------------------------------ *)

exception Stopped

let uncancelled () =
  on_two_domains
    (List.fold_left
       (fun found subtree -> Int.max found (search_subtree ignore subtree))
       none)

let polled () =
  let is_found = Atomic.make false in
  let pause () = if Atomic.get is_found then raise_notrace Stopped in
  on_two_domains (fun subtrees ->
      match first_found (search_subtree pause) subtrees with
      | found ->
          if found <> none then Atomic.set is_found true;
          found
      | exception Stopped -> none)

(* --- Concord -------------------------------------------------------------- *)

(* On each domain 32 searchers take turns. The first searcher that finds the answer fills a
   promise, and both domains wait for it. *)
let fifo () =
  let open Concord in
  let answer = Promise.create () in
  let searcher subtree () =
    let found = search_subtree Concord_fifo.yield subtree in
    if found <> none then Promise.fill answer found
  in
  on_two_domains (fun subtrees ->
      Concord_fifo.run (fun () ->
          match
            Concord_fifo.Scope.run (fun scope ->
                List.iter
                  (fun subtree ->
                    ignore
                      (Concord_fifo.fork (searcher subtree)
                        : Concord_fifo.handle))
                  subtrees;
                ignore (Promise.await answer : int);
                Concord_fifo.Scope.cancel scope)
          with
          | () | (exception Concord_fifo.Cancelled) -> Promise.await answer))

(* A pool chooses the order of its tasks. With one subtree per task, two domains would meet in
   the middle, where the answer is. So each task takes the next subtree when it starts. *)
let in_order () =
  let next = Atomic.make 0 in
  fun () -> Atomic.fetch_and_add next 1

(* A pool does not cancel its tasks, so they check whether the promise is filled. *)
let in_pool pool () =
  let open Concord in
  let answer = Promise.create () in
  let pause () = if Promise.is_resolved answer then raise_notrace Stopped in
  let next = in_order () in
  let job () =
    match
      pause ();
      search_subtree pause (next ())
    with
    | found -> if found <> none then Promise.fill answer found
    | exception Stopped -> ()
  in
  let jobs = List.init subtrees (fun _ -> Concord_domainslib.submit pool job) in
  let found = Promise.await answer in
  List.iter Promise.await jobs;
  found

(* --- Domainslib's own ----------------------------------------------------- *)

let polled_in_pool pool () =
  let open Domainslib in
  let answer = Atomic.make none in
  let pause () = if Atomic.get answer <> none then raise_notrace Stopped in
  let next = in_order () in
  let job () =
    match search_subtree pause (next ()) with
    | found -> if found <> none then Atomic.set answer found
    | exception Stopped -> ()
  in
  Task.run pool (fun () ->
      List.init subtrees (fun _ -> Task.async pool job)
      |> List.iter (Task.await pool));
  Atomic.get answer

(* In both cases two domains work, because the caller of [Task.run] is one of them. *)
let with_pool ~num_domains search n =
  let pool = Domainslib.Task.setup_pool ~num_domains () in
  Fun.protect
    ~finally:(fun () -> Domainslib.Task.teardown_pool pool)
    (fun () ->
      if num_domains = 2 then Concord_domainslib.attach pool;
      repeated (search pool) n)

(* --- Eio ------------------------------------------------------------------ *)

(* Only the fiber that has found the answer returns, so it is the first one. *)
let or_wait found = if found = none then Eio.Fiber.await_cancel () else found

let fibers subtrees =
  Eio.Fiber.any
    (List.map
       (fun subtree () -> or_wait (search_subtree Eio.Fiber.yield subtree))
       subtrees)

let in_domain_manager n =
  Eio_main.run @@ fun env ->
  let domains = Eio.Stdenv.domain_mgr env in
  let on_domain first () =
    Eio.Domain_manager.run domains (fun () -> fibers (half first))
  in
  let search () = Eio.Fiber.first (on_domain 0) (on_domain 1) in
  repeated search n

exception Found of int

(* A job whose caller no longer waits keeps running. Only the end of the pool cancels it. *)
let in_executor_pool n =
  Eio_main.run @@ fun env ->
  let domains = Eio.Stdenv.domain_mgr env in
  let search () =
    match
      Eio.Switch.run @@ fun sw ->
      let pool = Eio.Executor_pool.create ~sw ~domain_count:2 domains in
      Eio.Fiber.List.iter
        (fun subtree ->
          let found =
            Eio.Executor_pool.submit_exn pool ~weight:1. (fun () ->
                search_subtree Eio.Fiber.yield subtree)
          in
          if found <> none then raise_notrace (Found found))
        (List.init subtrees Fun.id)
    with
    | () -> none
    | exception Found found -> found
  in
  repeated search n

(* --- The comparisons ------------------------------------------------------ *)

let group =
  let case = "search" in
  let row ~impl ~host f =
    row ~case ~impl ~host
      (counted Figure.ms { full = 1; quick = 1; least = 1 } (warmed_up f))
  in
  let comparison =
    {
      title =
        "a search by two domains, until the answer is there and all searchers \
         have ended (uncancelled: none ends before it has searched all; \
         polled: each reads an atomic flag)";
      baseline = row ~impl:"polled" ~host:"domain" (repeated polled);
      others =
        [
          row ~impl:"uncancelled" ~host:"domain" (repeated uncancelled);
          row ~impl:"concord" ~host:"fifo" (repeated fifo);
          row ~impl:"polled" ~host:"domainslib"
            (with_pool ~num_domains:1 polled_in_pool);
          row ~impl:"concord" ~host:"domainslib"
            (with_pool ~num_domains:2 in_pool);
          row ~impl:"eio" ~host:"domain-manager" in_domain_manager;
          row ~impl:"eio" ~host:"executor-pool" in_executor_pool;
        ];
    }
  in
  {
    name = "search";
    doc = "a parallel search whose other searchers are cancelled";
    comparisons = [ comparison ];
  }
