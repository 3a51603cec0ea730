type verdict = Kept | Broken of string | Not_offered of string
type line = { clause : string; about : string; verdict : verdict }
type t = { subject : string; seed : int; lines : line list }

let is_broken line =
  match line.verdict with Broken _ -> true | Kept | Not_offered _ -> false

let broken t =
  List.filter is_broken t.lines |> List.map (fun line -> line.clause)

let passed t = broken t = []

let verdict t clause =
  match List.find_opt (fun line -> line.clause = clause) t.lines with
  | Some line -> line.verdict
  | None -> invalid_arg ("Report.verdict: no clause " ^ clause)

let count which t = List.length (List.filter which t.lines)

let to_string t =
  let width =
    List.fold_left (fun n line -> max n (String.length line.clause)) 0 t.lines
  in
  let line { clause; about; verdict } =
    let word, text =
      match verdict with
      | Kept -> ("kept", about)
      | Broken what -> ("BROKEN", what)
      | Not_offered why -> ("-", why)
    in
    Printf.sprintf "%-*s  %-6s  %s\n" width clause word text
  in
  let kept = count (fun line -> line.verdict = Kept) t
  and broken = count is_broken t in
  Printf.sprintf "%s (seed %d)\n" t.subject t.seed
  ^ String.concat "" (List.map line t.lines)
  ^ Printf.sprintf "%d kept, %d broken, %d not offered\n" kept broken
      (List.length t.lines - kept - broken)

let print t =
  print_string (to_string t);
  flush stdout
