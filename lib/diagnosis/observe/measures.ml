(* A series is never removed, because its counters would begin again at 0. *)
type series = {
  waiting : int Atomic.t;
  took : int Atomic.t array;  (** How many took so long, see {!number}. *)
  total_ns : int Atomic.t;
}

(* The limits are 1 us, 4 us and so on, up to 67 s, because a wait of threads takes microseconds
   and one for a job takes seconds. The last number has no limit. *)
let first_ns = 1_000
let factor = 4

let limits_ns =
  let rec next n ns = if n = 0 then [] else ns :: next (n - 1) (ns * factor) in
  next 14 first_ns

let rec number_from i ns = function
  | [] -> i
  | limit :: rest -> if ns <= limit then i else number_from (i + 1) ns rest

let number ns = number_from 0 ns limits_ns

module Keys = Map.Make (struct
  type t = string * string

  let compare (a, b) (a', b') =
    match String.compare a a' with 0 -> String.compare b b' | order -> order
end)

type table = { series : series Keys.t; number : int }

let waits = Atomic.make { series = Keys.empty; number = 0 }
let holds = Atomic.make { series = Keys.empty; number = 0 }
let most = 1_000
let others = "(others)"

(* A monitoring system takes only UTF-8, and refuses a text that has a series twice. Two names
   that would be written alike are therefore one name here. Each series writes its name many
   times, so a long name is cut. *)
let most_bytes = 200

let valid name =
  if String.is_valid_utf_8 name then name
  else begin
    let buffer = Buffer.create (String.length name) in
    let rec from i =
      if i < String.length name then begin
        let char = String.get_utf_8_uchar name i in
        Buffer.add_utf_8_uchar buffer (Uchar.utf_decode_uchar char);
        from (i + Uchar.utf_decode_length char)
      end
    in
    from 0;
    Buffer.contents buffer
  end

(* Before a byte that begins a character. *)
let rec cut name n =
  if n > 0 && Char.code name.[n] land 0xc0 = 0x80 then cut name (n - 1)
  else String.sub name 0 n

let short name =
  if String.length name <= most_bytes then name else cut name most_bytes

let clean name = short (valid (short name))
let has_others = Atomic.make false

let create () =
  {
    waiting = Atomic.make 0;
    took = Array.init (List.length limits_ns + 1) (fun _ -> Atomic.make 0);
    total_ns = Atomic.make 0;
  }

(* [others] may come in addition, once for each operation. A name that is clean and known is found
   at once. *)
let rec find table ((what, structure) as key) =
  let ({ series; number } as before) = Atomic.get table in
  match Keys.find_opt key series with
  | Some found -> found
  | None ->
      let cleaned = clean structure in
      if not (String.equal cleaned structure) then find table (what, cleaned)
      else if number >= most && structure <> others then begin
        Atomic.set has_others true;
        find table (what, others)
      end
      else
        let one = create () in
        let series = Keys.add key one series and number = number + 1 in
        if Atomic.compare_and_set table before { series; number } then one
        else find table key

let name pointer =
  if Observer.are_labelled () then
    Option.value ~default:"" (Labels.name pointer)
  else ""

let now_ns () = Int64.to_int (Mtime_clock.now_ns ())

(* Not [Atomic.incr], which may poll. *)
let[@inline] plus number n = ignore (Atomic.fetch_and_add number n : int)

let add { took; total_ns; _ } ns =
  plus took.(number ns) 1;
  plus total_ns ns

(* --- Waits ------------------------------------------------------------------- *)

(* The waits that were counted as begun, and have not ended. Only the waiting task uses it. There
   is no polling point between a change of the list and that of the series. *)
let begin_ entered { Target.operation; structure; _ } =
  let series = find waits (operation, name structure) in
  entered := series :: !entered;
  plus series.waiting 1

let rec end_ entered ns =
  match !entered with
  | [] -> ()
  | series :: rest ->
      entered := rest;
      plus series.waiting (-1);
      add series ns;
      end_ entered ns

(* Unbroken, because the value of the wait would be lost. The thread's next wait raises the
   exception. *)
let rec surely_end entered since_ns =
  match end_ entered (now_ns () - since_ns) with
  | () -> ()
  | exception e ->
      Late.keep e (Printexc.get_raw_backtrace ());
      surely_end entered since_ns;
      ()

let during targets suspend block =
  let since_ns = now_ns () and entered = ref [] in
  match
    List.iter (begin_ entered) targets;
    suspend block
  with
  | v ->
      surely_end entered since_ns;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      surely_end entered since_ns;
      Printexc.raise_with_backtrace e backtrace

(* [state] of an operation without a stack

   State    Left by  To       By whom
   Not_yet  enter    Entered  the caller of the block that has returned nothing
            ended    Over     any thread
   Entered  ended    Over     any thread, which counts the end
   Over     never (terminal)

   There is no polling point from the change of [entered] to that of [state], so the wait is
   counted if the state is [Entered], whatever a handler raises. *)
type state = Not_yet | Entered | Over

let operation target block =
  let since_ns = now_ns () and entered = ref [] in
  let state = Atomic.make Not_yet in
  let enter () =
    let series = find waits (target.Target.operation, name target.structure) in
    entered := [ series ];
    plus series.waiting 1;
    if not (Atomic.compare_and_set state Not_yet Entered) then
      surely_end entered since_ns
  in
  let block resumer =
    let found = block resumer in
    (* Unbroken, because the resumer is in the structure. *)
    (if Option.is_none found then
       try enter () with e -> Late.keep e (Printexc.get_raw_backtrace ()));
    found
  and ended () =
    match Atomic.exchange state Over with
    | Entered -> surely_end entered since_ns
    | Not_yet | Over -> ()
  in
  (block, ended)

(* --- Holders ------------------------------------------------------------------- *)

let gave_back ~kind structure (holder : Holder.t) =
  try
    let name = name (Identity.strong_pointer structure) in
    add (find holds (kind, name)) (Int.max 0 (now_ns () - holder.since_ns))
  with e ->
    Late.keep e (Printexc.get_raw_backtrace ());
    ()

(* --- Reading --------------------------------------------------------------------- *)

type counted = {
  what : string;
  structure : string;
  waiting_now : int;
  took : int list;
  ns : int;
}

let read table =
  List.map
    (fun ((what, structure), { waiting; took; total_ns }) ->
      {
        what;
        structure;
        waiting_now = Atomic.get waiting;
        took = List.map Atomic.get (Array.to_list took);
        ns = Atomic.get total_ns;
      })
    (Keys.bindings (Atomic.get table).series)

let all_waits () = read waits
let all_holds () = read holds
let has_others () = Atomic.get has_others

(* --- Structures ------------------------------------------------------------------ *)

type structure = {
  kind : string;
  name : string;
  length : int option;
  capacity : int option;
  used : int option;
  limit : int option;
  busy_ns : int option;
}

let add_figure t : Observer.figure -> structure = function
  | Length n -> { t with length = Some n }
  | Capacity n -> { t with capacity = Some n }
  | Used n -> { t with used = Some n }
  | Limit n -> { t with limit = Some n }
  | Busy_ns ns -> { t with busy_ns = Some ns }

let structure kind name figures =
  List.fold_left add_figure
    {
      kind;
      name;
      length = None;
      capacity = None;
      used = None;
      limit = None;
      busy_ns = None;
    }
    figures

let read_label { Labels.attached; _ } =
  Option.bind (Attached_data.attached attached)
    (fun { Labels.kind; figures; _ } ->
      match (kind, figures) with
      | Some kind, Some figures ->
          let name = clean (name (Attached_data.owner attached)) in
          Some (structure kind name (figures ()))
      | _ -> None)

let structures () = List.filter_map read_label (Labels.all ())
let start () = Observer.(start metrics)
let () = if Debugging.has "metrics" then start ()
