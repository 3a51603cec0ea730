module type HOST = Host_signature.HOST

let default_seed () =
  match Option.bind (Sys.getenv_opt "CONCORD_SEED") int_of_string_opt with
  | Some seed -> seed
  | None -> int_of_float (Unix.gettimeofday ()) land 0xffffff

let all ~seed h =
  Host_resumers.clauses ~seed h
  @ Host_structures.clauses ~seed h
  @ Host_nesting.clauses h @ Host_life.clauses h

let selected only clauses =
  match only with
  | None -> clauses
  | Some names ->
      let find name =
        match List.find_opt (fun c -> c.Host_tasks.name = name) clauses with
        | Some clause -> clause
        | None -> invalid_arg ("Host.check: no clause " ^ name)
      in
      List.map find names

let check ?seed ?(seconds = 10.) ?only (module H : HOST) =
  let seed = match seed with Some seed -> seed | None -> default_seed () in
  let line Host_tasks.{ name; about; cases } =
    Report.{ clause = name; about; verdict = Trial.run ~seconds cases }
  in
  Report.
    {
      subject = H.name;
      seed;
      lines = List.map line (selected only (all ~seed (module H : HOST)));
    }

let main ?seed ?seconds h =
  let report = check ?seed ?seconds h in
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
