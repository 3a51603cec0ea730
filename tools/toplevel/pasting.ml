(* [In_phrase n] is in an example whose prompt is in column [n]. *)
type state = Ordinary | In_phrase of int | In_answer
type t = { mutable state : state }

let create () = { state = Ordinary }

let indentation line =
  let rec spaces n =
    if n < String.length line && line.[n] = ' ' then spaces (n + 1) else n
  in
  spaces 0

(* The column of the prompt at the beginning of a line of an example, and the text after the
   prompt. *)
let after_prompt line =
  let n = indentation line and prompt = "# " in
  let text = String.sub line n (String.length line - n) in
  if String.starts_with ~prefix:prompt text then
    Some (n, String.sub text 2 (String.length text - 2))
  else None

let is_blank line = String.trim line = ""
let ends_phrase line = String.ends_with ~suffix:";;" (String.trim line)

let line t ~more text =
  let phrase n text =
    t.state <- (if ends_phrase text then In_answer else In_phrase n);
    Some text
  in
  let result =
    match (t.state, after_prompt text) with
    | (Ordinary | In_answer), Some (n, text) -> phrase n text
    (* The previous phrase has no [;;], so this adds it. *)
    | In_phrase m, Some (n, text) when n <= m ->
        Option.map (fun text -> ";;\n" ^ text) (phrase n text)
    | In_phrase n, _ when is_blank text || indentation text > n -> phrase n text
    | In_phrase _, _ ->
        t.state <- In_answer;
        Some ";;"
    | In_answer, None -> None
    | Ordinary, None -> Some text
  in
  (* After an example, text that the user types must not be taken for an answer. *)
  if t.state = In_answer && not more then t.state <- Ordinary;
  result

let ending t =
  match t.state with In_phrase _ -> Some ";;" | Ordinary | In_answer -> None

(* --- The toplevel's input --- *)

(* Reads from the descriptor directly, because it can't be seen whether a channel has read
   ahead. *)
let chunk = Bytes.create 4096
let pending = Buffer.create 4096
let at_end = ref false

let rec is_readable () =
  match Unix.select [ Unix.stdin ] [] [] 0.02 with
  | readable, _, _ -> readable <> []
  | exception Unix.Unix_error (EINTR, _, _) -> is_readable ()

let rec refill () =
  match Unix.read Unix.stdin chunk 0 (Bytes.length chunk) with
  | 0 -> at_end := true
  | n -> Buffer.add_subbytes pending chunk 0 n
  | exception Unix.Unix_error (EINTR, _, _) -> refill ()

(* Returns the next line, without its end, or [None] at the end of the input. *)
let rec next_line () =
  let text = Buffer.contents pending in
  match String.index_opt text '\n' with
  | Some i ->
      Buffer.clear pending;
      Buffer.add_substring pending text (i + 1) (String.length text - i - 1);
      Some (String.sub text 0 i)
  | None when not !at_end ->
      refill ();
      next_line ()
  | None when text = "" -> None
  | None ->
      Buffer.clear pending;
      Some text

let is_more () = Buffer.length pending > 0 || ((not !at_end) && is_readable ())

let read =
  let t = create () in
  (* The text that the toplevel has not read yet: the rest of a line that is longer than its
     buffer, or another line. The toplevel forgets what it has read beyond the end of a phrase,
     so it gets one line at a time. *)
  let rest = ref "" in
  let give buffer length =
    let n = min length (String.index !rest '\n' + 1) in
    Bytes.blit_string !rest 0 buffer 0 n;
    rest := String.sub !rest n (String.length !rest - n);
    (n, false)
  in
  let rec lines buffer length =
    match next_line () with
    | None -> (
        match ending t with
        | None -> (0, true)
        | Some text ->
            t.state <- Ordinary;
            rest := text ^ "\n";
            give buffer length)
    | Some text -> (
        match line t ~more:(is_more ()) text with
        | None -> lines buffer length
        | Some text ->
            rest := text ^ "\n";
            give buffer length)
  in
  fun prompt buffer length ->
    if !rest <> "" then give buffer length
    else begin
      print_string prompt;
      flush stdout;
      lines buffer length
    end

let () = Toploop.read_interactive_input := read
