module Table = Hashtbl.Make (Int)

type target = { operation : string; structure : int; name : string option }
type wait = { targets : target list; lines : Frame_table.line list }
type found = { waits : wait list; unseen : int }

type t = {
  pid : int;
  memory : Memory.t;
  heap : Heap.t;
  frames : Frame_table.t;
  layout_at : int;
  own : int -> bool;  (** Is this address in the executable? *)
}

(* --- The program -------------------------------------------------------------------- *)

let refuse_program symbol =
  let is_there name = Option.is_some (symbol name) in
  if is_there "caml_interprete" || is_there "caml_startup_code" then
    Refused.refuse
      "it is a program in bytecode, or a toplevel. Its stacks are in another \
       format, so start it with CONCORD_DEBUG=sigquit instead"
  else if is_there "caml_frametable" then
    Refused.refuse
      "it is a program of OCaml, but doesn't use Concord, or a version that \
       doesn't describe its waits"
  else
    Refused.refuse
      "it isn't a program of OCaml, or its symbols were removed from a \
       statically linked file"

let open_process pid memory =
  let elf = Elf.read (Process.executable pid) in
  let base = Process.program_headers pid - Elf.headers_at elf in
  let symbol name = Option.map (( + ) base) (Elf.symbol elf name) in
  match (symbol Layout.symbol, symbol "caml_frametable") with
  | None, _ | _, None -> refuse_program symbol
  | Some layout_at, Some frametable ->
      let required name =
        match symbol name with
        | Some address -> address
        | None -> Refused.refuse "it has no symbol %s" name
      in
      let heap = Heap.create memory ~symbol:required in
      let first, after = Elf.extent elf in
      let layout = Layout.read heap layout_at in
      let frames = Frame_table.read memory frametable in
      let sites functions =
        List.concat_map
          (fun code ->
            Frame_table.between frames code (base + Elf.after elf (code - base)))
          functions
      in
      let t =
        {
          pid;
          memory;
          heap;
          frames;
          layout_at;
          own = (fun at -> at >= base + first && at < base + after);
        }
      in
      (t, sites layout.suspending, sites layout.choosing)

(* --- While the process runs ------------------------------------------------------------ *)

let chunk = 1 lsl 20

(* Calls [f] with each part of the memory that may have stacks or domains. *)
let scan { pid; memory; own; _ } f =
  let buffer = Bytes.create chunk in
  let rec part { Process.first; after } =
    if first < after then begin
      let length = Int.min chunk (after - first) in
      let length = Memory.read memory first buffer ~length in
      f first buffer (length / 8);
      part { first = first + chunk; after }
    end
  in
  Process.areas pid
  |> List.filter (fun { Process.first; _ } -> not (own first))
  |> List.concat_map (Process.present pid)
  |> List.iter part

let[@inline] word buffer i = Int64.to_int (Bytes.get_int64_le buffer (8 * i))

(* The addresses that hold a return address of one of the sites. *)
let returns t sites =
  let least = List.fold_left Int.min max_int sites
  and most = List.fold_left Int.max 0 sites in
  let is_site = Table.create 64 in
  List.iter (fun site -> Table.replace is_site site ()) sites;
  let found = ref [] in
  Heap.refresh t.heap;
  scan t (fun first buffer words ->
      for i = 0 to words - 1 do
        let v = word buffer i in
        if v >= least && v <= most then
          begin if Table.mem is_site v then found := (first + (8 * i)) :: !found
          end
        else if
          i + 3 < words
          && Heap.is_young t.heap v
          && Heap.is_domain t.heap (fun k -> word buffer (i + k))
        then Heap.note_domain t.heap (first + (8 * i))
      done);
  List.rev !found

(* --- While the process stands still ------------------------------------------------------ *)

type still = {
  t : t;
  layout : Layout.t;
  names : Names.t;
  search : Queue_search.t;
  seen : unit Table.t;  (** The waiters that were found. *)
}

let is_operation { t = { heap; _ }; layout; _ } v =
  Heap.is_block heap v
  && Heap.tag heap v = 0
  && Heap.size heap v > Int.max layout.operation_mark layout.operation_name
  && Heap.field heap v layout.operation_mark = layout.mark

let target { t = { heap; _ }; layout; names; _ } ~operation ~structure =
  {
    operation = Heap.text heap (Heap.field heap operation layout.operation_name);
    structure;
    name = Names.find names structure;
  }

let choice { t = { heap; _ }; layout; _ } waiter =
  Heap.field heap waiter layout.waiter_choice

(* It is the first time that the waiter is found. A stack may have old copies of a frame. *)
let is_new still waiter =
  (not (Table.mem still.seen waiter))
  && begin
    Table.replace still.seen waiter ();
    true
  end

let values { t = { heap; frames; _ }; _ } frame ~stack =
  Frame_table.values frames frame
  |> List.map (fun offset -> Heap.field heap (stack + offset) 0)
  |> List.filter (Heap.is_block heap)

let waits_in ({ t = { heap; _ }; search; _ } as still) structure waiter =
  Queue_search.is_live search waiter
  && (not (Heap.is_garbage heap waiter))
  && (not (Heap.is_garbage heap structure))
  && Queue_search.has still.search ~structure ~waiter

let is_plain ({ search; layout; _ } as still) v =
  Queue_search.is_waiter search v && choice still v = layout.no_choice

(* Of the values in the frame, one is an operation, one a waiter outside a choice, and one the
   structure. A structure may look like a waiter. *)
let of_operation still values =
  match List.find_opt (is_operation still) values with
  | None -> []
  | Some operation -> (
      let others = List.filter (( <> ) operation) values in
      let of_waiter waiter =
        List.find_opt
          (fun structure ->
            structure <> waiter && waits_in still structure waiter)
          others
        |> Option.map (fun structure -> (waiter, structure))
      in
      match List.find_map of_waiter (List.filter (is_plain still) others) with
      | Some (waiter, structure) when is_new still waiter ->
          [ target still ~operation ~structure ]
      | Some _ | None -> [])

let longest_choice = 10_000

(* In the frame of a choice is a reference to a list. The task enlists the alternatives in a random
   order, so they are sorted. Their waiters share a word, which is [true] once one of them was
   resumed. *)
let of_choice ({ t = { heap; _ }; search; _ } as still) values =
  let alternative v =
    if Heap.is_block heap v && Heap.size heap v >= 3 && Heap.tag heap v = 0 then
      let operation = Heap.field heap v 0
      and structure = Heap.field heap v 1
      and waiter = Heap.field heap v 2 in
      if is_operation still operation && Queue_search.is_waiter search waiter
      then Some (operation, structure, waiter)
      else None
    else None
  in
  let rec all list n =
    if n > 0 && Heap.is_block heap list && Heap.size heap list = 2 then
      match alternative (Heap.field heap list 0) with
      | Some found -> found :: all (Heap.field heap list 1) (n - 1)
      | None -> []
    else []
  in
  let is_undecided (_, _, waiter) =
    Queue_search.is_live search waiter
    && (not (Heap.is_garbage heap waiter))
    && Heap.word heap (choice still waiter) = 1
  in
  let of_value v =
    if Heap.size heap v = 1 && Heap.tag heap v = 0 then
      match all (Heap.field heap v 0) longest_choice with
      | (_, _, first) :: _ as found when List.for_all is_undecided found ->
          if is_new still first then
            Some
              (List.map
                 (fun (operation, structure, _) ->
                   target still ~operation ~structure)
                 found
              |> List.sort compare)
          else None
      | _ -> None
    else None
  in
  Option.value (List.find_map of_value values) ~default:[]

let most_lines = 200

let lines { t = { frames; _ }; _ } frame ~stack =
  let rec from frame stack n =
    let own = Frame_table.lines frames frame in
    match Frame_table.caller frames frame ~stack with
    | Some (next, stack) when n > 0 -> own @ from next stack (n - 1)
    | Some _ | None -> own
  in
  from frame stack most_lines

(* [at] holds the return address, and the frame begins behind it. *)
let wait still ~is_choice at =
  match Frame_table.find still.t.frames (Heap.word still.t.heap at) with
  | None -> None
  | Some frame -> (
      let stack = at + 8 in
      let values = values still frame ~stack in
      match
        if is_choice then of_choice still values else of_operation still values
      with
      | [] -> None
      | targets -> Some { targets; lines = lines still frame ~stack })

let longest_stop = 3.

let look t ~choosing candidates =
  Memory.forget t.memory;
  Heap.refresh t.heap;
  let layout = Layout.read t.heap t.layout_at in
  let still =
    {
      t;
      layout;
      names = Names.read t.heap layout;
      search = Queue_search.create t.heap layout;
      seen = Table.create 100;
    }
  in
  let until = Stopped.now () +. longest_stop in
  let rec from candidates waits =
    match candidates with
    | [] -> { waits = List.rev waits; unseen = 0 }
    | _ when Stopped.now () > until ->
        { waits = List.rev waits; unseen = List.length candidates }
    | at :: rest ->
        let is_choice = List.mem (Heap.word t.heap at) choosing in
        let found = wait still ~is_choice at in
        from rest (Option.to_list found @ waits)
  in
  from candidates []

let find pid =
  Process.check pid;
  let memory = Memory.of_process pid in
  Fun.protect
    ~finally:(fun () -> Memory.close memory)
    (fun () ->
      let t, suspending, choosing = open_process pid memory in
      let candidates = returns t (suspending @ choosing) in
      Stopped.within pid (fun () -> look t ~choosing candidates))
