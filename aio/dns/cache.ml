type key = string * Message.kind

module By_key = Map.Make (struct
  type t = key

  let compare = compare
end)

module By_time = Set.Make (struct
  type t = float * key

  let compare = compare
end)

(* [times] has the expiry time and the key of each answer, so that the first one to expire is
   found fast. *)
type 'v t = {
  size : int;
  count : int;
  answers : (float * 'v) By_key.t;
  times : By_time.t;
}

let empty ~size =
  { size; count = 0; answers = By_key.empty; times = By_time.empty }

let find t ~now key =
  match By_key.find_opt key t.answers with
  | Some (expires, v) when now < expires -> Some v
  | _ -> None

let remove t key =
  match By_key.find_opt key t.answers with
  | None -> t
  | Some (expires, _) ->
      {
        t with
        count = t.count - 1;
        answers = By_key.remove key t.answers;
        times = By_time.remove (expires, key) t.times;
      }

let add t ~expires key v =
  let t = remove t key in
  let t =
    {
      t with
      count = t.count + 1;
      answers = By_key.add key (expires, v) t.answers;
      times = By_time.add (expires, key) t.times;
    }
  in
  if t.count <= t.size then t else remove t (snd (By_time.min_elt t.times))

let length t = By_key.cardinal t.answers
