type t = {
  mutable rows : int;
  mutable columns : int;
  mutable height : int;
  mutable is_resized : bool;
}

let least_height = 8
let most_height = 20
let height t = t.height

(* The size of the process's terminal. OCaml can't ask for it, but [stty] can. *)
let size () =
  match Unix.openfile "/dev/tty" [ O_RDONLY; O_CLOEXEC ] 0 with
  | exception Unix.Unix_error _ -> None
  | tty -> (
      let input, output = Unix.pipe ~cloexec:true () in
      let channel = Unix.in_channel_of_descr input in
      Fun.protect ~finally:(fun () ->
          close_in_noerr channel;
          Unix.close tty)
      @@ fun () ->
      match
        Fun.protect
          ~finally:(fun () -> Unix.close output)
          (fun () ->
            Unix.create_process "stty" [| "stty"; "size" |] tty output
              Unix.stderr)
      with
      | exception Unix.Unix_error _ -> None
      | pid -> (
          let line = In_channel.input_all channel in
          ignore (Unix.waitpid [] pid : int * Unix.process_status);
          match String.split_on_char ' ' (String.trim line) with
          | [ rows; columns ] -> (
              match (int_of_string_opt rows, int_of_string_opt columns) with
              | Some rows, Some columns when columns > 0 -> Some (rows, columns)
              | _ -> None)
          | _ -> None))

(* Each text is written at once, so that the output of programs can't come in between. *)
let write text =
  print_string text;
  flush stdout

(* Scrolls until [height] lines are free below the cursor. From then on, only the lines above
   them scroll. Setting this region moves the cursor, so the cursor is saved and restored. *)
let take_lines t =
  write
    (Printf.sprintf "\0277\027[r\0278%s\027[%dA\0277\027[1;%dr\0278"
       (String.make t.height '\n')
       t.height (t.rows - t.height))

let measure t =
  match size () with
  | Some (rows, columns) when rows / 2 >= least_height ->
      t.rows <- rows;
      t.columns <- columns;
      t.height <- Int.min most_height (rows / 2);
      true
  | Some _ | None -> false

(* SIGWINCH. OCaml has no name for it, and this is its number on Linux and most other systems. *)
let window_changed = 28

let open_ () =
  let t = { rows = 0; columns = 0; height = 0; is_resized = false } in
  if Unix.isatty Unix.stdout && measure t then begin
    (try
       Sys.set_signal window_changed
         (Signal_handle (fun _ -> t.is_resized <- true))
     with Invalid_argument _ | Sys_error _ -> ());
    take_lines t;
    Some t
  end
  else None

let fit ~columns line =
  if String.length line <= columns then line else String.sub line 0 columns

let show t lines =
  if t.is_resized then begin
    t.is_resized <- false;
    if measure t then take_lines t
  end;
  let buffer = Buffer.create 2_000 in
  let add i line =
    Printf.bprintf buffer "\027[%d;1H%s"
      (t.rows - t.height + 1 + i)
      (fit ~columns:t.columns line)
  in
  Printf.bprintf buffer "\0277\027[%d;1H\027[J" (t.rows - t.height + 1);
  List.iteri add (List.filteri (fun i _ -> i < t.height) lines);
  Buffer.add_string buffer "\0278";
  write (Buffer.contents buffer)

let close _ = write "\0277\027[r\0278\027[J"
