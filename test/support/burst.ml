open Concord
open Concord.Tools
open Check

let tasks = if instrumented || debugged then 500 else 10_000

(* How many write calls to the system the calling thread has made. *)
let writes () = Concord_test_proc.number "thread-self/io" "syscw"

let made_by f =
  let before = Option.get (writes ()) in
  f ();
  Option.get (writes ()) - before

(* The state "S" in [/proc] means that the thread sleeps. *)
let sleeps thread =
  let state line =
    match List.rev (String.split_on_char ')' line) with
    | rest :: _ :: _ -> String.starts_with rest ~prefix:" S"
    | _ -> false
  in
  List.exists state (Concord_test_proc.lines (thread ^ "/stat"))

(* A task that continues keeps the loop busy until the burst is over, so the loop sleeps only
   once. A loop that waits for something else before that may look asleep. Then no wake-up is
   needed, which counts as no write. *)
let from_another_domain run () =
  let burst () =
    let promises = Array.init tasks (fun _ -> Promise.create ())
    and waiting = Atomic.make 0
    and woken = Atomic.make 0
    and over = Atomic.make false
    and sleeper = Atomic.make "" in
    let task p () =
      Atomic.incr waiting;
      Promise.await p;
      Atomic.incr woken;
      while not (Atomic.get over) do
        Domain.cpu_relax ()
      done
    in
    let join =
      domain (fun () ->
          Atomic.set sleeper (Concord_test_proc.this_thread ());
          run (fun start -> Array.iter (fun p -> start (task p)) promises))
    in
    eventually "all wait" (fun () -> Atomic.get waiting = tasks);
    eventually "the loop sleeps" (fun () -> sleeps (Atomic.get sleeper));
    let made =
      made_by (fun () -> Array.iter (fun p -> Promise.fill p ()) promises)
    in
    Atomic.set over true;
    join ();
    int "resumed" tasks (Atomic.get woken);
    made
  in
  let made = List.init 5 (fun _ -> burst ()) in
  yes
    (Printf.sprintf "one write at most, not %s"
       (String.concat ", " (List.map string_of_int made)))
    (List.for_all (fun n -> n <= 1) made);
  yes "it is woken by a write" (List.mem 1 made)

let from_its_own_domain run () =
  let made = ref (-1) in
  let promises = Array.init tasks (fun _ -> Promise.create ()) in
  in_domain (fun () ->
      run (fun start ->
          Array.iter (fun p -> start (fun () -> Promise.await p)) promises;
          start (fun () ->
              Suspend.yield ();
              made :=
                made_by (fun () ->
                    Array.iter (fun p -> Promise.fill p ()) promises))));
  int "no write" 0 !made

let cases run =
  if Option.is_none (writes ()) then begin
    Concord_test_proc.skip "how many writes a wake-up takes";
    []
  end
  else
    [
      test "one wake-up, from another domain" (from_another_domain run);
      test "no wake-up, from its own domain" (from_its_own_domain run);
    ]
