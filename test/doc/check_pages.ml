(* Checks that the built documentation can be read. Its folder is the first argument. Each link
   must lead somewhere. In a browser nothing may fail, every picture must be drawn, no page may
   be wider than the window, and the cells of tables must have room for their text. In the
   second argument, a folder of faulty pages, it must find each of these faults. If Chromium
   isn't installed, it only checks the links, and prints that. *)

module Browser = Concord_test_browser

let narrow = 400
let wide = 1280

(* Text that is longer than the first number must not be in a column that is narrower than the
   second one. *)
let layout_script =
  {|(() => {
      const faults = [], page = document.documentElement
      if (page.scrollWidth > window.innerWidth)
        faults.push(`wider than the window: ${page.scrollWidth} > ${window.innerWidth}`)
      for (const cell of document.querySelectorAll('.odoc-table td, .odoc-table th')) {
        const text = cell.innerText.trim()
        if (cell.scrollWidth > cell.clientWidth)
          faults.push(`text outside of its cell: ${text}`)
        if (window.innerWidth > 1000 && text.length > 40 && cell.clientWidth < 130)
          faults.push(`a column of ${cell.clientWidth} pixels: ${text}`)
      }
      return faults
    })()|}

let faults_in_browser browser ~width page =
  Browser.visit ~width browser page;
  let layout =
    Browser.ask browser layout_script
    |> Yojson.Safe.Util.to_list
    |> List.map Yojson.Safe.Util.to_string
  in
  Browser.faults browser @ layout
  |> List.map (Printf.sprintf "%s, %d pixels wide: %s" page width)

let absolute file =
  if Filename.is_relative file then Filename.concat (Sys.getcwd ()) file
  else file

let contains sub text = Option.is_some (Links.find sub text 0)

exception Stop of string list

(* This doesn't use [exit], because the browser has to be ended first. *)
let stop_with lines = raise (Stop lines)

(* Checks that it would find the faults. *)
let check_that_it_sees faults expected =
  match
    List.filter (fun e -> not (List.exists (contains e) faults)) expected
  with
  | [] -> ()
  | unseen -> stop_with ("not seen:" :: unseen)

(* The pages of packages and of their main modules. odoc lays out the pages of inner modules in
   the same way, so one of these is enough. *)
let is_opened root page =
  let rec depth folder =
    if folder = root then 0 else 1 + depth (Filename.dirname folder)
  in
  depth page <= 3
  || Filename.concat root "concord/Concord/Stream/index.html" = page

(* The text that a reader types, and a target that must be among the first results. *)
let searches =
  [
    ("Stream.take", 1, "concord/Concord/Stream/index.html#val-take");
    ("graceful shutdown", 5, "hutdown");
    ("Eio", 3, "concord/eio.html");
  ]

(* The results come once the index has been loaded and built. *)
let search_script query =
  Printf.sprintf
    {|(async () => {
        const input = document.querySelector('.search input')
        input.value = %S
        input.dispatchEvent(new Event('input'))
        for (let i = 0; i < 600; i++) {
          const found = [...document.querySelectorAll('.search li a')]
          if (found.length) return found.map(link => link.getAttribute('href'))
          await new Promise(later => setTimeout(later, 50))
        }
        return []
      })()|}
    query

let faults_of_search browser page =
  List.concat_map
    (fun (query, most, wanted) ->
      Browser.visit ~width:wide browser page;
      let found =
        Browser.ask browser (search_script query)
        |> Yojson.Safe.Util.to_list
        |> List.map Yojson.Safe.Util.to_string
      in
      let first = List.filteri (fun i _ -> i < most) found in
      if List.exists (contains wanted) first then Browser.faults browser
      else
        [
          Printf.sprintf "a search for %s finds %s first, not %s" query
            (String.concat ", " first) wanted;
        ])
    searches

let can_search root = Sys.file_exists (Filename.concat root "lunr.js")

let main () =
  let root = absolute Sys.argv.(1) in
  let pages = Links.pages root in
  let faulty = Links.pages (absolute Sys.argv.(2)) in
  check_that_it_sees (Links.broken faulty)
    [ "no such file"; "no such place"; "missing.svg" ];
  let broken = Links.broken pages in
  if broken <> [] then stop_with broken;
  if List.length pages < 50 then stop_with [ "these are not all pages" ];
  if not (Browser.is_installed ()) then
    print_endline "chromium is not installed: the pages were not opened"
  else
    Browser.run (fun browser ->
        check_that_it_sees
          (List.concat_map (faults_in_browser browser ~width:wide) faulty)
          [ "not drawn"; "wider than the window"; "a column of" ];
        let faults =
          List.concat_map
            (fun page ->
              faults_in_browser browser ~width:wide page
              @ faults_in_browser browser ~width:narrow page)
            (List.filter (is_opened root) pages)
        in
        let faults =
          if can_search root then
            faults
            @ faults_of_search browser
                (Filename.concat root "concord/cookbook.html")
          else begin
            print_endline "lunr is not installed: nothing was searched for";
            faults
          end
        in
        if faults <> [] then stop_with faults)

let () =
  try main ()
  with Stop lines ->
    List.iter print_endline lines;
    exit 1
