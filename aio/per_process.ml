(* [made], with the generation of each process

   State   Left by  To           By whom
   values  get      a new one,   any thread of a process that is not that of the first one
                    and values

   What the parents made is kept: to collect a condition variable on which a thread waited when
   the process was forked would block forever. *)
type 'a t = { make : unit -> 'a; made : (int * 'a) list Atomic.t }

let create make = { make; made = Atomic.make [] }

let rec get t =
  let generation = Native.generation () in
  match Atomic.get t.made with
  | (here, value) :: _ when here = generation -> value
  | parents ->
      let values = (generation, t.make ()) :: parents in
      ignore (Atomic.compare_and_set t.made parents values : bool);
      get t
