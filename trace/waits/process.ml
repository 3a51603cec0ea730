type area = { first : int; after : int }

let path pid name = Printf.sprintf "/proc/%d/%s" pid name

let contents file =
  match In_channel.with_open_bin file In_channel.input_all with
  | text -> Some text
  | exception Sys_error _ -> None

(* --- Access --------------------------------------------------------------------- *)

let status pid field =
  let of_line line =
    match String.index_opt line ':' with
    | Some i when String.sub line 0 i = field ->
        Some
          (String.trim (String.sub line (i + 1) (String.length line - i - 1)))
    | Some _ | None -> None
  in
  Option.bind
    (contents (path pid "status"))
    (fun text -> List.find_map of_line (String.split_on_char '\n' text))

let exists pid = Sys.file_exists (path pid "status")

let refuse_access pid =
  if not (exists pid) then Refused.refuse "there is no process %d" pid;
  (match Option.bind (status pid "TracerPid") int_of_string_opt with
  | Some tracer when tracer > 0 ->
      Refused.refuse
        "process %d is traced already, by process %d (a debugger?). Only one \
         can do so at a time"
        pid tracer
  | Some _ | None -> ());
  let is_restricted =
    match contents "/proc/sys/kernel/yama/ptrace_scope" with
    | Some text -> String.trim text <> "0"
    | None -> false
  in
  Refused.refuse
    "may not read process %d. %s. In a container, the command needs the \
     capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE), or you call it \
     on the container's host"
    pid
    (if is_restricted then
       "Call the command as root, because this system allows it to nobody else \
        (/proc/sys/kernel/yama/ptrace_scope)"
     else "Call the command as root, or as the user of the process")

let check pid =
  if not (Sys.file_exists "/proc/self/status") then
    Refused.refuse "this needs Linux, and its /proc";
  if not (exists pid) then Refused.refuse "there is no process %d" pid

(* In "12 (a name) S 1 ..." the letter after the last parenthesis is the state. *)
let has_ended pid ~thread =
  match contents (path pid (Printf.sprintf "task/%d/stat" thread)) with
  | None | Some "" -> true
  | Some text -> (
      match String.rindex_opt text ')' with
      | Some i when i + 2 < String.length text ->
          text.[i + 2] = 'Z' || text.[i + 2] = 'X'
      | Some _ | None -> false)

let inner_pid pid =
  match Option.map (String.split_on_char '\t') (status pid "NSpid") with
  | Some (_ :: _ :: _ as pids) ->
      int_of_string_opt (List.nth pids (List.length pids - 1))
  | Some _ | None -> None

(* --- Its memory ------------------------------------------------------------------- *)

let executable pid = path pid "exe"
let at_phdr = 3

let program_headers pid =
  match contents (path pid "auxv") with
  | None | Some "" -> refuse_access pid
  | Some text ->
      let word i = Int64.to_int (String.get_int64_le text (8 * i)) in
      let rec find i =
        if 8 * (i + 2) > String.length text then
          Refused.refuse "process %d has no program headers" pid
        else if word i = at_phdr then word (i + 1)
        else find (i + 2)
      in
      find 0

(* For example "7f0000000000-7f0000021000 rw-p 00000000 00:00 0    [heap]". Files and devices have
   neither stacks nor values. *)
let area_of_line line =
  match List.filter (( <> ) "") (String.split_on_char ' ' line) with
  | range :: access :: _offset :: _device :: _inode :: name -> (
      let is_memory =
        match name with
        | [] -> true
        | name :: _ ->
            List.exists
              (fun prefix -> String.starts_with ~prefix name)
              [ "[heap]"; "[anon"; "[stack" ]
      in
      match String.split_on_char '-' range with
      | [ first; after ]
        when is_memory
             && String.starts_with ~prefix:"rw" access
             && String.ends_with ~suffix:"p" access ->
          Some
            {
              first = int_of_string ("0x" ^ first);
              after = int_of_string ("0x" ^ after);
            }
      | _ -> None)
  | _ -> None

let areas pid =
  match contents (path pid "maps") with
  | None | Some "" -> refuse_access pid
  | Some text -> List.filter_map area_of_line (String.split_on_char '\n' text)

(* /proc/PID/pagemap has 8 bytes for each page. The two upper bits say that it is in memory, or
   swapped. Without that file, everything is read. *)
let page_size = 4096

let present_in file { first; after } =
  let pages = (after - first) / page_size in
  let at_once = 65_536 in
  let buffer = Bytes.create (8 * at_once) in
  let rec read done_ length =
    if done_ = length then done_
    else
      match Unix.read file buffer done_ (length - done_) with
      | 0 -> done_
      | n -> read (done_ + n) length
  in
  (* [since] is the first page of a part that is present. *)
  let rec from i since found =
    if i >= pages then close pages since found
    else begin
      let n = Int.min at_once (pages - i) in
      ignore (Unix.lseek file (((first / page_size) + i) * 8) SEEK_SET : int);
      let known = read 0 (8 * n) / 8 in
      if known < n then raise Exit;
      let since = ref since and found = ref found in
      for k = 0 to n - 1 do
        let is_present = Bytes.get_uint8 buffer ((8 * k) + 7) land 0xc0 <> 0 in
        match !since with
        | None -> if is_present then since := Some (i + k)
        | Some _ ->
            if not is_present then begin
              found := close (i + k) !since !found;
              since := None
            end
      done;
      from (i + n) !since !found
    end
  and close page since found =
    match since with
    | None -> found
    | Some begun ->
        {
          first = first + (begun * page_size);
          after = first + (page * page_size);
        }
        :: found
  in
  List.rev (from 0 None [])

let present pid area =
  match Unix.openfile (path pid "pagemap") [ O_RDONLY; O_CLOEXEC ] 0 with
  | exception Unix.Unix_error _ -> [ area ]
  | file ->
      Fun.protect
        ~finally:(fun () -> Unix.close file)
        (fun () ->
          match present_in file area with
          | found -> found
          | exception (Exit | Unix.Unix_error _) -> [ area ])
