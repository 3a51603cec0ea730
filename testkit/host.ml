module type HOST = Host_signature.HOST

(* All other clauses depend on these, so they are skipped if one of these is broken. *)
let first = Host_start.clauses

let all ~seed h =
  first h
  @ Host_resumers.clauses ~seed h
  @ Host_structures.clauses ~seed h
  @ Host_nesting.clauses h @ Host_life.clauses h @ Host_resources.clauses h

type t = { host : (module HOST); process : Host_process.t }

let find name clauses =
  match List.find_opt (fun c -> c.Host_tasks.name = name) clauses with
  | Some clause -> clause
  | None ->
      let known = List.map (fun c -> c.Host_tasks.name) clauses in
      invalid_arg
        (Printf.sprintf "Host.check: there is no clause %s. The clauses are %s"
           name (String.concat ", " known))

(* A misspelt name must not let a broken clause pass. *)
let check_not_offered ((module H : HOST) as host) =
  let optional =
    List.filter (fun c -> c.Host_tasks.optional) (all ~seed:0 host)
  in
  let names = List.map (fun c -> c.Host_tasks.name) optional in
  let check (name, _) =
    if not (List.mem name names) then
      invalid_arg
        (Printf.sprintf
           "Host.declare: not_offered has %s. The clauses that a host need not \
            offer are %s"
           name (String.concat ", " names))
  in
  List.iter check H.not_offered

let declare host =
  check_not_offered host;
  let cases ~seed ~clause = (find clause (all ~seed host)).cases in
  { host; process = Host_process.declare cases }

(* A check whose arguments are valid. *)
type plan = {
  seed : int;
  clauses : Host_tasks.clause list;
  line : Host_tasks.clause -> Report.line;
}

(* How long a clause may take without a result. The first clause that hangs takes all of
   [seconds]. The following ones take a tenth of it, because most likely they hang for the same
   reason, and the report is broken in any case. Together they take no more than twice
   [seconds]. *)
type patience = { seconds : float; mutable hangs : int; mutable spent : float }

let patience seconds = { seconds; hangs = 0; spent = 0. }

let allowed { seconds; hangs; _ } =
  if hangs = 0 then seconds
  else Float.min seconds (Float.max 1. (seconds /. 10.))

let has_hung p =
  p.spent <- p.spent +. allowed p;
  p.hangs <- p.hangs + 1

let is_lost p = p.spent >= 2. *. p.seconds

let advice Host_tasks.{ name; read; optional; _ } =
  ("read", Printf.sprintf "For authors of schedulers, %s" read)
  ::
  (if optional then
     [
       ( "or",
         Printf.sprintf
           "if your scheduler doesn't offer this, declare it: let not_offered \
            = [ (%S, \"the reason\") ]"
           name );
     ]
   else [])

let plan ?seed ?(seconds = 10.) ?only { host = (module H) as host; process } =
  Trial.check_seconds "Host.check" seconds;
  let seed = Trial.seed seed in
  let all = all ~seed host in
  let clauses =
    match only with
    | None -> all
    | Some names -> List.map (fun name -> find name all) names
  in
  let is_first clause =
    List.exists (fun c -> c.Host_tasks.name = clause) (first host)
  in
  (* The reason why the other clauses are skipped. *)
  let skipped = ref None in
  let patience = patience seconds in
  let look clause =
    let Trial.{ verdict; hangs } =
      Host_process.verdict process ~seed ~seconds:(allowed patience) ~clause
    in
    (match verdict with
    | Broken _ when is_first clause ->
        skipped := Some (Printf.sprintf "skipped, because %s is broken" clause)
    | Broken _ | Kept | Not_offered _ -> ());
    if hangs then begin
      has_hung patience;
      if is_lost patience && !skipped = None then
        skipped :=
          Some
            (Printf.sprintf "skipped, because %d clauses hang" patience.hangs)
    end;
    verdict
  in
  let line clause =
    let Host_tasks.{ name; about; _ } = clause in
    let verdict =
      match (!skipped, List.assoc_opt name H.not_offered) with
      | None, None -> look name
      | _, Some why | Some why, None -> Report.Not_offered why
    in
    { Report.clause = name; about; advice = advice clause; verdict }
  in
  { seed; clauses; line }

let check ?seed ?seconds ?only ({ host = (module H); _ } as t) =
  let { seed; clauses; line } = plan ?seed ?seconds ?only t in
  Report.{ subject = H.name; seed; lines = List.map line clauses }

(* The clauses that the arguments of the program name. *)
let arguments () =
  match Array.to_list Sys.argv with
  | [] | [ _ ] -> None
  | _ :: names -> Some names

let main ?seed ?seconds ?only (module H : HOST) =
  (* This comes first, because [declare] does not return in the process of a clause. That
     process has the same arguments. *)
  let plan () =
    let t = declare (module H) in
    let only = match only with Some _ -> only | None -> arguments () in
    plan ?seed ?seconds ?only t
  in
  match plan () with
  | exception Invalid_argument text ->
      prerr_endline text;
      exit 2
  | { seed; clauses; line } ->
      let names = List.map (fun c -> c.Host_tasks.name) clauses in
      let report =
        Report.printing ~subject:H.name ~seed ~clauses:names (fun show ->
            List.map (fun clause -> show (line clause)) clauses)
      in
      exit (if Report.passed report then 0 else 1)

type abilities = {
  composes : bool;
  cancels : bool;
  protects : bool;
  inside : bool;
  around : bool;
  domains : bool;
}

let abilities report =
  let kept clause = Report.verdict report clause = Report.Kept in
  {
    composes = Report.passed report;
    cancels = kept "S3";
    protects = kept "protect";
    inside = kept "inside";
    around = kept "around" && kept "foreign";
    domains = kept "domains";
  }
