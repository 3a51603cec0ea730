(* Prints one line for each request, and one line for all pings. *)

let width = 64
let rest = String.make 9 ' '

(* Each column stands for the interval of time from [left] to [right]. *)
let line ~scale cell =
  String.concat ""
    (List.init width (fun i ->
         cell ~left:(float i *. scale) ~right:(float (i + 1) *. scale)))

let request ~scale (r : Timeline.request) =
  line ~scale (fun ~left ~right ->
      if r.started < right && left < r.ended then "█"
      else if r.sent < right && left < r.answered then "·"
      else " ")

let pings ~scale pings =
  line ~scale (fun ~left ~right ->
      let in_column t = left <= t && t < right in
      match
        List.filter (fun (p : Timeline.ping) -> in_column p.ponged) pings
      with
      | [] -> " "
      | [ _ ] -> "|"
      | _ -> "#")

let print timelines =
  let longest =
    List.fold_left (fun d t -> Float.max d (Timeline.duration t)) 1. timelines
  in
  let scale = longest /. float width in
  List.iter
    (fun (t : Timeline.t) ->
      Printf.printf "%s is %s\n" t.title (Timeline.verdict t);
      List.iteri
        (fun i r -> Printf.printf "  /fib %d  %s\n" (i + 1) (request ~scale r))
        t.requests;
      Printf.printf "  /ping   %s\n" (pings ~scale t.pings))
    timelines;
  Printf.printf "%s 0%*s\n" rest (width - 1) (Printf.sprintf "%.0f ms" longest);
  Printf.printf "%s · sent, not yet started       █ in progress in the server\n"
    rest;
  Printf.printf "%s | a /ping was answered        # several were answered\n"
    rest
