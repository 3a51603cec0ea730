s/class=host\]/style="rounded,filled", color="#5b6675", fillcolor="#e3effb", fontcolor="#1f2630"]/
s/class=structure,/fillcolor="#e4f4e7",/
s/dir=both\]/dir=both, color="#5b6675"]/
