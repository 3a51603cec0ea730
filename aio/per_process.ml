(* [made], with the generation of each process

   State   Left by  To           By whom
   values  get      a new one,   any thread, if the first of the values belongs to another
                    and values   process

   The values of the parents are kept. They may have condition variables on which a thread
   waited when the process was forked, and the collection of such a variable would block
   forever. *)
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
