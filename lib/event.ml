type 'a offer = {
  block : 'a Suspend.resumer -> 'a option;
  withdraw : unit -> unit;
}

type +_ t =
  | Operation : { poll : unit -> 'a option; offer : unit -> 'a offer } -> 'a t
  | Always : 'a -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t

let make ~poll ~offer = Operation { poll; offer }
let always v = Always v
let wrap t f = Wrap (t, f)

let rec poll : type a. a t -> a option = function
  | Operation { poll; _ } -> poll ()
  | Always v -> Some v
  | Wrap (t, f) -> Option.map f (poll t)

let wait { block; withdraw } =
  match Suspend.suspend block with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      withdraw ();
      Printexc.raise_with_backtrace e backtrace

let rec sync : type a. a t -> a = function
  | Operation { poll; offer } -> (
      match poll () with Some v -> v | None -> wait (offer ()))
  | Always v -> v
  | Wrap (t, f) -> f (sync t)
