type t = { port : int }

let port t = t.port
let in_our_folder = Filename.concat (Filename.dirname Sys.executable_name)

let end_with_us pid =
  let kill () = try Unix.kill pid Sys.sigkill with Unix.Unix_error _ -> () in
  at_exit kill;
  (* As in [Worker.serve], the alarm ends a process that hangs. *)
  Sys.set_signal Sys.sigalrm
    (Signal_handle
       (fun _ ->
         kill ();
         Sys.set_signal Sys.sigalrm Signal_default;
         Unix.kill (Unix.getpid ()) Sys.sigalrm))

let port_of line =
  try Scanf.sscanf line "%_s@: listening on http://127.0.0.1:%d%!" Option.some
  with Scanf.Scan_failure _ | End_of_file | Failure _ -> None

let start ~name command =
  let program = in_our_folder (List.hd command) in
  let command = Array.of_list (program :: List.tl command) in
  let from_server, output = Unix.pipe ~cloexec:true () in
  let null = Unix.openfile "/dev/null" [ O_RDONLY; O_CLOEXEC ] 0 in
  let pid = Unix.create_process program command null output Unix.stderr in
  end_with_us pid;
  List.iter Unix.close [ output; null ];
  let input = Unix.in_channel_of_descr from_server in
  let line = In_channel.input_line input in
  In_channel.close input;
  match Option.bind line port_of with
  | Some port -> { port }
  | None -> failwith ("the server " ^ name ^ " did not start")
