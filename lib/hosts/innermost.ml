(* Only threads of one domain touch its record, and they switch at allocations
   and polls only. *)
type flag = { mutable up : bool; mutable asked : bool }

type t = {
  observed : bool;
  mutable flags : flag list;  (** Those that are up. *)
  mutable note : int;  (** Or -1. *)
  mutable noted_by : int;  (** The thread. *)
}

let thread () = Thread.id (Thread.self ())

let something_happened t =
  t.note <- -1;
  match t.flags with
  | [] -> ()
  | flags ->
      t.flags <- [];
      List.iter (fun flag -> flag.up <- false) flags

(* [Domain_local_await] calls [Thread.self] whenever a scheduler registers
   itself and whenever somebody prepares to wait: that is the observation. The
   record exists only after [per_thread] has answered, hence the function that is
   set late. *)
let create () =
  let observe = ref ignore in
  let module Observed = struct
    type t = Thread.t

    let self () =
      !observe ();
      Thread.self ()

    let id = Thread.id
  end in
  let observed =
    match Domain_local_await.per_thread (module Observed) with
    | () -> true
    | exception Failure _ ->
        (* somebody else called it on this domain before *) false
  in
  let t = { observed; flags = []; note = -1; noted_by = -1 } in
  (observe := fun () -> something_happened t);
  t

let key = Domain.DLS.new_key create
let get () = Domain.DLS.get key
let () = ignore (get () : t)

let raise_flag t flag =
  if t.observed && not flag.up then begin
    flag.up <- true;
    t.flags <- flag :: t.flags
  end

let note t number =
  if t.observed then begin
    t.noted_by <- thread ();
    t.note <- number
  end

let noted t = if t.note >= 0 && t.noted_by = thread () then t.note else -1
