#!/bin/sh
# The first half of them; variants2.sh has the other one.
. "$CASE_DIR/variants.inc"
variants "$CASE_DIR"/variants/[a-s]*.cute
