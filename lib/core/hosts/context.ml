type t = (unit -> unit -> unit) option

let all : (unit -> t) list Atomic.t = Atomic.make []
let add here = Atomically.update all (List.cons here)

let here () =
  match List.filter_map (fun here -> here ()) (Atomic.get all) with
  | [] -> None
  | [ save ] -> Some save
  | several ->
      (* The loop of one library runs in a task of another. *)
      Some
        (fun () ->
          let restore = List.map (fun save -> save ()) several in
          fun () -> List.iter (fun restore -> restore ()) restore)

let save = function None -> ignore | Some save -> save ()
