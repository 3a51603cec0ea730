type t = { root : string; upload : string }
type path = string list (* the last name first *)

let create ~root ~upload = { root; upload }
let root = []

let step path = function
  | "" | "." -> path
  | ".." -> ( match path with [] -> [] | _ :: parents -> parents)
  | name -> name :: path

let resolve path text =
  let from = if String.starts_with ~prefix:"/" text then root else path in
  List.fold_left step from (String.split_on_char '/' text)

let to_string path = "/" ^ String.concat "/" (List.rev path)
let file t path = t.root ^ to_string path
let is_name = String.for_all (fun c -> c >= ' ' && c <> '\127')
let fail error path = raise (Unix.Unix_error (error, "stat", to_string path))

(* Checks each folder of the path, because [stat] would follow a folder that is a symbolic
   link. *)
let rec stat t path =
  match path with
  | [] -> Concord_aio.stat t.root
  | _ :: parents -> (
      if (stat t parents).st_kind <> S_DIR then fail ENOTDIR path;
      let stats = Concord_aio.lstat (file t path) in
      match stats.st_kind with
      | S_REG | S_DIR -> stats
      | S_LNK | S_CHR | S_BLK | S_FIFO | S_SOCK -> fail ENOENT path)

let exists t path =
  match Concord_aio.lstat (file t path) with
  | (_ : Unix.stats) -> true
  | exception Unix.Unix_error _ -> false

let list t path =
  let entry path =
    match (path, stat t path) with
    | name :: _, stats when is_name name -> Some (name, stats)
    | _ | (exception Unix.Unix_error _) -> None
  in
  if (stat t path).st_kind <> S_DIR then Option.to_list (entry path)
  else
    match Concord_aio.readdir (file t path) with
    | exception Unix.Unix_error _ -> fail EACCES path
    | names ->
        List.sort String.compare names
        |> List.filter_map (fun name -> entry (name :: path))

let may_store t path =
  match path with
  | [ _; upload ] when upload = t.upload -> (
      match stat t [ upload ] with
      | { st_kind = S_DIR; _ } -> not (exists t path)
      | _ | (exception Unix.Unix_error _) -> false)
  | _ -> false
