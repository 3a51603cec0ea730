(* Opens its first argument, a page that concord-trace wrote, in Chromium without a window.
   Nothing may fail, and something must be drawn. Each arrow must end at a row, and the text
   for each position must name a task. If Chromium isn't installed, it prints that and passes. *)

module Browser = Concord_test_browser

let absolute file =
  if Filename.is_relative file then Filename.concat (Sys.getcwd ()) file
  else file

exception Stop of string list

(* This doesn't use [exit], because the browser has to be ended first. *)
let check what holds = if not holds then raise (Stop [ what ])

(* How many points of the canvas have this colour, which is one of the page's variables. *)
let points_script =
  {|(colour) => {
      const canvas = document.getElementById("canvas")
      const pen = canvas.getContext("2d")
      const probe = document.createElement("canvas").getContext("2d")
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(colour).trim()
      probe.fillRect(0, 0, 1, 1)
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data
      const all = pen.getImageData(0, 0, canvas.width, canvas.height).data
      let n = 0
      for (let i = 0; i < all.length; i += 4)
        if (all[i] === r && all[i + 1] === g && all[i + 2] === b) n++
      return n
    }|}

let look browser page ~width =
  Browser.visit ~width browser page;
  (match Browser.faults browser with [] -> () | faults -> raise (Stop faults));
  let int expression = Yojson.Safe.Util.to_int (Browser.ask browser expression)
  and text expression =
    Yojson.Safe.Util.to_string (Browser.ask browser expression)
  and yes expression =
    Yojson.Safe.Util.to_bool (Browser.ask browser expression)
  in
  let points colour = int (Printf.sprintf "(%s)(%S)" points_script colour) in
  check "no wait is drawn" (points "--wait" > 0);
  check "no run is drawn" (points "--run" > 0);
  check "no arrow is drawn" (points "--arrow" + points "--across" > 0);
  check "wider than the window"
    (yes "document.documentElement.scrollWidth <= window.innerWidth");
  check "an arrow without a row"
    (yes "data.wakes.every(([a, , b]) => data.rows[a] && data.rows[b])");
  check "no arrow across domains" (yes "data.wakes.some((wake) => wake[4])");
  check "the canvas is larger than the window"
    (yes "canvas.clientHeight <= window.innerHeight");
  check "a picture of another scale"
    (yes
       "canvas.height === Math.round(canvas.clientHeight * \
        (window.devicePixelRatio || 1))");
  check "a fold in pieces"
    (yes "rowsOf.every((rows) => rows.every((row, i) => row === rows[0] + i))");
  (* A task is found by its position even if rows are folded, and after unfolding them. Thousands
     of rows may be folded, so each has less than a hundredth of a pixel. *)
  let places =
    "data.waits.every(([row], i) => { const { rows, height } = \
     lines[lineOf[row]], half = (height - 2 * border) / rows.length / 2; \
     return i % 97 !== 0 || rowAt(place(row).top + half) === row })"
  in
  check "the places of rows" (yes places);
  let lines = int "lines.length" in
  if yes "folded.includes(true)" then begin
    let fold = int "folded.indexOf(true)" in
    let unfolded = int (Printf.sprintf "(unfold(%d), lines.length)" fold) in
    check "nothing unfolds" (unfolded > lines);
    check "the places of unfolded rows" (yes places);
    check "it does not fold again"
      (int (Printf.sprintf "(unfold(%d), lines.length)" fold) = lines)
  end;
  (* The last row can be reached, and something is drawn there. *)
  let at_the_end =
    "(() => { scroll.scrollTop = whole; draw(); const last = \
     lines[lines.length - 1]; return last.top - scroll.scrollTop + last.height \
     <= canvas.clientHeight })()"
  in
  check "the last row is out of reach" (yes at_the_end);
  check "nothing at the end" (points "--wait" + points "--run" > 0);
  check "not back" (int "(scroll.scrollTop = 0, draw(), scroll.scrollTop)" = 0);
  (* Where waits were left out, a text says so. In a trace so long the arrows of the whole lie on
     each other, so the next check looks at a part. *)
  if int "data.zones.length" > 0 then begin
    check "the zones aren't drawn" (points "--sampled" > 0);
    let told =
      text
        "(() => { const [from, until] = data.zones[0], at = (from + until) / \
         2; return what(x(at), place(0).top + 1) })()"
    in
    check
      ("the text doesn't say what is missing: " ^ told)
      (List.mem "sampled:" (String.split_on_char ' ' told));
    check "not a part"
      (int "(view.until = view.from + 5e4, draw(), Math.round(view.until))" > 0)
  end;
  (* The arrow of the wait under the pointer is drawn over everything else. *)
  let arrow =
    Printf.sprintf "(%s)(data.wakes[0][4] ? '--across' : '--arrow')"
      points_script
  in
  let before = int arrow in
  check "no arrow of the chosen wait"
    (int ("(chosen = 0, draw(), " ^ arrow ^ ")") > before);
  check "not back" (int "(chosen = -1, draw(), chosen)" = -1);
  let told =
    text
      "(() => { const [row, from, until] = data.waits[0]; return what(x((from \
       + until) / 2), place(row).top + place(row).height / 2) })()"
  in
  check ("the text does not describe the wait: " ^ told) (String.length told > 0);
  let before = int "Math.round(view.until - view.from)" in
  let after = int "(zoom(0.5), Math.round(view.until - view.from))" in
  check "no zoom" (after < before)

let () =
  if not (Browser.is_installed ()) then
    print_endline "chromium is not installed: the page was not opened"
  else
    let page = absolute Sys.argv.(1) in
    match
      Browser.run (fun browser ->
          look browser page ~width:1280;
          look browser page ~width:400)
    with
    | () -> ()
    | exception Stop lines ->
        List.iter print_endline lines;
        exit 1
