(* Only threads of one domain touch its record, and they switch at allocations
   and polls only. What could go wrong between two of the plain accesses below is
   that a note is lost, or overwritten by another thread's: [noted] compares the
   thread and answers [-1]. *)
type t = { mutable generation : int; observed : bool; note : note }

and note = {
  mutable number : int;
  mutable made_in : int;  (** The generation. *)
  mutable made_by : int;  (** The thread. *)
}

let thread () = Thread.id (Thread.self ())

(* [Domain_local_await] calls [Thread.self] whenever a scheduler registers
   itself and whenever somebody prepares to wait: that is the observation. The
   record exists only after [per_thread] has answered, hence the [step] that is
   set late. *)
let create () =
  let step = ref ignore in
  let module Observed = struct
    type t = Thread.t

    let self () =
      !step ();
      Thread.self ()

    let id = Thread.id
  end in
  let observed =
    match Domain_local_await.per_thread (module Observed) with
    | () -> true
    | exception Failure _ ->
        (* somebody else called it on this domain before *) false
  in
  let note = { number = -1; made_in = -1; made_by = -1 } in
  let t = { generation = 0; observed; note } in
  (step := fun () -> t.generation <- t.generation + 1);
  t

let key = Domain.DLS.new_key create
let get () = Domain.DLS.get key
let () = ignore (get () : t)

let note t number =
  t.note.made_by <- thread ();
  t.note.made_in <- t.generation;
  t.note.number <- number

let noted t =
  if t.note.made_in = t.generation && t.observed && t.note.made_by = thread ()
  then t.note.number
  else -1
