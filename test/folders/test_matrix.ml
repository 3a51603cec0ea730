(* The public structures as a matrix. An operation that may wait has an event and a form that
   only tries, whose types follow from its own. A structure is made, closed, counted and looked
   at under the same names. Where a cell is empty, [has_not] has the reason. A reason for a cell
   that isn't empty is a fault too. The arguments are the interfaces. *)

open Concord_test_support

type value = { name : string; typ : string; doc : string }
type structure = { title : string; values : value list }

(* --- The cells that are empty -------------------------------------------------- *)

type column =
  | Event  (** [x_evt] *)
  | Try  (** [try_x] *)
  | Name  (** [?name], of each function that makes the structure *)
  | In_order  (** [create_in_order] *)
  | Close  (** [close] and [is_closed] *)
  | Sequence  (** [add_seq], or [send_seq] if the operation is [send] *)
  | Drain
  | Length
  | Is_empty
  | Waiters
  | Table  (** In [test/support/operations_*.ml]. *)

let all column titles reason =
  List.map (fun title -> (column, title, reason)) titles

let brackets =
  [
    "Mutex.protect"; "Rwlock.read"; "Rwlock.write";
    "Semaphore.Counting.with_permit"; "Semaphore.Counting.try_with_permit";
    "Semaphore.Counting.with_permits"; "Semaphore.Counting.try_with_permits";
    "Semaphore.Binary.with_permit"; "Semaphore.Binary.try_with_permit";
    "Broadcast.with_subscription";
  ]
[@@ocamlformat "disable"]

let several =
  [
    "Stream.add_seq"; "Work_queue.add_seq"; "Mailbox.add_seq";
    "Channel.send_seq"; "Broadcast.send_seq"; "Reader.iter"; "Reader.fold";
  ]
[@@ocamlformat "disable"]

let in_dispose = [ "Pool.give_back"; "Pool.clear"; "Pool.trim"; "Pool.close" ]
let queues = [ "Stream"; "Work_queue"; "Mailbox"; "Channel"; "Broadcast" ]
let closed = queues @ [ "Watch"; "Pool" ]
let locks = [ "Mutex"; "Rwlock"; "Semaphore.Counting"; "Semaphore.Binary" ]
let others = [ "Condition"; "Barrier"; "Latch"; "Promise"; "Lazy"; "Bvar" ]

let has_not =
  List.concat
    [
      all Event brackets "after a choice it would not be a bracket";
      all Event several "a choice performs one operation";
      all Event in_dispose "it waits only in a function of the user";
      all Event [ "Pool.try_use"; "Pool.try_obtain" ] "Event.poll does this";
      all Event [ "Lazy.force" ] "await_evt: an event doesn't compute";
      all Try
        [ "Mutex.protect"; "Rwlock.read"; "Rwlock.write" ]
        "a lock is held for moments; the one who must not wait calls try_lock";
      all Try
        [ "Mvar.swap"; "Mvar.modify" ]
        "a box is held for moments; Event.poll of its event";
      all Try
        [ "Broadcast.with_subscription" ]
        "it waits only in a function of the user";
      all Try several "Event.poll of one operation";
      all Try in_dispose "it waits only in a function of the user";
      all Try
        [ "Condition.wait"; "Condition.wait_no_mutex"; "Bvar.wait" ]
        "it always waits";
      all Try [ "Condition.loop_no_mutex" ] "call its function";
      all Try [ "Barrier.await" ] "to arrive is to wait";
      all Try [ "Latch.await" ] "is_open";
      all Try [ "Promise.await"; "Promise.await_result"; "Lazy.force" ] "peek";
      all Try [ "Pool.await_closed" ] "Event.poll of its event";
      all Try [ "Reader.next" ] "try_take, and is_closed";
      all Table several "it calls Stream.add, Channel.send or next";
      all Table [ "Reader.next" ] "Stream.next and Work_queue.next";
      all Table
        [
          "Broadcast.with_subscription"; "Pool.try_use"; "Pool.try_obtain";
          "Semaphore.Binary.try_with_permit";
          "Semaphore.Counting.try_with_permit";
          "Semaphore.Counting.try_with_permits";
        ]
        "it waits only in a function of the user";
      all Table in_dispose "it waits only in a function of the user";
      all Name
        [
          "Mutex.create"; "Mutex.create_in_order"; "Condition.create";
          "Semaphore.Counting.make"; "Semaphore.Counting.make_in_order";
          "Semaphore.Binary.make"; "Semaphore.Binary.make_in_order";
          "Lazy.from_fun"; "Lazy.from_val"; "Lazy.of_stdlib";
        ]
        "Stdlib's signature; Debug.name";
      all Name [ "Stream.create" ] "Eio's signature; Debug.name";
      all Name [ "Promise.of_value" ] "no task waits for it";
      all In_order (closed @ others)
        "no newcomer overtakes, because nothing has to be given back";
      all Close (locks @ others @ [ "Mvar" ]) "nobody reads it to its end";
      all Sequence
        (locks @ others @ [ "Mvar"; "Watch"; "Pool" ])
        "it isn't a queue";
      all Drain
        (locks @ others @ [ "Mvar"; "Watch"; "Pool" ])
        "it isn't a queue";
      all Length
        (locks @ others @ [ "Mvar"; "Watch"; "Pool" ])
        "it isn't a queue; count, get_value, size and parties differ in meaning";
      all Length [ "Channel" ] "nothing is in it";
      all Length [ "Broadcast" ] "it depends on the subscription";
      all Is_empty
        (locks @ others @ [ "Watch"; "Pool" ])
        "nothing is taken from it";
      all Is_empty [ "Channel" ] "nothing is in it";
      all Is_empty [ "Broadcast" ] "it depends on the subscription";
    ]
[@@ocamlformat "disable"]

(* Values whose names look like a form of an operation that isn't there. *)
let alone = [ ("Lazy.await_evt", "the event of force, which doesn't compute") ]

(* --- Reading an interface ------------------------------------------------------- *)

(* The parts of a text: code, and comments, which nest. Ends before the hidden part. *)
let parts text =
  let part = Buffer.create 1000 and found = ref [] and depth = ref 0 in
  let cut is_comment =
    found := (is_comment, Buffer.contents part) :: !found;
    Buffer.clear part
  in
  let rec from i =
    let two = if i + 1 < String.length text then String.sub text i 2 else "" in
    if i < String.length text then
      if two = "(*" then begin
        if !depth = 0 then cut false;
        incr depth;
        Buffer.add_string part two;
        from (i + 2)
      end
      else if two = "*)" && !depth > 0 then begin
        decr depth;
        Buffer.add_string part two;
        if !depth = 0 then cut true;
        from (i + 2)
      end
      else begin
        Buffer.add_char part text.[i];
        from (i + 1)
      end
  in
  from 0;
  cut false;
  List.rev !found |> List.to_seq
  |> Seq.take_while (fun part -> part <> (true, "(**/**)"))
  |> List.of_seq

let words text =
  String.map (function '\n' -> ' ' | c -> c) text
  |> String.split_on_char ' '
  |> List.filter (( <> ) "")

let item_words = [ "val"; "type"; "module"; "exception"; "include"; "end" ]

(* [path] has the modules around the code, and [values] is in reverse order. *)
let rec read_code (path, values) = function
  | "val" :: name :: ":" :: rest ->
      let rec split typ = function
        | word :: rest when not (List.mem word item_words) ->
            split (word :: typ) rest
        | rest -> (String.concat " " (List.rev typ), rest)
      in
      let typ, rest = split [] rest in
      read_code (path, (path, { name; typ; doc = "" }) :: values) rest
  | "module" :: "type" :: _ :: "=" :: "sig" :: rest ->
      read_code ("" :: path, values) rest
  | "module" :: name :: ":" :: "sig" :: rest ->
      read_code (name :: path, values) rest
  | "end" :: rest when path <> [] -> read_code (List.tl path, values) rest
  | _ :: rest -> read_code (path, values) rest
  | [] -> (path, values)

let rec read (path, values) = function
  | (false, code) :: rest ->
      let path, values = read_code (path, values) (words code) in
      let values =
        match (values, rest) with
        | (at, value) :: before, (true, doc) :: _ when value.doc = "" ->
            (at, { value with doc }) :: before
        | _ -> values
      in
      read (path, values) rest
  | (true, _) :: rest -> read (path, values) rest
  | [] -> List.rev values

let structures file =
  let text = In_channel.with_open_bin file In_channel.input_all in
  let found = read ([], []) (parts text) in
  let title path =
    String.concat "."
      (List.filter (( <> ) "")
         (String.capitalize_ascii Filename.(remove_extension (basename file))
         :: List.rev path))
  in
  List.map
    (fun path ->
      let values = List.filter (fun (at, _) -> at = path) found in
      { title = title path; values = List.map snd values })
    (List.sort_uniq compare (List.map fst found))

(* --- Types ------------------------------------------------------------------------ *)

(* The arguments of a function, with their arrows, and its result. *)
let split_arrow typ =
  let depth = ref 0 in
  let rec last before seen = function
    | "->" :: rest when !depth = 0 ->
        last (before @ List.rev ("->" :: seen)) [] rest
    | word :: rest ->
        String.iter
          (function
            | '(' | '[' -> incr depth | ')' | ']' -> decr depth | _ -> ())
          word;
        last before (word :: seen) rest
    | [] -> (String.concat " " before, String.concat " " (List.rev seen))
  in
  last [] [] (words typ)

let applied typ constructor =
  let is_composed = List.exists (fun w -> w = "*" || w = "->") (words typ) in
  (if is_composed then "(" ^ typ ^ ") " else typ ^ " ") ^ constructor

let event_type typ =
  let args, result = split_arrow typ in
  args ^ " " ^ applied result "Event.t"

let try_type typ =
  let args, result = split_arrow typ in
  args ^ " " ^ if result = "unit" then "bool" else applied result "option"

(* --- The checks ------------------------------------------------------------------- *)

let contains = Texts.contains
let find s name = List.find_opt (fun v -> v.name = name) s.values
let has s name = Option.is_some (find s name)
let used = Hashtbl.create 100
let cells = ref 0

let cell column title is_there =
  incr cells;
  let reasons =
    List.filter (fun (c, t, _) -> (c, t) = (column, title)) has_not
  in
  List.iter (fun reason -> Hashtbl.replace used reason ()) reasons;
  match (is_there, reasons) with
  | true, [] | false, [ _ ] -> ()
  | true, (_, _, reason) :: _ ->
      Faults.add "%s has it, although \"%s\": remove the reason" title reason
  | false, [] ->
      Faults.add
        "%s lacks %s: add it, or a reason to has_not in \
         test/folders/test_matrix.ml"
        title
        (match column with
        | Event -> "an event (_evt)"
        | Try -> "a form that only tries (try_)"
        | Name -> "an argument ?name"
        | In_order -> "create_in_order"
        | Close -> "close and is_closed"
        | Sequence -> "add_seq or send_seq"
        | Drain -> "drain"
        | Length -> "length"
        | Is_empty -> "is_empty"
        | Waiters -> "waiters"
        | Table -> "a row in test/support/operations_*.ml")
  | false, _ -> Faults.add "%s has two reasons for the same" title

let has_type s v expected =
  if v.typ <> expected then
    Faults.add "%s.%s has the type %s, not %s" s.title v.name v.typ expected

let without_suffix suffix name =
  if String.ends_with ~suffix name then
    Some (String.sub name 0 (String.length name - String.length suffix))
  else None

(* A row's name may have more after a comma. *)
let rows title =
  List.filter
    (fun (operation : _ Operations.t) ->
      List.hd (String.split_on_char ',' operation.name) = title)
    Operations.all

(* Making some places prints checks. *)
let has_event (row : _ Operations.t) =
  let found = ref false in
  let look () = found := Option.is_some (row.make 1).event in
  ignore (Check.printed look : string);
  !found

let check_row s title ~event =
  let rows = rows title in
  cell Table title (rows <> []);
  if has s event && not (List.for_all has_event rows) then
    Faults.add "the row %s in test/support/operations_*.ml has no event" title

let check_value s v =
  let title = s.title ^ "." ^ v.name in
  if List.mem_assoc title alone then check_row s title ~event:v.name;
  let form_of base typ =
    match find s base with
    | Some operation -> has_type s v (typ operation.typ)
    | None ->
        if not (List.mem_assoc title alone) then
          Faults.add "%s is a form of %s, which isn't there" title base
  in
  Option.iter
    (fun base -> form_of base event_type)
    (without_suffix "_evt" v.name);
  if String.starts_with ~prefix:"try_" v.name then
    form_of (String.sub v.name 4 (String.length v.name - 4)) try_type;
  if contains v.typ ~part:"?in_order" then
    Faults.add "%s: strict order is a function whose name ends in _in_order"
      title;
  if contains v.doc ~part:"- {b Suspends}" then begin
    check_row s title ~event:(v.name ^ "_evt");
    cell Event title (has s (v.name ^ "_evt"));
    if not (String.starts_with ~prefix:"try_" v.name) then
      cell Try title (has s ("try_" ^ v.name))
  end

let makes v =
  let result = snd (split_arrow v.typ) in
  (result = "t" || result = "'a t")
  && List.exists
       (fun prefix -> String.starts_with ~prefix v.name)
       [ "create"; "make"; "of_"; "from_" ]

let check_structure s =
  let makers = List.filter makes s.values in
  if makers = [] then Faults.add "%s: no function makes it" s.title;
  List.iter
    (fun v ->
      cell Name (s.title ^ "." ^ v.name)
        (String.starts_with ~prefix:"?name:string -> " v.typ))
    makers;
  let in_order v = Option.is_some (without_suffix "_in_order" v.name) in
  cell In_order s.title (List.exists in_order makers);
  if List.exists in_order makers then
    List.iter
      (fun v ->
        if not (in_order v || has s (v.name ^ "_in_order")) then
          Faults.add "%s.%s has no form for strict order" s.title v.name)
      makers;
  cell Close s.title (has s "close" && has s "is_closed");
  let sequence = if has s "send" then "send_seq" else "add_seq" in
  cell Sequence s.title (has s sequence);
  cell Drain s.title (has s "drain");
  cell Length s.title (has s "length");
  cell Is_empty s.title (has s "is_empty");
  cell Waiters s.title (has s "waiters");
  List.iter
    (fun (name, result) ->
      Option.iter
        (fun v ->
          match split_arrow v.typ with
          | ("t ->" | "'a t ->" | "'a subscription ->"), r when r = result -> ()
          | _ -> Faults.add "%s.%s has the type %s" s.title name v.typ)
        (find s name))
    [
      ("is_closed", "bool"); ("is_empty", "bool"); ("length", "int");
      ("waiters", "int"); ("capacity", "int"); ("drain", "'a list");
    ]
[@@ocamlformat "disable"]

let () =
  let files = List.tl (Array.to_list Sys.argv) in
  let structures = List.concat_map structures files in
  List.iter (fun s -> List.iter (check_value s) s.values) structures;
  List.iter (fun s -> if s.title <> "Reader" then check_structure s) structures;
  List.iter
    (fun ((_, title, text) as reason) ->
      if not (Hashtbl.mem used reason) then
        Faults.add "there is no %s, so remove the reason \"%s\"" title text)
    has_not;
  if !cells < 250 then Faults.add "only %d cells were found" !cells;
  Faults.stop ()
