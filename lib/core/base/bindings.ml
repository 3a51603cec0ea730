type 'a key = 'a Type.Id.t
type binding = Binding : 'a key * 'a -> binding
type t = binding list

let create_key = Type.Id.make
let none = []

let rec get : type a. a key -> t -> a option =
 fun key -> function
  | [] -> None
  | Binding (other, v) :: rest -> (
      match Type.Id.provably_equal key other with
      | Some Equal -> Some v
      | None -> get key rest)

let remove key t =
  let is_other (Binding (other, _)) = Type.Id.uid other <> Type.Id.uid key in
  List.filter is_other t

let add key v t = Binding (key, v) :: remove key t
