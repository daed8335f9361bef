# input: ubuntu.csv
# language: CSV
# fault: Python 3.11's csv.Sniffer takes something else than the comma for the delimiter of distro-info-data 0.58
. "${0%/*}/common.sh"
case $1 in
fetch) debian distro-info-data usr/share/distro-info/ubuntu.csv >"$2/ubuntu.csv" ;;
test)
    /usr/bin/python3 -S -E -c '
import csv, sys
text = open(sys.argv[1]).read()
rows = list(csv.reader(text.splitlines()))
if len(rows) < 2 or any(len(row) < 2 for row in rows):
    sys.exit(1)
try:
    sys.exit(csv.Sniffer().sniff(text).delimiter == ",")
except csv.Error:
    sys.exit(1)
' "$2" 2>/dev/null
    ;;
esac
