(* Draws one panel below the other, all on the same scale of time. *)

let plot_left = 90.
let plot_width = 640.
let row = 22.
let bar = 14.
let panel_gap = 26.

let colours =
  "<style>text{font:12px \
   sans-serif;fill:#222}.title{font-weight:bold}.wait{fill:#d9d9d9}.work{fill:#d1495b}.ask{stroke:#c8c8c8}.pong{stroke:#00798c;stroke-width:2}.axis{stroke:#999}</style>\n"

let text out ?(kind = "") ?(anchor = "start") ~x ~y s =
  Printf.bprintf out
    "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n"
    kind anchor x y s

let box out kind ~x1 ~x2 ~y =
  Printf.bprintf out
    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n"
    kind x1 y
    (Float.max 0.5 (x2 -. x1))
    bar

let line out kind ~x1 ~y1 ~x2 ~y2 =
  Printf.bprintf out
    "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n"
    kind x1 y1 x2 y2

let panel_height (t : Timeline.t) =
  (row *. float (List.length t.requests + 2)) +. panel_gap

let panel out ~x ~top (t : Timeline.t) =
  text out ~kind:"title" ~x:10. ~y:(top +. bar)
    (t.title ^ " — " ^ Timeline.verdict t);
  List.iteri
    (fun i (r : Timeline.request) ->
      let y = top +. (row *. float (i + 1)) in
      text out ~x:10. ~y:(y +. 11.) (Printf.sprintf "/fib, %d" (i + 1));
      box out "wait" ~x1:(x r.sent) ~x2:(x r.answered) ~y;
      box out "work" ~x1:(x r.started) ~x2:(x r.ended) ~y)
    t.requests;
  let y = top +. (row *. float (List.length t.requests + 1)) in
  let tick kind at = line out kind ~x1:(x at) ~y1:y ~x2:(x at) ~y2:(y +. bar) in
  text out ~x:10. ~y:(y +. 11.) "/ping";
  List.iter (fun (p : Timeline.ping) -> tick "ask" p.asked) t.pings;
  List.iter (fun (p : Timeline.ping) -> tick "pong" p.ponged) t.pings

(* The distance that gives about ten marks, at round numbers. *)
let mark_distance longest =
  let power = 10. ** Float.floor (Float.log10 (longest /. 10.)) in
  List.find
    (fun step -> longest /. step <= 12.)
    [ power; 2. *. power; 5. *. power; 10. *. power ]

let axis out ~x ~y longest =
  line out "axis" ~x1:(x 0.) ~y1:y ~x2:(x longest) ~y2:y;
  let step = mark_distance longest in
  for i = 0 to int_of_float (longest /. step) do
    let at = float i *. step in
    line out "axis" ~x1:(x at) ~y1:y ~x2:(x at) ~y2:(y +. 5.);
    text out ~anchor:"middle" ~x:(x at) ~y:(y +. 18.)
      (Printf.sprintf "%g%s" at (if i = 0 then " ms" else ""))
  done

let legend out ~y =
  let entry x draw label =
    draw x;
    text out ~x:(x +. 24.) ~y:(y +. 11.) label
  in
  let sample kind x = box out kind ~x1:x ~x2:(x +. 18.) ~y in
  let tick kind x =
    line out kind ~x1:(x +. 14.) ~y1:y ~x2:(x +. 14.) ~y2:(y +. bar)
  in
  entry plot_left (sample "wait") "sent, not yet answered";
  entry (plot_left +. 190.) (sample "work") "in progress in the server";
  entry (plot_left +. 390.) (tick "ask") "ping sent";
  entry (plot_left +. 490.) (tick "pong") "ping answered"

let draw timelines =
  let longest =
    List.fold_left (fun d t -> Float.max d (Timeline.duration t)) 1. timelines
  in
  let x at = plot_left +. (plot_width *. Float.min at longest /. longest) in
  let out = Buffer.create 8192 in
  let bottom =
    List.fold_left
      (fun top t ->
        panel out ~x ~top t;
        top +. panel_height t)
      10. timelines
  in
  axis out ~x ~y:(bottom -. panel_gap) longest;
  legend out ~y:(bottom +. 4.);
  let width = plot_left +. plot_width +. 30. and height = bottom +. 30. in
  Printf.sprintf
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\">\n\
     %s<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n\
     %s</svg>\n"
    width height colours (Buffer.contents out)

let write file timelines =
  Out_channel.with_open_bin file @@ fun out ->
  Out_channel.output_string out (draw timelines)
