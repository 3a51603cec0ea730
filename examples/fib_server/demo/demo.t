Each variant is loaded. It has an object in the last line, and a row with its load:

  $ ./demo.exe --seconds 0.2 --fib 20 --rate 50 --svg picture.svg >output 2>/dev/null
  $ tail -n 1 output | tr '{' '\n' | sed -E 's/:[0-9.]+/:N/g'
  RESULT [
  "variant":"blocking","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N},
  "variant":"composed","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N},
  "variant":"domain-manager","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N},
  "variant":"executor-pool","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N},
  "variant":"eio-promise","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N}]
  $ sed -n 's/^\([a-z-]*\) *| *[0-9]*% |.*/\1/p' output
  blocking
  composed
  domain-manager
  executor-pool
  eio-promise
  $ grep -c '<rect' picture.svg
  43

Other variants can be chosen:

  $ ./demo.exe --seconds 0.2 --fib 20 --rate 50 --svg picture.svg --variants as-printed,mvar 2>/dev/null | tail -n 1 | tr '{' '\n' | sed -E 's/:[0-9.]+/:N/g'
  RESULT [
  "variant":"as-printed","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N},
  "variant":"mvar","throughput_rps":N,"fib_p99_ms":N,"ping_p50_ms":N,"ping_p99_ms":N}]
