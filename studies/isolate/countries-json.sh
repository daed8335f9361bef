# input: iso_3166-1.json
# language: JSON
# fault: jq 1.6 counts bytes in place of characters where it looks for a blank in names of iso-codes 4.15
. "${0%/*}/common.sh"
case $1 in
fetch) debian iso-codes usr/share/iso-codes/json/iso_3166-1.json >"$2/iso_3166-1.json" ;;
test)
    shows=$(jq '[.. | strings | select(index(" ") != (explode | index(32)))] | length > 0' "$2" 2>/dev/null)
    [ "$shows" = true ]
    ;;
esac
