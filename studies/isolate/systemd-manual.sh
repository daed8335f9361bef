# input: systemd.1
# language: text
# fault: groff 1.22.4 on the manual of systemd 252: "can't break line"
. "${0%/*}/common.sh"
case $1 in
fetch) debian systemd usr/share/man/man1/systemd.1.gz | gzip -d >"$2/systemd.1" ;;
test) groff -man -ww -Tutf8 -z "$2" 2>&1 | grep -q "can't break line" ;;
esac
