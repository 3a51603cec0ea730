exception Being_forced = Errors.Being_forced

(* If a task forces one of Stdlib's lazy values while another task does, Stdlib raises
   [Undefined]. So if two values of [Lazy.of_stdlib] share one lazy value of Stdlib, they find
   each other in this list while it is being forced. The second one doesn't force it, but calls
   [await], which forces the first one.

   [being_forced], the only Atomic here

   Left by  To         By whom
   enter    one more   the task that is about to force the value of Stdlib, if the list
                       has no entry for it
   leave    one less   the same task, afterwards *)
type any = Any : 'a Stdlib.Lazy.t -> any

type entry = {
  stdlib : any;
  owner : Forcing.any;
  await : unit -> unit;  (** Forces the owner. *)
}

let being_forced : entry list Atomic.t = Atomic.make []
let same_stdlib (Any l) { stdlib = Any other; _ } = Identity.equal l other

let same_owner (Forcing.Any t) { owner = Forcing.Any other; _ } =
  Identity.equal t other

let rec enter entry =
  let before = Atomic.get being_forced in
  match List.find_opt (same_stdlib entry.stdlib) before with
  | Some other ->
      if same_owner entry.owner other then None else Some other.await
  | None ->
      if Atomic.compare_and_set being_forced before (entry :: before) then None
      else (* another entry came or left *) enter entry

let leave_step entry entries : _ Step.t =
  let is_other other = not (same_owner entry.owner other) in
  Return (List.filter is_other entries, ())

let leave entry = Step.surely being_forced leave_step entry

(* [Undefined] means that other code is forcing [l], or that [l] needs itself and remembers the
   exception. [Stdlib.Lazy.is_val l] distinguishes the two, because it is also [true] while [l]
   is being forced. But the other code may end just before the call of [is_val]. If it ended
   with a value, the next attempt returns the value. If it ended with an exception, [l] looks
   as if it remembered [Undefined], and the next attempt raises the other exception. The only
   case left is that yet other code forces [l] for that exception at that moment, so there are
   two such attempts. [values] and [failures] are the numbers of attempts that are left. *)
let rec force_stdlib ?(values = 1) ?(failures = 2) l =
  match Stdlib.Lazy.force l with
  | v -> v
  | exception Stdlib.Lazy.Undefined ->
      if Stdlib.Lazy.is_val l then
        if values > 0 then force_stdlib ~values:(values - 1) ~failures l
        else raise Being_forced
      else if failures > 0 then force_stdlib ~values ~failures:(failures - 1) l
      else raise Stdlib.Lazy.Undefined

type 'a forced = Forced of 'a | Elsewhere of (unit -> unit)

let force l ~owner:(Forcing.Any t as owner) ~await =
  let entry = { stdlib = Any l; owner; await } in
  match enter entry with
  | Some await -> Elsewhere await
  | None -> (
      match Suspend.protect (fun () -> force_stdlib l) with
      | v ->
          leave entry;
          Forced v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          leave entry;
          if e == Being_forced then Errors.raised_by t e;
          Printexc.raise_with_backtrace e backtrace)
