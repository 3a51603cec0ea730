(* The structure and its waiter are kept apart from the functions: it is the same
   wait as the one that [Suspend.wait] does without an event. *)
type +'a offer =
  | Offer : {
      block : 't -> 'w -> 'a Suspend.resumer -> 'a option;
      withdraw : 't -> 'w -> unit;
      structure : 't;
      waiter : 'w;
    }
      -> 'a offer

type +_ t =
  | Operation : { poll : unit -> 'a option; offer : unit -> 'a offer } -> 'a t
  | Always : 'a -> 'a t
  | Wrap : 'b t * ('b -> 'a) -> 'a t

let offer block withdraw structure waiter =
  Offer { block; withdraw; structure; waiter }

let make ~poll ~offer = Operation { poll; offer }
let always v = Always v
let wrap t f = Wrap (t, f)

let rec poll : type a. a t -> a option = function
  | Operation { poll; _ } -> poll ()
  | Always v -> Some v
  | Wrap (t, f) -> Option.map f (poll t)

let rec sync : type a. a t -> a = function
  | Operation { poll; offer } -> (
      match poll () with
      | Some v -> v
      | None ->
          let (Offer { block; withdraw; structure; waiter }) = offer () in
          Suspend.wait block withdraw structure waiter)
  | Always v -> v
  | Wrap (t, f) -> f (sync t)
