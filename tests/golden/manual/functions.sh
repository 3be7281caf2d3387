# Every function of the header stands in libcutejit(3), and no other.
grep -o 'cutejit_[a-z_]*(' "$SRCDIR/src/cutejit.h" | grep -v '_fn($' |
    sort -u >header
grep -o 'cutejit_[a-z_]* ()' "$SRCDIR/man/libcutejit.3" | tr -d ' )' |
    sort -u >manual
diff header manual && echo same
