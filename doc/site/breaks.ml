let is_letter = function 'a' .. 'z' | 'A' .. 'Z' -> true | _ -> false

let mark html =
  let buffer = Buffer.create (String.length html) in
  let is_tag name i =
    let n = String.length name in
    i + n < String.length html
    && String.sub html i n = name
    && not (is_letter html.[i + n])
  in
  let rec go ~in_cell ~in_code i =
    if i < String.length html then begin
      let c = html.[i] and next = i + 1 in
      Buffer.add_char buffer c;
      match c with
      | '<' ->
          let in_cell =
            is_tag "td" next || (in_cell && not (is_tag "/td" next))
          in
          let in_code =
            is_tag "code" next || (in_code && not (is_tag "/code" next))
          in
          let last =
            Option.value
              (String.index_from_opt html next '>')
              ~default:(String.length html - 1)
          in
          Buffer.add_substring buffer html next (last - i);
          go ~in_cell ~in_code (last + 1)
      | ('.' | '_')
        when in_cell && in_code
             && next < String.length html
             && is_letter html.[next] ->
          Buffer.add_string buffer "<wbr>";
          go ~in_cell ~in_code next
      | _ -> go ~in_cell ~in_code next
    end
  in
  go ~in_cell:false ~in_code:false 0;
  Buffer.contents buffer
