# input: scanner.i
# language: C
# fault: gcc 12.2 on the scanner of tree-sitter-html, preprocessed: a sign is compared, in code that compiles
. "${0%/*}/common.sh"
case $1 in
fetch)
    source=$(crate tree-sitter-html)/src
    gcc -E -P -I"$source" "$source/scanner.c" -o "$2/scanner.i"
    ;;
test)
    told=$(gcc -x cpp-output -O0 -Wsign-compare -S -o /dev/null "$2" 2>&1) && case $told in *-Wsign-compare*) ;; *) exit 1 ;; esac
    ;;
esac
