(* A lazy value whose computation continues when the test says so, for {!Lazy_policies}. *)

open Concord
open Cancelling

(* A computation that says when it begins. It ends when [gate] is filled. *)
type held = { t : int Lazy.t; gate : int Promise.t; runs : int Atomic.t }

let held ?cancel ?(after = fun await -> await ()) say =
  let gate = Promise.create () and runs = Atomic.make 0 in
  let compute () =
    say "begins";
    Atomic.incr runs;
    after (fun () -> Promise.await gate)
  in
  { t = Lazy.from_fun ?cancel compute; gate; runs }

let forces host held say name =
  let force () =
    match Lazy.force held.t with
    | v -> say (Printf.sprintf "%s=%d" name v)
    | exception e when host.is_cancellation e -> say (name ^ " cancelled")
    | exception e -> say (Printf.sprintf "%s: %s" name (Printexc.to_string e))
  in
  host.fork force

let has_begun host held n =
  until host "it has begun" (fun () ->
      Atomic.get held.runs = n && Promise.waiters held.gate = 1)

let waiting host held n =
  until host "they wait" (fun () -> Lazy.waiters held.t = n)

let fill host held v =
  Promise.fill held.gate v;
  until host "it is forced" (fun () -> Lazy.peek held.t <> None)

let ended host said n = until host "all have ended" (fun () -> !said = n)

(* Passes [f] the number of messages so far, and a function that counts them. *)
let counted say f =
  let said = ref 0 in
  f said (fun s ->
      say s;
      incr said)
