(* Invariant: [front] is empty only if the queue is. *)
type 'w t = { front : 'w list; back : 'w list; size : int; gone : int }

let empty = { front = []; back = []; size = 0; gone = 0 }
let is_empty q = q.front == []
let length q = Int.max 0 (q.size - q.gone)

let push q w =
  match q.front with
  | [] -> { front = [ w ]; back = []; size = 1; gone = 0 }
  | _ -> { q with back = w :: q.back; size = q.size + 1 }

let head q =
  match q.front with
  | w :: _ -> w
  | [] -> invalid_arg "Waiters.head: empty queue"

let tail q =
  match q.front with
  | [ _ ] when q.back == [] -> empty
  | [ _ ] ->
      { front = List.rev q.back; back = []; size = q.size - 1; gone = q.gone }
  | _ :: front -> { q with front; size = q.size - 1 }
  | [] -> invalid_arg "Waiters.tail: empty queue"

let rebuild ~live q =
  (* [rev_append (rev ...)] takes no stack: a queue may hold millions. *)
  let keep = List.filter live in
  match List.rev_append (List.rev (keep q.front)) (List.rev (keep q.back)) with
  | [] -> empty
  | front -> { front; back = []; size = List.length front; gone = 0 }

let withdraw ~live q =
  let gone = q.gone + 1 in
  if 2 * gone > q.size then rebuild ~live q else { q with gone }

let iter f q =
  List.iter f q.front;
  List.iter f (List.rev q.back)
