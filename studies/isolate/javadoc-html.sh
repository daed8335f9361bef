# input: CSVFormat.html
# language: HTML
# fault: jsoup 1.8.3 prints the page of commons-csv 1.10.0 such that it reads it back with another text
. "${0%/*}/common.sh"
case $1 in
fetch)
    unzip -p "$(jar org.apache.commons:commons-csv:1.10.0:jar:javadoc)" org/apache/commons/csv/CSVFormat.html >"$2/CSVFormat.html"
    program "$2" Reprint "$(jar org.jsoup:jsoup:1.8.3)"
    ;;
start) resident "$2" ;;
test) ask "$2" ;;
esac
