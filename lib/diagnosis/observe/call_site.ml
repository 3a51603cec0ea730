(* Reports and traces find the program's line in the same way. *)
let decode raw =
  match Debug_frames.of_program raw with
  | { file; line; _ } :: _ -> Printf.sprintf "%s:%d" file line
  | [] -> ""

(* The states of each element of [known]

   State            Left by   To               By whom
   None             [line]    Some (raw, at)   a caller that decoded [raw], which has this hash
   Some (raw, at)   [line]    Some another     a caller that decoded another one of this hash

   If two callers do so at once, both decode, and either result may stay. *)
type known = (Printexc.raw_backtrace * string) option Atomic.t

let size = 1_024
let known : known array = Array.init size (fun _ -> Atomic.make None)
let max_frames = 24

let line raw =
  let hash = Hashtbl.hash_param max_frames max_frames raw in
  let slot = known.(hash mod size) in
  match Atomic.get slot with
  | Some (raw', at) when raw' = raw -> at
  | Some _ | None ->
      let at = decode raw in
      Atomic.set slot (Some (raw, at));
      at

let here () = line (Printexc.get_callstack max_frames)
