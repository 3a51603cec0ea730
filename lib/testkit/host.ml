module type HOST = Host_signature.HOST

let default_seed () =
  match Option.bind (Sys.getenv_opt "CONCORD_SEED") int_of_string_opt with
  | Some seed -> seed
  | None -> int_of_float (Unix.gettimeofday ()) land 0xffffff

let all ~seed h =
  Host_resumers.clauses ~seed h
  @ Host_structures.clauses ~seed h
  @ Host_nesting.clauses h @ Host_life.clauses h

type t = { host : (module HOST); process : Host_process.t }

let find name clauses =
  match List.find_opt (fun c -> c.Host_tasks.name = name) clauses with
  | Some clause -> clause
  | None -> invalid_arg ("Host.check: no clause " ^ name)

let declare host =
  let cases ~seed ~clause = (find clause (all ~seed host)).cases in
  { host; process = Host_process.declare cases }

let check ?seed ?(seconds = 10.) ?only { host = (module H); process } =
  let seed = match seed with Some seed -> seed | None -> default_seed () in
  let clauses = all ~seed (module H) in
  let selected =
    match only with
    | None -> clauses
    | Some names -> List.map (fun name -> find name clauses) names
  in
  let line Host_tasks.{ name = clause; about; _ } =
    let verdict = Host_process.verdict process ~seed ~seconds ~clause in
    { Report.clause; about; verdict }
  in
  Report.{ subject = H.name; seed; lines = List.map line selected }

let main ?seed ?seconds h =
  let report = check ?seed ?seconds (declare h) in
  Report.print report;
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
