open Results

exception Malformed of string

(* --- Written --- *)

let json_of_floats floats =
  `List (List.map (fun x -> `Float x) (Array.to_list floats))

let json_of_row row =
  let offered =
    if row.offered = [||] then []
    else [ ("offered", json_of_floats row.offered) ]
  in
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
       ("value", `Float (median row));
       ("spread", `Float (spread row));
       ("samples", json_of_floats row.samples);
     ]
    @ offered
    @ [
        ( "versions",
          `Assoc (List.map (fun (name, v) -> (name, `String v)) row.versions) );
      ])

let write_json file json =
  Out_channel.with_open_text file (fun channel ->
      Yojson.Safe.pretty_to_channel ~std:true channel json;
      output_char channel '\n')

let json_of_rows rows = `List (List.map json_of_row rows)
let write_rows file rows = write_json file (json_of_rows rows)

let write file t =
  write_json file
    (`Assoc
       [
         ("machine", `String t.machine);
         ("date", `String t.date);
         ("command", `String t.command);
         ("effort", `String t.effort);
         ("left_out", `List (List.map (fun text -> `String text) t.left_out));
         ("rows", json_of_rows t.rows);
       ])

(* --- Read ---

   Each function below is told where it is, for the message. *)

let malformed where what = raise (Malformed (where ^ ": " ^ what))

let field where json key =
  match Yojson.Safe.Util.member key json with
  | `Null -> malformed where (Printf.sprintf "%S is missing" key)
  | value -> value

let text where json key =
  match field where json key with
  | `String text -> text
  | _ -> malformed where (Printf.sprintf "%S is no string" key)

let number where what = function
  | (`Float _ | `Int _) as json -> (
      match Yojson.Safe.Util.to_number json with
      | n when Float.is_finite n -> n
      | _ -> malformed where (what ^ " is not finite"))
  | _ -> malformed where (what ^ " is no number")

let list where what = function
  | `List list -> list
  | _ -> malformed where (what ^ " is no list")

let optional json key ~default read =
  match Yojson.Safe.Util.member key json with
  | `Null -> default
  | value -> read value

let texts where what json =
  let text = function
    | `String text -> text
    | _ -> malformed where (what ^ " holds something else than strings")
  in
  List.map text (list where what json)

(* Older files have no samples; the quartiles are then taken to be at equal
   distances. *)
let quartiles_of where json samples =
  if samples <> [||] then Concord_bench.Statistics.quartiles samples
  else
    let value = number where "\"value\"" (field where json "value")
    and spread = number where "\"spread\"" (field where json "spread") in
    let half = value *. spread /. 2. in
    (value -. half, value, value +. half)

let is_rate unit_ = String.ends_with ~suffix:"/s" unit_

let row_of_json file i json =
  let where = Printf.sprintf "%s: row %d" file i in
  (match json with `Assoc _ -> () | _ -> malformed where "is no object");
  let text = text where json in
  let numbers key what =
    optional json key ~default:[||] (fun numbers ->
        list where (Printf.sprintf "%S" key) numbers
        |> List.map (number where what)
        |> Array.of_list)
  in
  let samples = numbers "samples" "a sample" in
  let unit_ = text "unit" in
  let optional_text key ~default =
    optional json key ~default (fun _ -> text key)
  in
  let versions =
    optional json "versions" ~default:[] (function
      | `Assoc versions ->
          let version (name, v) =
            match v with
            | `String version -> (name, version)
            | _ -> malformed where "a version is no string"
          in
          List.map version versions
      | _ -> malformed where "\"versions\" is no object")
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
        | _ -> malformed where "\"comparison\" is no integer");
    is_baseline =
      optional json "baseline" ~default:false (fun json -> json = `Bool true);
    unit_;
    more_is_better =
      optional_text "better" ~default:(if is_rate unit_ then "more" else "less")
      = "more";
    samples;
    offered = numbers "offered" "a rate";
    quartiles = quartiles_of where json samples;
    versions;
  }

let of_json file json =
  let rows list =
    List.mapi (fun i json -> row_of_json file (i + 1) json) list
  in
  match json with
  | `List list ->
      {
        machine = "";
        date = "";
        command = "";
        effort = "";
        left_out = [];
        rows = rows list;
      }
  | `Assoc _ ->
      let text key = text file json key in
      {
        machine = text "machine";
        date = text "date";
        command = text "command";
        effort = text "effort";
        left_out = texts file "\"left_out\"" (field file json "left_out");
        rows = rows (list file "\"rows\"" (field file json "rows"));
      }
  | _ -> malformed file "is neither a list of rows nor an object with \"rows\""

let read file =
  match Yojson.Safe.from_file file with
  | json -> of_json file json
  | exception Yojson.Json_error reason ->
      malformed file
        ("is no JSON: " ^ String.concat " " (String.split_on_char '\n' reason))
