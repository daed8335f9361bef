# input: Equivalence.java
# language: Java
# fault: QDox 2.0.0 refuses a file of Guava 33.0.0 that JavaParser 3.3.0 reads
. "${0%/*}/common.sh"
case $1 in
fetch)
    unzip -p "$(jar com.google.guava:guava:33.0.0-jre:jar:sources)" com/google/common/base/Equivalence.java >"$2/Equivalence.java"
    program "$2" Unread "$(jar com.thoughtworks.qdox:qdox:2.0.0):$(jar com.github.javaparser:javaparser-core:3.3.0)"
    ;;
start) resident "$2" ;;
test) ask "$2" ;;
esac
