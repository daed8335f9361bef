# input: Striped64.java
# language: Java
# fault: Janino 3.1.9 refuses a file of Guava 33.0.0 that JavaParser 3.3.0 reads: 'int' is not a valid type argument
. "${0%/*}/common.sh"
case $1 in
fetch)
    unzip -p "$(jar com.google.guava:guava:33.0.0-jre:jar:sources)" com/google/common/cache/Striped64.java >"$2/Striped64.java"
    program "$2" Refused \
        "$(jar org.codehaus.janino:janino:3.1.9):$(jar org.codehaus.janino:commons-compiler:3.1.9):$(jar com.github.javaparser:javaparser-core:3.3.0)"
    ;;
start) resident "$2" ;;
test) ask "$2" ;;
esac
