open Results

exception Malformed of string

(* --- Written --- *)

(* A sample is less precise than five digits. *)
let json_of_floats floats =
  let rounded x = float_of_string (Printf.sprintf "%.5g" x) in
  `List (List.map (fun x -> `Float (rounded x)) (Array.to_list floats))

let json_of_row row =
  `Assoc
    ([
       ("group", `String row.group);
       ("case", `String row.case);
       ("impl", `String row.impl);
       ("host", `String row.host);
       ("title", `String row.title);
       ( "comparison",
         match row.comparison with None -> `Null | Some i -> `Int i );
       ("baseline", `Bool row.is_baseline);
       ("unit", `String row.unit_);
       ("better", `String (if row.more_is_better then "more" else "less"));
       ("samples", json_of_floats row.samples);
     ]
    @
    if row.offered = [||] then []
    else [ ("offered", json_of_floats row.offered) ])

let strings list = `List (List.map (fun text -> `String text) list)

let conditions run =
  [
    ("machine", `String run.machine);
    ("date", `String run.date);
    ("command", `String run.command);
    ("effort", `String run.effort);
    ( "versions",
      `Assoc (List.map (fun (name, v) -> (name, `String v)) run.versions) );
    ("left_out", strings run.left_out);
  ]

(* Writes each row on a line, so that a diff of two files is readable. *)
let write file t =
  let output channel run =
    List.iter
      (fun (key, value) ->
        Printf.fprintf channel "\n  %S: %s," key (Yojson.Safe.to_string value))
      (conditions run);
    output_string channel "\n  \"rows\": [\n";
    List.iteri
      (fun i row ->
        if i > 0 then output_string channel ",\n";
        output_string channel
          (Yojson.Safe.to_string ~std:true (json_of_row row)))
      run.rows;
    output_string channel "\n  ]"
  in
  Out_channel.with_open_text file (fun channel ->
      output_string channel "[";
      List.iteri
        (fun i run ->
          if i > 0 then output_string channel ",";
          output_string channel "{";
          output channel run;
          output_string channel "}")
        t;
      output_string channel "]\n")

(* --- Read ---

   Each function below gets its position in the file, for the error message. *)

let malformed where what = raise (Malformed (where ^ ": " ^ what))

let field where json key =
  match Yojson.Safe.Util.member key json with
  | `Null -> malformed where (Printf.sprintf "%S is missing" key)
  | value -> value

let text where json key =
  match field where json key with
  | `String text -> text
  | _ -> malformed where (Printf.sprintf "%S is not a string" key)

let number where what = function
  | (`Float _ | `Int _) as json -> (
      match Yojson.Safe.Util.to_number json with
      | n when Float.is_finite n -> n
      | _ -> malformed where (what ^ " is not finite"))
  | _ -> malformed where (what ^ " is not a number")

let list where what = function
  | `List list -> list
  | _ -> malformed where (what ^ " is not a list")

let optional json key ~default read =
  match Yojson.Safe.Util.member key json with
  | `Null -> default
  | value -> read value

let texts where what json =
  let text = function
    | `String text -> text
    | _ -> malformed where (what ^ " has elements that are not strings")
  in
  List.map text (list where what json)

let is_rate unit_ = String.ends_with ~suffix:"/s" unit_

let row_of_json file i json =
  let where = Printf.sprintf "%s: row %d" file i in
  (match json with `Assoc _ -> () | _ -> malformed where "is not an object");
  let text = text where json in
  let numbers key what =
    optional json key ~default:[||] (fun numbers ->
        list where (Printf.sprintf "%S" key) numbers
        |> List.map (number where what)
        |> Array.of_list)
  in
  let samples = numbers "samples" "a sample" in
  if samples = [||] then malformed where "there are no samples";
  let unit_ = text "unit" in
  let optional_text key ~default =
    optional json key ~default (fun _ -> text key)
  in
  {
    group = text "group";
    case = text "case";
    impl = text "impl";
    host = text "host";
    title = optional_text "title" ~default:"";
    comparison =
      optional json "comparison" ~default:None (function
        | `Int i -> Some i
        | _ -> malformed where "\"comparison\" is not an integer");
    is_baseline =
      optional json "baseline" ~default:false (fun json -> json = `Bool true);
    unit_;
    more_is_better =
      optional_text "better" ~default:(if is_rate unit_ then "more" else "less")
      = "more";
    samples;
    offered = numbers "offered" "a rate";
  }

let versions_of_json file json =
  let version = function
    | name, `String version -> (name, version)
    | _ -> malformed file "a version is not a string"
  in
  match field file json "versions" with
  | `Assoc versions -> List.map version versions
  | _ -> malformed file "\"versions\" is not an object"

let run_of_json file json =
  let text key = text file json key in
  {
    machine = text "machine";
    date = text "date";
    command = text "command";
    effort = text "effort";
    versions = versions_of_json file json;
    left_out = texts file "\"left_out\"" (field file json "left_out");
    rows =
      List.mapi
        (fun i row -> row_of_json file (i + 1) row)
        (list file "\"rows\"" (field file json "rows"));
  }

let read file =
  match Yojson.Safe.from_file file with
  | `List runs -> List.map (run_of_json file) runs
  | _ -> malformed file "is not a list of runs"
  | exception Yojson.Json_error reason ->
      malformed file
        ("is not JSON: " ^ String.concat " " (String.split_on_char '\n' reason))
  | exception Yojson.Safe.Util.Type_error (reason, _) -> malformed file reason
