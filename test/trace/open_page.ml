(* Opens its first argument, a page that concord-trace wrote, in Chromium without a window:
   nothing fails, something is drawn, each arrow ends at a row, and what is told of a place
   names a task. Where Chromium is not installed it says so and passes. *)

module Browser = Concord_test_browser

let absolute file =
  if Filename.is_relative file then Filename.concat (Sys.getcwd ()) file
  else file

exception Stop of string list

(* Not [exit]: the browser has to be ended before. *)
let check what holds = if not holds then raise (Stop [ what ])

(* How many of the canvas's points have this colour, one of the page's variables. *)
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
  let told =
    text
      "(() => { const [row, from, until] = data.waits[0]; return what(x((from \
       + until) / 2), y(row) + 5) })()"
  in
  check ("not told of a wait: " ^ told) (String.length told > 0);
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
