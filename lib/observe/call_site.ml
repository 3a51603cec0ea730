let is_of_library slot =
  match Printexc.Slot.name slot with
  | Some name ->
      String.starts_with ~prefix:"Stdlib" name
      || not (Debug_frames.is_of_program name)
  | None -> false

let decode raw =
  let rec from i =
    if i = Printexc.raw_backtrace_length raw then ""
    else
      let slot =
        Printexc.convert_raw_backtrace_slot
          (Printexc.get_raw_backtrace_slot raw i)
      in
      match Printexc.Slot.location slot with
      | Some { filename; line_number; _ } when not (is_of_library slot) ->
          Printf.sprintf "%s:%d" filename line_number
      | Some _ | None -> from (i + 1)
  in
  from 0

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
