#!/bin/sh
# The program of the README is tested and run as the README says.
sed -n '/^```cute$/,/^```$/p' "$SRCDIR/README" | sed '/^```/d' >double.cute
# What it prints about time is not compared.
"$CUTEC" test --device=cpu double.cute 2>&1 | sed 's/ (cpu, .*)$//'
"$CUTEC" run --device=cpu double.cute 'x=iota(f32,8:1)' 'y=empty(f32,8:1)' \
    --print y 2>&1 | sed 's/: [0-9.]* ms$//'
"$CUTEC" compile double.cute --arch=sm_90a --emit=ptx=- 2>&1 |
    grep -E '^\.(target|visible)'
