(* [t], the only Atomic here

   State       Left by           To                By whom
   Waiting ws  await, watch      Waiting (ws, w)   any task, with a fresh w
               cancelled await   Waiting (ws - w)  only the task that enlisted w
               forget, withdraw  Waiting (ws - w)  the thread that took w from [rest], or
                                                   has set [called]; nobody else
               settle          * Value, Failed     any task, or a signal handler
   Value v, Failed (e, bt)       never (terminal)

   * linearises a successful [try_fill] or [try_fail]; a failed one, [peek] and
   [await] linearise at the read that sees a terminal state.
   Debt: the task that installs a terminal state calls each waiter that it replaced,
   once, in the order of arrival. What the resumers answer does not matter: the
   outcome stays here.

   A waiter is resumed with [Ok ()] and reads the outcome itself, so that an
   exception keeps its backtrace (S5). A callback is a waiter too: see [watch]. *)
type 'a state =
  | Waiting of (unit, unit) Waiters.t
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace

type 'a t = 'a state Atomic.t

exception Already_filled

let () = Labels.tell Already_filled ~otherwise:"Concord.Promise.Already_filled"

let refuse t =
  Labels.raises Already_filled t;
  raise Already_filled

let unresolved = Waiting Waiters.empty
let create ?name () = Labels.made ~kind:"promise" ?name (Atomic.make unresolved)
let of_value v = Atomic.make (Value v)

(* How many were resumed, or -1 if [t] was resolved before. *)
let rec settle t outcome =
  match Atomic.get t with
  | Value _ | Failed _ -> -1
  | Waiting waiters as before when Waiters.is_empty waiters ->
      if Atomic.compare_and_set t before outcome then 0
      else (* a waiter, or resolved: look again *) settle t outcome
  | Waiting waiters as before ->
      let round = Waiters.round waiters (Ok ()) in
      if Atomic.compare_and_set t before outcome then begin
        Waiters.resume_all round;
        Waiters.resumed round
      end
      else (* another waiter, a withdrawal, or resolved: look again *)
        settle t outcome

let try_fill t v = settle t (Value v) >= 0
let fill t v = if not (try_fill t v) then refuse t

let resolve_failed backtrace t e =
  let backtrace =
    match backtrace with Some b -> b | None -> Backtrace.get ()
  in
  settle t (Failed (e, backtrace))

let try_fail ?backtrace t e = resolve_failed backtrace t e >= 0

let try_resolve ?backtrace t = function
  | Ok v -> try_fill t v
  | Error e -> try_fail ?backtrace t e

let fail ?backtrace t e = if not (try_fail ?backtrace t e) then refuse t

let resolve ?backtrace t result =
  if not (try_resolve ?backtrace t result) then refuse t

let fail_waiters ?backtrace t e =
  let waiters = resolve_failed backtrace t e in
  if waiters < 0 then refuse t else waiters

let is_resolved t =
  match Atomic.get t with Waiting _ -> false | Value _ | Failed _ -> true

let peek t =
  match Atomic.get t with
  | Waiting _ -> None
  | Value v -> Some (Ok v)
  | Failed (e, _) -> Some (Error e)

let get_resolved t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waiting _ -> assert false (* waiters are resumed after it was resolved *)

let rec enlist t w =
  match Atomic.get t with
  | Value _ | Failed _ -> false
  | Waiting waiters as before ->
      Atomic.compare_and_set t before (Waiting (Waiters.push waiters w))
      ||
      (* another waiter, a withdrawal, or resolved: look again *)
      enlist t w

let withdraw t w =
  Operation.leave t w @@ function
  | (Value _ | Failed _) as resolved -> resolved
  | Waiting waiters -> Waiting (Waiters.count_gone waiters)

let awaiting =
  {
    Operation.name = "Promise.await";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t () -> if is_resolved t then Some () else None);
          enlist;
          withdraw;
        };
  }

let await t =
  match Atomic.get t with
  | Value v -> v
  | Failed (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Waiting _ ->
      Operation.wait awaiting t ();
      get_resolved t

let await_evt t =
  Event.wrap (Event.make awaiting t ()) (fun () -> get_resolved t)

let await_result t =
  match Atomic.get t with
  | Value v -> Ok v
  | Failed (e, _) -> Error e
  | Waiting _ ->
      Operation.wait awaiting t ();
      Option.get (peek t)

let await_result_evt t =
  Event.wrap (Event.make awaiting t ()) (fun () -> Option.get (peek t))

let waiters t =
  match Atomic.get t with
  | Waiting waiters -> Waiters.length waiters
  | Value _ | Failed _ -> 0
