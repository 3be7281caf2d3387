#!/bin/sh
# What groff and mandoc, where they are, say of the manual pages; and lines that
# do not fit a terminal of 80 columns. Called in the root of the source:
# complaints.

# rendered PAGE: as text, 80 columns wide.
rendered() {
	groff -t -man -ww -Tascii -P-cbou -rLL=80n "$1"
}

for page in man/*.[1-9]
do
	if command -v groff >/dev/null 2>&1; then
		{ rendered "$page" >/dev/null; } 2>&1
		rendered "$page" 2>/dev/null |
		    awk -v page="$page" 'length($0) > 80 {
			print page ": wider than 80 columns: " $0
		    }'
	fi
	if command -v mandoc >/dev/null 2>&1; then
		mandoc -Tlint -Wwarning "$page" | sed 's/^mandoc: //'
	fi
done
