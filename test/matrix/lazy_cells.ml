(* Cells like those of [Structure_cells], for lazy values. *)

open Concord
open Cell_kit

(* A computation that begins with [begin_ t], where [t] is the value itself. *)
let lazy_with begin_ =
  let t = ref (Lazy.from_val 0) in
  t := Lazy.from_fun (fun () -> begin_ !t);
  !t

let told t = match Lazy.force t with v -> Ok v | exception e -> Error e

(* [a] computes while [b] waits in [force]. [b]'s sibling serves the computation. Both [check]
   their results. *)
let force_both finish between check =
  let begun = Promise.create () and runs = Atomic.make 0 in
  let asked = Promise.create () and answered = Promise.create () in
  let t =
    lazy_with (fun t ->
        Atomic.incr runs;
        Promise.fill begun ();
        until_somebody_waits (fun () -> Lazy.waiters t);
        Promise.fill asked ();
        Promise.await answered;
        finish ())
  in
  let a () = check (told t)
  and b () =
    Promise.await begun;
    check (told t)
  and serve () =
    Promise.await asked;
    Promise.fill answered ()
  in
  between [ a ] [ b; serve ];
  assert (Atomic.get runs = 1)

let lazy_value between =
  force_both (fun () -> 42) between (fun told -> assert (told = Ok 42))

let lazy_failure between =
  let e = Failure "of the computation" in
  let is_it = function Ok _ -> false | Error e' -> e' == e in
  force_both (fun () -> raise e) between (fun told -> assert (is_it told))

(* [a] waits for the event of the value that [b] computes. It waits in a choice, so that [b]
   can see it wait. *)
let lazy_event between =
  let never = Promise.create () in
  let t =
    lazy_with (fun _ ->
        until_somebody_waits (fun () -> Promise.waiters never);
        42)
  in
  let a () =
    let v = Event.select [ Promise.await_evt never; Lazy.await_evt t ] in
    assert (v = 42)
  and b () = assert (Lazy.force t = 42) in
  between [ a ] [ b ]

(* [a] is cancelled while it computes and [b] waits. Then [b] computes, in another thread. (A
   pool of Moonpool has its threads on any domain, so domains aren't compared.) *)
let restart ~cancel between =
  let begun = Promise.create () and never = Promise.create () in
  let runs = Atomic.make 0 and first = ref None in
  let this_thread () = Some (Thread.id (Thread.self ())) in
  let t =
    lazy_with (fun _ ->
        if Atomic.fetch_and_add runs 1 = 0 then begin
          first := this_thread ();
          Promise.fill begun ();
          Promise.await never
        end
        else begin
          assert (this_thread () <> !first);
          42
        end)
  in
  let a () =
    cancel
      (fun () -> ignore (Lazy.force t : int))
      ~after:(fun () ->
        (* With CONCORD_DEBUG=strict, [force] may suspend the task before it begins. *)
        Promise.await begun;
        until_somebody_waits (fun () -> Lazy.waiters t))
  and b () =
    Promise.await begun;
    assert (Lazy.force t = 42)
  in
  between [ a ] [ b ];
  assert (Atomic.get runs = 2)

let all =
  [
    ("lazy", lazy_value);
    ("lazy failure", lazy_failure);
    ("lazy event", lazy_event);
  ]
