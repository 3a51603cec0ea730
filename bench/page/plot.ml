type point = { x : float; low : float; y : float; high : float }
type series = { name : string; points : point list }
type axis = Categories of string list | Numbers of string
type t = { x : axis; y : string; level : float option; series : series list }

let program = "gnuplot"

let is_possible () =
  let path = Option.value (Sys.getenv_opt "PATH") ~default:"" in
  List.exists
    (fun folder -> Sys.file_exists (Filename.concat folder program))
    (String.split_on_char ':' path)

(* The colours of Okabe and Ito. Those that are dark enough on white come first. *)
let colours =
  [|
    "#0072B2"; "#D55E00"; "#009E73"; "#000000"; "#CC79A7"; "#E69F00"; "#56B4E9";
  |]

let shapes = [| 7; 5; 9; 11; 13; 6; 4; 8; 10; 12 |]
let dashes = [| "1"; "2"; "4"; "5"; "3" |]
let nth array i = array.(i mod Array.length array)

(* Gnuplot's strings in single quotes have no other escape. *)
let quoted text =
  "'" ^ String.concat "''" (String.split_on_char '\'' text) ^ "'"

(* From this ratio on the axis is logarithmic, because small values could not be distinguished
   from zero. *)
let many_times = 8.

let range values =
  (List.fold_left Float.min infinity values, List.fold_left Float.max 0. values)

let is_logarithmic values =
  let least, most = range values in
  values <> [] && least > 0. && most > many_times *. least

let points t = List.concat_map (fun series -> series.points) t.series

let axis_of_x t =
  match t.x with
  | Categories names ->
      let tic i name = Printf.sprintf "%s %d" (quoted name) (i + 1) in
      let tics = String.concat ", " (List.mapi tic names) in
      [
        Printf.sprintf "set xrange [0.5:%d.5]" (List.length names);
        Printf.sprintf "set xtics (%s)%s" tics
          (if List.length names > 4 then " rotate by -35" else "");
        "set grid y";
      ]
  | Numbers label ->
      let values =
        List.sort_uniq Float.compare
          (List.map (fun (p : point) -> p.x) (points t))
      in
      let tics = String.concat ", " (List.map (Printf.sprintf "%g") values) in
      [
        "set xlabel " ^ quoted label;
        Printf.sprintf "set xtics (%s)" tics;
        "set grid x y";
        "set offsets graph 0.05, graph 0.05, 0, 0";
      ]
      @ if is_logarithmic values then [ "set logscale x" ] else []

(* Gnuplot itself may put only one number on a logarithmic axis, or none. *)
let logarithmic_tics (least, most) =
  let decade = Float.floor (Float.log10 least) in
  let decades = int_of_float (Float.ceil (Float.log10 most) -. decade) in
  let factors = if decades > 4 then [ 1. ] else [ 1.; 2.; 5. ] in
  List.concat
    (List.init (decades + 1) (fun i ->
         let power = Float.pow 10. (decade +. float_of_int i) in
         List.map (fun factor -> Printf.sprintf "%g" (factor *. power)) factors))
  |> String.concat ", "
  |> Printf.sprintf "set ytics (%s)"

let axis_of_y t =
  let values = List.map (fun (p : point) -> p.y) (points t) in
  let line level =
    Printf.sprintf
      "set arrow from graph 0, first %g to graph 1, first %g nohead lc rgb \
       '#444444' lw 1"
      level level
  in
  (("set ylabel " ^ quoted t.y) :: List.map line (Option.to_list t.level))
  @
  if is_logarithmic values then
    let least, most = range values in
    let least = least /. 1.6 and most = most *. 1.6 in
    [
      "set logscale y";
      Printf.sprintf "set yrange [%g:%g]" least most;
      logarithmic_tics (least, most);
    ]
  else [ "set yrange [0:*]" ]

(* The end of a bar may be unknown, or may have no logarithm. *)
let data i { points; _ } =
  let line { x; low; y; high } =
    Printf.sprintf "%.17g %.17g %.17g %.17g" x y
      (if low > 0. then low else y)
      (if Float.is_finite high then high else y)
  in
  Printf.sprintf "$series%d << EOD" i :: (List.map line points @ [ "EOD" ])

let plotted t i series =
  let style, dash =
    match t.x with
    | Categories _ -> ("yerrorbars", "solid")
    | Numbers _ -> ("yerrorlines", nth dashes i)
  in
  Printf.sprintf
    "$series%d using 1:2:3:4 with %s lc rgb %s pt %d ps 0.7 dt %s lw 1.4 title \
     %s"
    i style
    (quoted (nth colours i))
    (nth shapes i) dash (quoted series.name)

let width t =
  match t.x with
  | Categories names -> Int.max 820 (320 + (36 * List.length names))
  | Numbers _ -> 820

let script t ~file =
  let height = 420 + (6 * List.length t.series) in
  String.concat "\n"
    ([
       Printf.sprintf
         "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,13' \
          background '#ffffff'"
         (width t) height;
       "set encoding utf8";
       "set output " ^ quoted file;
       "set key outside right top Left reverse";
       "set border 3";
       "set tics nomirror";
       "set style line 99 lc rgb '#bbbbbb' dt 3";
       "set format y '%g'";
     ]
    @ axis_of_x t @ axis_of_y t
    @ List.concat (List.mapi data t.series)
    @ [
        "plot " ^ String.concat ", \\\n  " (List.mapi (plotted t) t.series); "";
      ])

let draw t ~file =
  let commands = Unix.open_process_args_out program [| program; "-" |] in
  output_string commands (script t ~file);
  match Unix.close_process_out commands with
  | WEXITED 0 -> ()
  | WEXITED _ | WSIGNALED _ | WSTOPPED _ ->
      failwith ("gnuplot could not draw " ^ file)

let by_category ?level ~y ~categories series =
  let count = float_of_int (List.length series) in
  let place i j =
    let aside = (float_of_int j -. ((count -. 1.) /. 2.)) /. count in
    float_of_int (i + 1) +. (0.7 *. aside)
  in
  let series_of j (name, point_of) =
    let point i category =
      Option.map
        (fun (p : point) -> { p with x = place i j })
        (point_of category)
    in
    { name; points = List.filter_map Fun.id (List.mapi point categories) }
  in
  {
    y;
    level;
    x = Categories categories;
    series =
      List.mapi series_of series
      |> List.filter (fun { points; _ } -> points <> []);
  }
