# input: zip.1
# language: text
# fault: groff 1.22.4 on the manual of zip 3.0: "escape character ignored before 'i'"
. "${0%/*}/common.sh"
case $1 in
fetch) debian zip usr/share/man/man1/zip.1.gz | gzip -d >"$2/zip.1" ;;
test) groff -man -ww -Tutf8 -z "$2" 2>&1 | grep -q "escape character ignored before 'i'" ;;
esac
