(** A DNS resolver in direct style, for tasks of any library.

    {b Stability}: experimental, may change in any release.

    [Unix.getaddrinfo] blocks its thread, so a program that resolves many names
    at once needs as many threads. {!resolve} suspends the calling task only,
    whatever its host, and any number of tasks may wait. An address is found
    without a server if the name is one, or if [/etc/hosts] has it:

    {[
      # let dns = Concord_dns.create ()
      val dns : Concord_dns.t = <abstr>
      # let addresses name =
          Concord_dns.resolve dns name
          |> Result.map (List.map Unix.string_of_inet_addr)
          |> Result.map_error Concord_dns.error_message
      val addresses : string -> (string list, string) result = <fun>
      # addresses "192.0.2.1"
      - : (string list, string) result = Ok ["192.0.2.1"]
      # addresses "two..dots"
      - : (string list, string) result = Error "not a name of a host"
    ]}

    {2 What is kept}

    An answer is kept for its time to live, but not longer than a day; so is the
    answer that there is no such name or address, for the time in the SOA record
    that comes with it. An error of a server, or a timeout, is not kept.

    Tasks that ask for one name at the same time share one query. It runs in the
    task that asked first. If that task is cancelled, the one that waited
    longest asks anew; when all have been cancelled, so is the query.

    {2 How servers are asked}

    By UDP, and by TCP if the answer is truncated. A try that takes longer than
    its timeout is given up, and so is a server that reports an error: then the
    next one is asked, and after the last one the first again, until each had
    its attempts. With [~race:true] all are asked at once in each attempt, and
    the first usable answer counts. An answer must come from the server's
    address, with the question and the id of the query, which is random. The
    source port of each query is the system's choice, at random on Linux.

    A server that breaks a TCP connection may cause [SIGPIPE], which ends the
    program. Ignore that signal, as in any program with sockets.

    {2 What is supported}

    - [/etc/resolv.conf]: [nameserver] (three at most), [search], [domain], and
      the options [ndots], [timeout] and [attempts]. Not: [sortlist], the other
      options ([rotate], [edns0] and so on), an address with a zone
      ([fe80::1%eth0]), and the variables [LOCALDOMAIN] and [RES_OPTIONS].
    - [/etc/hosts] comes before the servers, whatever [/etc/nsswitch.conf] says.
      That file isn't read.
    - Both files are read once, by {!create}.
    - Not: names that aren't in ASCII, DNSSEC, multicast DNS, queries over TLS,
      larger datagrams (EDNS), and the sorting of addresses by RFC 6724. *)

type t
(** A resolver. Tasks of any hosts and domains may share it. *)

type error =
  | Invalid_name  (** It can't be the name of a host. *)
  | No_such_name
  | No_address  (** The name exists, but has no address of this family. *)
  | Timed_out  (** No server answered in time. *)
  | Failed of string
      (** No server gave a usable answer; what the last one did. *)

val error_message : error -> string
(** The error, in words. *)

val create :
  ?resolv_conf:string ->
  ?hosts:string ->
  ?servers:Unix.sockaddr list ->
  ?timeout:float ->
  ?attempts:int ->
  ?limit:float ->
  ?race:bool ->
  ?size:int ->
  ?now:(unit -> float) ->
  unit ->
  t
(** A resolver that keeps nothing yet.

    - [resolv_conf] and [hosts] are names of files, by default
      [/etc/resolv.conf] and [/etc/hosts]. One that doesn't exist counts as
      empty. Without a server in it, the server is 127.0.0.1.
    - [servers], [timeout] (seconds, for each try) and [attempts] (for each
      server) replace what [resolv_conf] says.
    - [limit] is how many seconds a {!resolve} may take in all; 30 by default.
    - [race] is [false] by default.
    - [size] is how many answers are kept at most, by default 1000; if there are
      more, the one that expires first is dropped.
    - [now] is the clock by which answers expire, in seconds;
      [Unix.gettimeofday] by default. Timeouts are measured by
      {!Concord.Event.timeout}.

    - {b Suspends} while the files are read. {b Cancelled}: raises the host's
      exception.
    - {b Raises} [Sys_error] if a file exists but can't be read.
    - {b Raises} [Invalid_argument] if [servers] is empty, [timeout] or [limit]
      is not positive, or [attempts] or [size] is less than 1. *)

val resolve :
  ?family:[ `Any | `Ipv4 | `Ipv6 ] ->
  t ->
  string ->
  (Unix.inet_addr list, error) result
(** [resolve t name] is all addresses of the host [name], at least one.

    With [`Any], the default, both families are asked for at once. The IPv4
    addresses come first, each family in the server's order. If only one family
    can be found, its addresses are the result.

    A name that ends with a dot is absolute. A name with fewer dots than [ndots]
    is first tried in each domain of [search], one with as many or more is tried
    as it is first. The search ends with the first name that has an address, or
    with an error of the servers.

    - {b Suspends} while servers are asked. It doesn't if the answer is known.
    - {b Cancelled}: raises the host's exception. The query goes on for other
      tasks, as described above.
    - {b Order}: tasks that wait for one name are resumed in the order of their
      arrival.
    - {b Cost}: O(log n) for [n] answers that are kept. A query takes a socket
      and some ten system calls.

    {[
      # let connect_to host port =
          match Concord_dns.resolve dns host with
          | Error e -> failwith (host ^ ": " ^ Concord_dns.error_message e)
          | Ok addresses ->
              let address = Unix.ADDR_INET (List.hd addresses, port) in
              let fd = Unix.(socket ~cloexec:true (domain_of_sockaddr address) SOCK_STREAM 0) in
              match Concord_aio.connect fd address with
              | () -> fd
              | exception e -> Concord_aio.close fd; raise e
      val connect_to : string -> int -> Unix.file_descr = <fun>
    ]} *)

(**/**)

val in_progress : t -> int
(** How many queries tasks wait for. For tests. *)
