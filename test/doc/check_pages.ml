(* Checks that the built documentation can be read. Its folder is the first argument. Each link
   must lead somewhere. In a browser nothing may fail, every picture must be drawn, no page may
   be wider than the window, and the cells of tables and 80 columns of code must have room. In
   the second argument, a folder of faulty pages, it must find each of these faults. The third
   argument has queries, and the page that the search must find first. If Chromium isn't
   installed, it only checks the links, and prints that. *)

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
      const ids = new Set()
      for (const { id } of document.querySelectorAll('[id]')) {
        if (ids.has(id)) faults.push(`two elements have the id ${id}`)
        ids.add(id)
      }
      for (const pre of document.querySelectorAll('main pre')) {
        const longest = Math.max(...pre.innerText.split('\n').map(line => line.length))
        if (window.innerWidth >= 1280 && longest <= 80 && pre.scrollWidth > pre.clientWidth)
          faults.push(`80 columns of code have no room: ${pre.innerText.slice(0, 40)}`)
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

exception Stop of string list

(* This doesn't use [exit], because the browser has to be ended first. *)
let stop_with lines = raise (Stop lines)

(* Checks that it would find the faults. *)
let check_that_it_sees faults expected =
  match
    List.filter
      (fun e -> not (List.exists (Texts.contains ~part:e) faults))
      expected
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

(* --- The search ----------------------------------------------------------------- *)

(* Each line of the file has what a reader types and the beginning of the address that must come
   first. *)
let queries file =
  In_channel.with_open_bin file In_channel.input_lines
  |> List.filter_map (fun line ->
      match String.split_on_char '\t' line with
      | [ query; wanted ] -> Some (query, wanted)
      | _ -> None)

(* Types all queries, one after the other, and returns the addresses that each finds. *)
let search_script queries =
  Printf.sprintf
    {|(async () => {
        const input = document.querySelector('.search input'), list = document.querySelector('.search ol')
        const answers = []
        for (const query of %s) {
          input.value = query
          input.dispatchEvent(new Event('input'))
          for (let i = 0; i < 600 && list.dataset.query !== query; i++)
            await new Promise(later => setTimeout(later, i < 10 ? 1 : 50))
          answers.push([...list.querySelectorAll('a')].map(link => link.getAttribute('href')))
        }
        return answers
      })()|}
    (Yojson.Safe.to_string
       (`List (List.map (fun (query, _) -> `String query) queries)))

let faults_of_search browser ~queries page =
  let open Yojson.Safe.Util in
  Browser.visit ~width:wide browser page;
  let found =
    Browser.ask browser (search_script queries)
    |> to_list
    |> List.map (fun answer -> List.map to_string (to_list answer))
  in
  let miss (query, wanted) found =
    match found with
    | first :: _ when String.starts_with ~prefix:("../" ^ wanted) first -> None
    | _ ->
        let shown = List.filteri (fun i _ -> i < 3) found in
        Some
          (Printf.sprintf "a search for %s finds %s, not %s" query
             (String.concat ", " shown) wanted)
  in
  Browser.faults browser @ List.filter_map Fun.id (List.map2 miss queries found)

(* On a phone the menu shows the list of pages at the current one, and the theme can be chosen. *)
let menu_script =
  {|(() => {
      const faults = [], side = document.getElementById('side')
      const menu = document.querySelector('.menu'), theme = document.querySelector('.theme')
      const current = side.querySelector('[aria-current]')
      const isSeen = () => {
        const box = current.getBoundingClientRect()
        return box.top >= menu.getBoundingClientRect().bottom && box.bottom <= window.innerHeight
      }
      if (isSeen()) faults.push('the list of pages is open')
      menu.click()
      if (!isSeen()) faults.push('the menu does not show the current page')
      menu.click()
      if (isSeen()) faults.push('the menu does not close')
      const back = () => getComputedStyle(document.body).backgroundColor
      const backs = new Set([back()])
      theme.click(); backs.add(back())
      theme.click(); backs.add(back())
      theme.click()
      if (backs.size !== 2) faults.push('the theme does not change')
      if (!document.querySelector('a[rel=prev]') || !document.querySelector('a[rel=next]'))
        faults.push('the pages before and after are missing')
      return faults
    })()|}

let faults_of_menu browser page =
  Browser.visit ~width:narrow browser page;
  let faults =
    Browser.ask browser menu_script
    |> Yojson.Safe.Util.to_list
    |> List.map Yojson.Safe.Util.to_string
  in
  Browser.faults browser
  @ List.map (fun fault -> Printf.sprintf "%s: %s" page fault) faults

(* A browser loads the index when the field gets the focus. At this size the first result comes
   within 0.3 s, if the site is on the same machine. *)
let faults_of_index root =
  let size = (Unix.stat (Filename.concat root "search.js")).st_size in
  if size > 1_000_000 then
    [ Printf.sprintf "search.js has %d bytes, more than 1,000,000" size ]
  else []

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
          [
            "not drawn";
            "wider than the window";
            "a column of";
            "two elements have the id";
            "80 columns of code";
          ];
        let faults =
          List.concat_map
            (fun page ->
              faults_in_browser browser ~width:wide page
              @ faults_in_browser browser ~width:narrow page)
            (List.filter (is_opened root) pages)
        in
        let faults =
          faults @ faults_of_index root
          @ faults_of_menu browser
              (Filename.concat root "concord/Concord/Mutex/index.html")
          @ faults_of_search browser
              ~queries:(queries Sys.argv.(3))
              (Filename.concat root "concord/cookbook.html")
        in
        if faults <> [] then stop_with faults)

let () =
  try main ()
  with Stop lines ->
    List.iter print_endline lines;
    exit 1
