open Case

(* A chain of lazy values, of which each has a message and the next one. One side forces
   the first, whose computation takes a message of the other side; the other sends it
   and then forces the same. A side that comes late finds the value, and so catches up;
   usually one side computes while the other one waits. *)

type concord = { message : int; next : concord Concord.Lazy.t }

let chain_concord (shape : Host.shape) n =
  let box = Concord.Mvar.create_empty () in
  let rec compute () =
    let message = Concord.Mvar.take box in
    { message; next = Concord.Lazy.from_fun compute }
  in
  let first = Concord.Lazy.from_fun compute in
  let here = ref first and there = ref first in
  let produce n =
    for i = 1 to n do
      Concord.Mvar.put box i;
      there := (Concord.Lazy.force !there).next
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let { message; next } = Concord.Lazy.force !here in
      sum := !sum + message;
      here := next
    done;
    !sum
  in
  shape ~produce ~consume n

type eio = { message : int; next : eio Eio.Lazy.t }

let chain_eio (shape : Host.shape) n =
  let box = Eio.Stream.create 1 in
  let rec compute () =
    let message = Eio.Stream.take box in
    { message; next = Eio.Lazy.from_fun ~cancel:`Restart compute }
  in
  let first = Eio.Lazy.from_fun ~cancel:`Restart compute in
  let here = ref first and there = ref first in
  let produce n =
    for i = 1 to n do
      Eio.Stream.add box i;
      there := (Eio.Lazy.force !there).next
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      let { message; next } = Eio.Lazy.force !here in
      sum := !sum + message;
      here := next
    done;
    !sum
  in
  shape ~produce ~consume n

let parallel =
  let case = "lazy-parallel" in
  {
    title =
      "a lazy value that takes a message, forced on a domain while another one \
       sends the message and waits for the value (eio: the message is in a \
       stream; picos: in a field between two semaphores; go: sync.OnceValue)";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (chain_eio (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          chain_concord (Host.parallel host))
      @ [ go case; picos case elsewhere ];
  }

let comparisons = [ parallel ]
