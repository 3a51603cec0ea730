type verdict = Kept | Broken of string | Not_offered of string

type line = {
  clause : string;
  about : string;
  advice : (string * string) list;
  verdict : verdict;
}

type t = { subject : string; seed : int; lines : line list }

let is_broken line =
  match line.verdict with Broken _ -> true | Kept | Not_offered _ -> false

let broken t =
  List.filter is_broken t.lines |> List.map (fun line -> line.clause)

let passed t = broken t = []

let verdict t clause =
  match List.find_opt (fun line -> line.clause = clause) t.lines with
  | Some line -> line.verdict
  | None -> invalid_arg ("Report.verdict: the report has no clause " ^ clause)

let count which t = List.length (List.filter which t.lines)

let width names =
  List.fold_left (fun n name -> max n (String.length name)) 0 names

let head ~subject ~seed = Printf.sprintf "%s (seed %d)\n" subject seed

(* A broken clause also prints its rule and its advice, because the fault alone tells neither what
   was expected nor what to do. *)
let text ~width { clause; about; advice; verdict } =
  let row = Printf.sprintf "%-*s  %-6s  %s\n" width in
  match verdict with
  | Kept -> row clause "kept" about
  | Broken what ->
      let below (label, text) = row "" (label ^ ":") text in
      row clause "BROKEN" what
      ^ String.concat "" (List.map below (("rule", about) :: advice))
  | Not_offered why -> row clause "-" why

let foot t =
  let kept = count (fun line -> line.verdict = Kept) t
  and broken = count is_broken t in
  let counts =
    Printf.sprintf "%d kept, %d broken, %d not offered\n" kept broken
      (List.length t.lines - kept - broken)
  in
  if broken = 0 then counts
  else
    counts
    ^ "Concord_suspend has the contract. The pages \"For authors of \
       schedulers\" and \"Writing a structure\" explain this report.\n"

let to_string t =
  let width = width (List.map (fun line -> line.clause) t.lines) in
  head ~subject:t.subject ~seed:t.seed
  ^ String.concat "" (List.map (text ~width) t.lines)
  ^ foot t

let show text =
  print_string text;
  flush stdout

let print t = show (to_string t)

let printing ~subject ~seed ~clauses look =
  let width = width clauses in
  show (head ~subject ~seed);
  let lines =
    look (fun line ->
        show (text ~width line);
        line)
  in
  let t = { subject; seed; lines } in
  show (foot t);
  t
