type number = int
type since = int

external number : int -> number = "concord_signal_number" [@@noalloc]
external named : int -> int = "concord_signal_named" [@@noalloc]

external catch : Unix.file_descr -> number -> every:bool -> since
  = "concord_signal_catch"
[@@noalloc]

external release : number -> since -> every:bool -> unit
  = "concord_signal_release"
[@@noalloc]

external count : number -> int = "concord_signal_count" [@@noalloc]

let come number ~since = count number - since
let number signal = match number signal with 0 -> None | n -> Some n

let catch pipe number ~every =
  match catch pipe number ~every with -1 -> None | since -> Some since

(* No system has signals outside of these bounds. The runtime would convert them to an [int] of
   C, and so to another number. *)
let in_sys signal =
  if signal < -1000 || signal > 1000 then signal else named signal

let name signal =
  match Signal_names.find (in_sys signal) with
  | Some name -> name
  | None -> Printf.sprintf "signal %d" signal

let name_and_number signal =
  Signal_names.with_number (Signal_names.find (in_sys signal)) signal
