(* Only threads of one domain touch its record, and they switch at allocations
   and polls only. What could go wrong between two of the plain accesses below is
   that a note is lost or, with [generation] unchanged, that it is overwritten by
   another thread's: [noted] then compares the thread and answers [-1]. *)
type t = {
  mutable generation : int;
  mutable observed : bool;
  mutable noted : int;
  mutable noted_in : int;  (** The generation of the note. *)
  mutable noted_by : int;  (** The thread that made it. *)
}

let thread () = Thread.id (Thread.self ())
let step t = t.generation <- t.generation + 1

(* [Domain_local_await] calls [Thread.self] whenever a scheduler registers
   itself and whenever somebody prepares to wait: that is the observation. *)
let observe t =
  let module Observed = struct
    type t = Thread.t

    let self () =
      step t;
      Thread.self ()

    let id = Thread.id
  end in
  match Domain_local_await.per_thread (module Observed) with
  | () -> t.observed <- true
  | exception Failure _ ->
      (* somebody else called it on this domain before *) ()

let create () =
  let t =
    {
      generation = 0;
      observed = false;
      noted = -1;
      noted_in = -1;
      noted_by = -1;
    }
  in
  observe t;
  t

let key = Domain.DLS.new_key create
let get () = Domain.DLS.get key
let () = ignore (get ())

let generation t =
  if not t.observed then step t;
  t.generation

let note t n =
  t.noted_by <- thread ();
  t.noted_in <- t.generation;
  t.noted <- n

let noted t =
  if t.noted_in = generation t && t.noted_by = thread () then t.noted else -1
