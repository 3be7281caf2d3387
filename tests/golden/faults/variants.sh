#!/bin/sh
. "$CASE_DIR/variants.inc"
variants "$CASE_DIR"/variants/*.cute
