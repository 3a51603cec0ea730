let limit = 4

(* The servers in it are stopped before, because they are started later. *)
let folder =
  Lazy.from_fun (fun () ->
      let folder = Filename.temp_dir "drivers" "" in
      let remove = "rm -rf " ^ Filename.quote folder in
      at_exit (fun () -> ignore (Sys.command remove : int));
      folder)

let file name = Filename.concat (Lazy.force folder) name

type t = {
  name : string;
  ask : int -> unit;  (** Asks with this number, and checks the answer. *)
  fail : unit -> unit;
      (** Asks for something that the server refuses, without loss. *)
  open_here : unit -> int;  (** The connections in the pool. *)
  open_there : (unit -> int) option;  (** As the server counts them. *)
  slow : (float -> unit) option;  (** The answer comes after these seconds. *)
  close : unit -> unit;
}

let is_installed program =
  List.exists
    (fun folder -> Sys.file_exists (Filename.concat folder program))
    (String.split_on_char ':' (Sys.getenv "PATH"))
