exception Refused of string

let refuse format = Printf.ksprintf (fun text -> raise (Refused text)) format
