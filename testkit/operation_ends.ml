open Operation_scene
module Hand = Operation_hand

(* --- S5 ------------------------------------------------------------------------- *)

let[@inline never] origin () =
  try raise Hand.Interrupt with e -> (e, Printexc.get_raw_backtrace ())

let entries backtrace = Array.to_list (Printexc.raw_backtrace_entries backtrace)

let rec begins_with prefix list =
  match (prefix, list) with
  | [], _ -> true
  | a :: prefix, b :: list -> a = b && begins_with prefix list
  | _ :: _, [] -> false

let keeps_backtrace s =
  match s.fail with
  | None ->
      raise (Trial.Not_offered "it has no function that fails its waiters")
  | Some fail -> (
      let recorded = Printexc.backtrace_status () in
      Printexc.record_backtrace true;
      Fun.protect ~finally:(fun () -> Printexc.record_backtrace recorded)
      @@ fun () ->
      let e, backtrace = origin () in
      only_if (entries backtrace <> []) "the program records no backtraces";
      let w = start s in
      fail e backtrace;
      settle s;
      raised e w;
      match Hand.outcome w.task with
      | Raised (_, actual)
        when not (begins_with (entries backtrace) (entries actual)) ->
          Trial.fail
            "the exception arrived without the backtrace that it was given"
      | _ -> ())

(* --- Closing ---------------------------------------------------------------------- *)

let closed s f =
  match s.close with
  | None -> raise (Trial.Not_offered "it cannot be closed")
  | Some (exn, close) -> f ~exn ~close

let ended s =
  closed s @@ fun ~exn ~close ->
  let waiters = start_many s 3 in
  let cancelled = List.nth waiters 1 in
  cancel cancelled;
  close ();
  settle s;
  left cancelled;
  List.iter (raised exn) (but_for 1 waiters);
  raised exn (start s)

let ended_before_block s =
  closed s @@ fun ~exn ~close ->
  let hooks = { Hand.no_hooks with performs = once close } in
  let w = start ~hooks s in
  settle s;
  raised exn w

let ended_after_release s =
  closed s @@ fun ~exn ~close ->
  only_if (one_by_one s) "one release lets all tasks continue";
  let both = start_many s 2 in
  release_by_hand s;
  close ();
  settle s;
  match List.partition has_returned both with
  | [ _ ], [ other ] -> raised exn other
  | gone, _ ->
      Trial.fail
        "after one release, and then the end, %d tasks returned, but it should \
         be one"
        (List.length gone)

(* Five tasks wait, and the resumers of two of them raise. *)
let end_interrupted s =
  closed s @@ fun ~exn ~close ->
  may_be_interrupted s;
  let waiters = start_some_interrupted s in
  raises_interrupt "the end" close;
  settle s;
  List.iter (raised exn) waiters;
  raised exn (start s)

let backtrace = [ ("one task waits", keeps_backtrace) ]

let close =
  [
    ("the end is interrupted", end_interrupted);
    ("three tasks wait", ended);
    ("closed before block", ended_before_block);
    ("closed after a release", ended_after_release);
  ]
