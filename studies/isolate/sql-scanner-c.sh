# input: scanner.i
# language: C
# fault: gcc 12.2 -fanalyzer on the scanner of tree-sitter-sequel, preprocessed: a null pointer may be dereferenced
. "${0%/*}/common.sh"
case $1 in
fetch)
    source=$(crate tree-sitter-sequel)/src
    gcc -E -P -I"$source" "$source/scanner.c" -o "$2/scanner.i"
    ;;
test)
    told=$(gcc -x cpp-output -O1 -fanalyzer -S -o /dev/null "$2" 2>&1) &&
        case $told in *-Wanalyzer-possible-null-dereference*) ;; *) exit 1 ;; esac
    ;;
esac
